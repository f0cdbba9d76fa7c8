//! Gaussian processes of version 0.1, whose points and alpha were f32: read
//! for ever and made into today's.
//!
//! Arena: calibration scale (ds) · support low, high (dx each) · input mean,
//! 1 / input scale (dx each) · output mean, output scale (ds each) · the
//! standardised points (N dx) · for each output eight numbers, 1 / l² (dx),
//! alpha (N), and what follows from these. Every run is padded to a multiple
//! of four.
//!
//! The targets come back as (K + noise · 1) alpha, to which the process is
//! fitted again; they carry the rounding that alpha had.

use hambo_core::arithmetic::dense::TILE;
use hambo_core::arithmetic::triangular::LowerTriangular;
use hambo_core::image::container::Container;
use hambo_core::image::{DynamicsManifest, ModelManifest, OldGaussianProcessManifest, Problem};

use crate::formats::image::{EncodeError, Uncertainty, encode_known_to};
use crate::foundation::network::Standardisation;
use crate::learn::gaussian_process::{
    GaussianProcessError, GaussianProcessFit, Hyperparameters, OutputFit,
};

/// Relative error of the stored points, scales and lengthscales, in units of
/// rounding.
const KNOWN_TO: f64 = 3.0;

/// Why an old process cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum OldProcessError {
    /// A length or number is wrong.
    #[error("{0:?}")]
    Damaged(Problem),
    /// It cannot be written anew.
    #[error(transparent)]
    Encode(#[from] EncodeError),
}

impl From<Problem> for OldProcessError {
    fn from(problem: Problem) -> Self {
        Self::Damaged(problem)
    }
}

/// The model part with today's dynamics; `None` if it has them already.
pub(super) fn renewed(part: &Container<'_>) -> Result<Option<Vec<u8>>, OldProcessError> {
    let manifest: ModelManifest = part.read_manifest()?;
    let DynamicsManifest::GaussianProcessInFloats(process) = &manifest.dynamics else {
        return Ok(None);
    };
    let mut runs = Runs(part.arena);
    let states = usize::from(manifest.state_dimension);
    let inputs = states + usize::from(manifest.action_dimension);
    let uncertainty = Uncertainty {
        beta: manifest.beta,
        calibration_scale: runs.take(states)?,
        calibration: manifest.calibration,
        support_low: runs.take(inputs)?,
        support_high: runs.take(inputs)?,
    };
    let standardisation = Standardisation {
        input_mean: runs.take(inputs)?,
        input_scale: runs.take(inputs)?.into_iter().map(|x| 1.0 / x).collect(),
        output_mean: runs.take(states)?,
        output_scale: runs.take(states)?,
    };
    let points = wide(runs.take(usize::from(process.points) * inputs)?);
    let outputs = outputs(&mut runs, process, inputs, &points)?;
    if !runs.0.is_empty() || outputs.len() != states {
        return Err(Problem::Arena.into());
    }
    let fit = GaussianProcessFit {
        standardisation,
        points,
        outputs,
    };
    Ok(Some(encode_known_to(&fit, &uncertainty, KNOWN_TO)?))
}

fn outputs(
    runs: &mut Runs<'_>,
    process: &OldGaussianProcessManifest,
    inputs: usize,
    points: &[f64],
) -> Result<Vec<OutputFit>, OldProcessError> {
    let count = usize::from(process.points);
    let factor = LowerTriangular::tiles(count).ok_or(Problem::Dimension)?;
    let mut outputs = Vec::new();
    for (output, kernel) in process.kernels.iter().enumerate() {
        let numbers = wide(runs.take(8)?);
        let precision = wide(runs.take(inputs)?);
        let alpha = wide(runs.take(count)?);
        // Row sums, product errors and M follow from the rest.
        runs.take(count)?;
        runs.take(count)?;
        runs.take(factor * TILE)?;
        let [signal_variance, constant_variance, noise_std, ..] = numbers[..] else {
            return Err(Problem::Arena.into());
        };
        let hyperparameters = Hyperparameters {
            kernel: *kernel,
            signal_variance,
            constant_variance,
            lengthscales: precision.iter().map(|p| p.powf(-0.5)).collect(),
            noise_variance: noise_std * noise_std,
        };
        // Half a unit of rounding may have moved a number over its limit.
        let sound = [signal_variance, noise_std].iter().all(|x| *x > 0.0)
            && constant_variance >= 0.0
            && precision.iter().all(|x| *x > 0.0)
            && numbers.iter().chain(&precision).all(|x| x.is_finite())
            && alpha.iter().chain(points).all(|x| x.is_finite());
        if !sound {
            return Err(Problem::Number.into());
        }
        let rows = || points.chunks_exact(inputs);
        let targets = rows().zip(&alpha).map(|(x, own)| {
            let kernel = rows().map(|point| hyperparameters.covariance(x, point));
            let sum: f64 = kernel.zip(&alpha).map(|(k, a)| k * a).sum();
            sum + hyperparameters.noise_variance * own
        });
        let targets: Vec<f64> = targets.collect();
        let singular = EncodeError::from(GaussianProcessError::Singular { output });
        outputs.push(OutputFit::new(&hyperparameters, points, &targets).ok_or(singular)?);
    }
    Ok(outputs)
}

fn wide(numbers: Vec<f32>) -> Vec<f64> {
    numbers.into_iter().map(f64::from).collect()
}

/// Runs of numbers, each padded to whole tiles.
struct Runs<'a>(&'a [u8]);

impl Runs<'_> {
    fn take(&mut self, count: usize) -> Result<Vec<f32>, Problem> {
        let bytes = count.next_multiple_of(TILE) * size_of::<f32>();
        let (run, rest) = self.0.split_at_checked(bytes).ok_or(Problem::Arena)?;
        self.0 = rest;
        let (words, _) = run.as_chunks::<4>();
        let numbers = words.iter().map(|word| f32::from_le_bytes(*word));
        Ok(numbers.take(count).collect())
    }
}
