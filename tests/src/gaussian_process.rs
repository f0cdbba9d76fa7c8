//! Random Gaussian processes, images of them, and their posterior in f64 by
//! the textbook.

use hambo_base::network::Standardisation;
use hambo_base::{Error, Held};
use hambo_core::image::Image;
use hambo_core::model::{Calibration, Kernel, StatisticalModel};
use hambo_core::task::Variant;
use hambo_core::task::{Allocation, Effort};
use hambo_learn::gaussian_process::{
    GaussianProcessError, GaussianProcessFit, Hyperparameters, Observations, VarianceGroups,
    encode_gaussian_process,
};
use hambo_task::image::{
    AlignedBytes, LoggedRegion, NoisePools, Uncertainty, encode_image, encode_policy,
};
use hambo_task::plan::CheckPlan;
use hambo_task::policy::HostPolicy;

use crate::fixture::{self, Draw, REWARDS};
use crate::random_physics::RandomPhysics;

pub const KERNELS: [Kernel; 4] = [
    Kernel::Rbf,
    Kernel::Matern32,
    Kernel::Matern52,
    Kernel::Linear,
];

/// Data, units and hyperparameters of a Gaussian process.
#[derive(Clone, Debug)]
pub struct Case {
    /// Dimensions of the state, and of the action.
    pub space: usize,
    /// (s, a), row-major.
    pub inputs: Vec<f64>,
    /// s′ − s, row-major.
    pub targets: Vec<f64>,
    /// Marks of the targets that say nothing; none where all say something.
    pub held: Vec<bool>,
    /// The units.
    pub standardisation: Standardisation,
    /// One for each output.
    pub hyperparameters: Vec<Hyperparameters>,
}

/// How hard a case is for f32.
#[derive(Clone, Copy, Debug)]
pub struct Difficulty {
    pub points: usize,
    /// The range of the lengthscales, in standard deviations of the inputs.
    pub lengthscales: (f32, f32),
    /// The range of noise variance over signal variance, as exponents of ten.
    pub noise: (f32, f32),
    /// Every other point lies this close to the one before it; none if 0.
    pub pairs: f32,
}

impl Difficulty {
    /// Scattered points and a noise of a tenth of the signal or more.
    pub const EASY: Self = Self {
        points: 30,
        lengthscales: (0.7, 2.0),
        noise: (-2.0, -1.0),
        pairs: 0.0,
    };
    /// Close points, long lengthscales, a noise of a thousandth of the signal.
    pub const HARD: Self = Self {
        points: 40,
        lengthscales: (2.0, 10.0),
        noise: (-6.0, -6.0),
        pairs: 1e-3,
    };
}

impl Case {
    /// A random case whose output j has the kernel `kernels[j % len]`.
    pub fn new(draw: &mut Draw, space: usize, kernels: &[Kernel], difficulty: Difficulty) -> Self {
        let columns = 2 * space;
        let mut many = |count: usize, low: f32, high: f32| -> Vec<f32> {
            (0..count).map(|_| draw.between(low, high)).collect()
        };
        let standardisation = Standardisation {
            input_mean: many(columns, -0.5, 0.5),
            input_scale: many(columns, 0.5, 2.0),
            output_mean: many(space, -0.1, 0.1),
            output_scale: many(space, 0.05, 0.2),
        };
        let hyperparameters = (0..space).map(|j| {
            let signal_variance = f64::from(many(1, 0.5, 2.0)[0]);
            let (low, high) = difficulty.noise;
            let noise = 10_f64.powf(f64::from(many(1, low, high)[0]));
            let (low, high) = difficulty.lengthscales;
            Hyperparameters {
                kernel: kernels[j % kernels.len()],
                signal_variance,
                constant_variance: f64::from(many(1, 0.0, 1.0)[0]) * (j % 2) as f64,
                lengthscales: many(columns, low, high)
                    .into_iter()
                    .map(f64::from)
                    .collect(),
                noise_variance: signal_variance * noise,
            }
        });
        let hyperparameters: Vec<_> = hyperparameters.collect();
        let mut inputs: Vec<f64> = Vec::new();
        for point in 0..difficulty.points {
            for d in 0..columns {
                let close = difficulty.pairs > 0.0 && point % 2 == 1;
                let x = if close {
                    inputs[(point - 1) * columns + d] + f64::from(difficulty.pairs * draw.normal())
                } else {
                    let scale = f64::from(standardisation.input_scale[d]);
                    f64::from(standardisation.input_mean[d]) + scale * f64::from(draw.normal())
                };
                inputs.push(x);
            }
        }
        let mut case = Self {
            space,
            inputs,
            targets: Vec::new(),
            held: Vec::new(),
            standardisation,
            hyperparameters,
        };
        case.targets = case.random_targets(draw);
        case
    }

    /// A smooth function of the inputs and noise, so that the targets are
    /// likely under the hyperparameters.
    fn random_targets(&self, draw: &mut Draw) -> Vec<f64> {
        let columns = 2 * self.space;
        let phases: Vec<f64> = (0..self.space).map(|_| f64::from(draw.normal())).collect();
        let mut targets = Vec::new();
        for row in self.inputs.chunks(columns) {
            let x = standardise(row, &self.standardisation);
            for (j, phase) in phases.iter().enumerate() {
                let output = &self.hyperparameters[j];
                let way: f64 = x.iter().zip(&output.lengthscales).map(|(x, l)| x / l).sum();
                let noise = output.noise_variance.sqrt() * f64::from(draw.normal());
                let f = if output.kernel == Kernel::Linear {
                    0.5 * way
                } else {
                    (way + phase).sin()
                };
                let y = output.signal_variance.sqrt() * f + noise;
                let units = &self.standardisation;
                targets
                    .push(f64::from(units.output_mean[j]) + f64::from(units.output_scale[j]) * y);
            }
        }
        targets
    }

    /// The host's fit.
    ///
    /// # Errors
    /// If the case is not one.
    pub fn fit(&self) -> Result<GaussianProcessFit, GaussianProcessError> {
        let observations = Observations {
            inputs: &self.inputs,
            input_columns: 2 * self.space,
            targets: &self.targets,
            target_columns: self.space,
            held: Held::new(&self.held),
        };
        GaussianProcessFit::new(&observations, &self.standardisation, &self.hyperparameters)
    }

    /// The same with the points in another order.
    #[must_use]
    pub fn permuted(&self, draw: &mut Draw) -> Self {
        let columns = 2 * self.space;
        let count = self.inputs.len() / columns;
        let mut order: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            order.swap(i, draw.below(i + 1));
        }
        let take = |table: &[f64], columns: usize| -> Vec<f64> {
            let rows = order
                .iter()
                .flat_map(|row| &table[row * columns..][..columns]);
            rows.copied().collect()
        };
        Self {
            inputs: take(&self.inputs, columns),
            targets: take(&self.targets, self.space),
            held: Held::new(&self.held).take(order.iter().flat_map(|row| {
                let first = row * self.space;
                first..first + self.space
            })),
            ..self.clone()
        }
    }

    /// A model part with beta = 2 and a wide support.
    ///
    /// # Errors
    /// If the case is not one.
    pub fn model_part(&self) -> Result<Vec<u8>, Error> {
        self.grouped_part(VarianceGroups::Alone)
    }

    /// A model part with beta = 2 and a wide support; the variance takes points together.
    ///
    /// # Errors
    /// As [`Self::model_part`].
    pub fn grouped_part(&self, groups: VarianceGroups) -> Result<Vec<u8>, Error> {
        let mut fit = self.fit()?;
        fit.take_together(groups, &[])?;
        let uncertainty = Uncertainty {
            features: self.space,
            beta: 2.0,
            calibration_scale: vec![1.0; self.space],
            calibration: Calibration::Passed,
            tested_steps: u16::MAX,
            noise_scale: vec![1.0; self.space],
            noise_factor: Vec::new(),
            noise_pools: NoisePools::default(),
            width_regions: Vec::new(),
            support: LoggedRegion::everywhere(2 * self.space),
        };
        Ok(encode_gaussian_process(&fit, &uncertainty)?)
    }
}

fn standardise(row: &[f64], units: &Standardisation) -> Vec<f64> {
    let scales = units.input_mean.iter().zip(&units.input_scale);
    let pairs = row.iter().zip(scales);
    pairs
        .map(|(x, (mean, scale))| (x - f64::from(*mean)) / f64::from(*scale))
        .collect()
}

/// The posterior by forward and back substitution, in the data's own order.
#[derive(Clone)]
pub struct Reference {
    case: Case,
    points: Vec<Vec<f64>>,
    /// L and alpha of each output.
    outputs: Vec<(Vec<Vec<f64>>, Vec<f64>)>,
}

impl Reference {
    /// Factorises.
    #[must_use]
    pub fn new(case: &Case) -> Self {
        let rows = case.inputs.chunks(2 * case.space);
        let points: Vec<Vec<f64>> = rows
            .map(|row| standardise(row, &case.standardisation))
            .collect();
        let outputs = case.hyperparameters.iter().enumerate().map(|(j, output)| {
            let factor = cholesky(points.len(), |a, b| {
                let noise = if a == b { output.noise_variance } else { 0.0 };
                output.covariance(&points[a], &points[b]) + noise
            });
            let targets = case.targets.iter().skip(j).step_by(case.space);
            let shift = f64::from(case.standardisation.output_mean[j]);
            let scale = f64::from(case.standardisation.output_scale[j]);
            let targets: Vec<f64> = targets.map(|y| (y - shift) / scale).collect();
            let mut alpha = forward(&factor, &targets);
            for i in (0..alpha.len()).rev() {
                let known: f64 = (i + 1..alpha.len()).map(|r| factor[r][i] * alpha[r]).sum();
                alpha[i] = (alpha[i] - known) / factor[i][i];
            }
            (factor, alpha)
        });
        let outputs = outputs.collect();
        Self {
            case: case.clone(),
            points,
            outputs,
        }
    }

    /// Mean and standard deviation of each output of f at (s, a), in physical
    /// units.
    #[must_use]
    pub fn posterior(&self, input: &[f64]) -> Vec<(f64, f64)> {
        let units = &self.case.standardisation;
        let x = standardise(input, units);
        let outputs = self.outputs.iter().zip(&self.case.hyperparameters);
        outputs
            .enumerate()
            .map(|(j, ((factor, alpha), output))| {
                let points = self.points.iter();
                let kernel: Vec<f64> = points.map(|p| output.covariance(&x, p)).collect();
                let mean: f64 = kernel.iter().zip(alpha).map(|(k, a)| k * a).sum();
                let v = forward(factor, &kernel);
                let explained: f64 = v.iter().map(|v| v * v).sum();
                let variance = (output.covariance(&x, &x) - explained).max(0.0);
                let scale = f64::from(units.output_scale[j]);
                (
                    f64::from(units.output_mean[j]) + scale * mean,
                    scale * variance.sqrt(),
                )
            })
            .collect()
    }

    /// sqrt of k(x, x) of each output, in physical units.
    #[must_use]
    pub fn prior_std(&self, input: &[f64]) -> Vec<f64> {
        let units = &self.case.standardisation;
        let x = standardise(input, units);
        let outputs = self.case.hyperparameters.iter().zip(&units.output_scale);
        outputs
            .map(|(output, scale)| f64::from(*scale) * output.covariance(&x, &x).sqrt())
            .collect()
    }
}

fn cholesky(count: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<Vec<f64>> {
    let mut factor: Vec<Vec<f64>> = Vec::new();
    for i in 0..count {
        let mut row = vec![0.0; i + 1];
        for j in 0..=i {
            let before = if j < i { &factor[j] } else { &row };
            let known: f64 = (0..j).map(|m| row[m] * before[m]).sum();
            let rest = entry(i, j) - known;
            row[j] = if j < i {
                rest / factor[j][j]
            } else {
                rest.sqrt()
            };
        }
        factor.push(row);
    }
    factor
}

fn forward(factor: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let mut solution: Vec<f64> = Vec::new();
    for (row, y) in factor.iter().zip(right) {
        let known: f64 = row.iter().zip(&solution).map(|(l, x)| l * x).sum();
        let diagonal = row.last().copied().unwrap_or(f64::NAN);
        solution.push((y - known) / diagonal);
    }
    solution
}

/// A whole random image with a Gaussian process of 10 to 40 points: few
/// trajectories, few sweeps, every kernel.
///
/// # Errors
/// If a generated part is wrong, which would be a bug of this file.
pub fn image(seed: u64) -> Result<AlignedBytes, Error> {
    image_of(seed, fixture::waypoints)
}

/// The kernels of an image's model; none if it is another one.
#[must_use]
pub fn kernels<'i>(image: &'i Image<'_>) -> &'i [Kernel] {
    match &image.model().dynamics.learned {
        StatisticalModel::GaussianProcess(process) => process.kernels(),
        StatisticalModel::Ensemble(_) => &[],
    }
}

/// Whether the variance of an image's model takes points together: that of
/// linear kernels alone does not.
#[must_use]
pub fn has_groups(image: &Image<'_>) -> bool {
    match &image.model().dynamics.learned {
        StatisticalModel::GaussianProcess(process) => !process.groups().is_empty(),
        StatisticalModel::Ensemble(_) => false,
    }
}

/// A whole random image with another policy, under every variant that needs no
/// members.
///
/// # Errors
/// As for [`image`].
pub fn image_of(
    seed: u64,
    policy: impl FnOnce(&mut Draw, [usize; 2]) -> Result<HostPolicy, Error>,
) -> Result<AlignedBytes, Error> {
    image_with_groups(seed, VarianceGroups::Alone, policy)
}

/// A whole random image with another policy; the variance takes points together.
///
/// # Errors
/// As for [`image`].
pub fn image_with_groups(
    seed: u64,
    groups: VarianceGroups,
    policy: impl FnOnce(&mut Draw, [usize; 2]) -> Result<HostPolicy, Error>,
) -> Result<AlignedBytes, Error> {
    let draw = &mut Draw::new(0x6A00 + seed);
    let space = 1 + draw.below(3);
    let mut kernels = KERNELS;
    kernels.rotate_left(draw.below(KERNELS.len()));
    let difficulty = Difficulty {
        points: 10 + draw.below(31),
        lengthscales: (0.5, 3.0),
        noise: (-4.0, -1.0),
        pairs: 0.0,
    };
    let case = Case::new(draw, space, &kernels, difficulty);
    let physics = RandomPhysics::of_some(seed, space);
    let reward = REWARDS[seed as usize % REWARDS.len()];
    let task = fixture::task_knowing(draw, space, reward, &physics)?;
    let policy = encode_policy(&policy(draw, [task.state_names.len(), space])?)?;
    let effort = Effort {
        trajectories: 2 + draw.below(2) as u32,
        searched: 2,
        iterations: 3,
        seed,
        allocation: Allocation::Even,
    };
    let plan = CheckPlan::from(effort).with_variants([
        Variant::Mean,
        Variant::DistributionSampling,
        Variant::ContinuousAdversary,
    ]);
    let bytes = encode_image(&case.grouped_part(groups)?, &task, plan, &[], &policy)?;
    Ok(AlignedBytes::new(&bytes))
}
