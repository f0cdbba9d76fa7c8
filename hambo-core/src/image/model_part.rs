//! The model part: the dynamics' sizes in the manifest, their numbers in the
//! arena.
//!
//! With dy for the states that the model moves and dx for its inputs, features of
//! the state and the action, the arena of an ensemble is: calibration scale (dy) · the support's centre and
//! scale (dx each), whitening (dx (dx + 1) / 2), rows (dx each) and gaps (3
//! each) · the factor of the noise (dy (dy + 1) / 2), if there is one · the centre of ordinary
//! noise (dy), the ends of the extremes' shares (one each) and the extremes (dy each), if there
//! are any · what stays in episodes (dy each), if anything does · regions of a larger width
//! (4 + dy each), if there are any · input mean, input scale (dx each) · output mean, output scale, noise
//! scale (dy each) · the members' layers, each as bias tiles and then blocks of
//! weights · those of their priors. Every run is padded to a multiple of four.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use super::arena::{ArenaReader, Sizes};
use super::container::Container;
use super::error::Problem;
use super::gaussian_process_part::{
    GaussianProcessManifest, GroupedGaussianProcessManifest, parse_gaussian_process,
};
use crate::model::{
    Calibration, ConfidenceSet, Dynamics, Ensemble, Extremes, GAP, LocalWidth, Model, Noise,
    NoiseFactor, Offsets, Priors, REGION_HEAD, Standardisation, StatisticalModel, Support,
    triangle,
};
use crate::numeric::network::{Activation, MAX_HIDDEN_LAYERS, NetworkShape};

/// Between the two layers of a prior: the cheapest one, and it grows with the
/// distance from the data.
pub const PRIOR_ACTIVATION: Activation = Activation::Relu;

/// The manifest of a model part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelManifest {
    /// Inputs that describe the state.
    pub features: u16,
    /// da.
    pub action_dimension: u16,
    /// States that the model moves.
    pub outputs: u16,
    /// beta of the confidence set.
    pub beta: f32,
    /// How the calibration went.
    pub calibration: Calibration,
    /// Steps of the longest windows of withheld rows that were tested.
    pub tested_steps: u16,
    /// Rows of the log in the support.
    pub support_rows: u16,
    /// How far from the nearest of them a query may lie, in whitened units.
    pub support_limit: f32,
    /// Stretches of single inputs without a row.
    pub support_gaps: u16,
    /// How often per step the log's own withheld rows go far outside the support.
    pub support_exit_rate: f32,
    /// What is drawn as noise.
    pub noise: NoiseManifest,
    /// Regions in which the epistemic standard deviation is larger than the dynamics say.
    pub width_regions: u16,
    /// What the dynamics are.
    pub dynamics: DynamicsManifest,
}

/// What a model draws as noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoiseManifest {
    /// Whether the noise of several states has something in common.
    pub factor: bool,
    /// Rare events.
    pub extremes: u16,
    /// Episodes of which something stays.
    pub offsets: u16,
}

/// The kinds of dynamics.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum DynamicsManifest {
    /// A network ensemble.
    Ensemble(EnsembleManifest),
    /// A Gaussian process for each dimension.
    GaussianProcess(GaussianProcessManifest),
    /// A Gaussian process with points in groups.
    GroupedGaussianProcess(GroupedGaussianProcessManifest),
}

/// The sizes of a network ensemble.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnsembleManifest {
    /// K.
    pub members: u16,
    /// Units of each hidden layer.
    pub hidden: Vec<u16, MAX_HIDDEN_LAYERS>,
    /// Between the layers.
    pub activation: Activation,
    /// Smallest aleatoric standard deviation, in standardised units.
    pub std_floor: f32,
    /// Largest one.
    pub std_cap: f32,
    /// Units of the hidden layer of each member's random prior network; 0 if
    /// there are none.
    pub prior_units: u16,
}

/// Reads a model part.
///
/// # Errors
/// If sizes do not agree or a number is out of range.
#[inline(never)]
pub fn parse_model<'a>(part: &Container<'a>) -> Result<Model<'a>, Problem> {
    let manifest: ModelManifest = part.read_manifest()?;
    let features = usize::from(manifest.features);
    let action = usize::from(manifest.action_dimension);
    let outputs = usize::from(manifest.outputs);
    Problem::Dimension.unless(features > 0 && action > 0 && outputs > 0)?;
    Problem::Number.unless(positive(manifest.beta))?;
    let inputs = features.saturating_add(action);
    let sizes = Sizes {
        features,
        inputs,
        outputs,
    };
    let mut arena = ArenaReader::new(part.arena)?;
    let confidence = ConfidenceSet {
        beta: manifest.beta,
        calibration_scale: arena.take_positive(outputs)?,
        calibration: manifest.calibration,
        tested_steps: manifest.tested_steps,
    };
    let support = parse_support(&manifest, inputs, &mut arena)?;
    let noise = parse_noise(manifest.noise, outputs, &mut arena)?;
    let width = parse_width(manifest.width_regions, (inputs, outputs), &mut arena)?;
    let learned = match manifest.dynamics {
        DynamicsManifest::Ensemble(ensemble) => {
            StatisticalModel::Ensemble(parse_ensemble(ensemble, sizes, &mut arena)?)
        }
        DynamicsManifest::GaussianProcess(process) => {
            let process = parse_gaussian_process(&process, &[], sizes, &mut arena)?;
            StatisticalModel::GaussianProcess(process)
        }
        DynamicsManifest::GroupedGaussianProcess(GroupedGaussianProcessManifest {
            process,
            groups,
        }) => {
            let counts = 1..=process.points;
            let sound = groups.iter().all(|count| counts.contains(count));
            Problem::Dimension.unless(sound && groups.len() == outputs)?;
            let process = parse_gaussian_process(&process, &groups, sizes, &mut arena)?;
            StatisticalModel::GaussianProcess(process)
        }
    };
    arena.finish()?;
    Ok(Model {
        dynamics: Dynamics { learned, width },
        confidence,
        noise,
        support,
    })
}

fn parse_noise<'a>(
    manifest: NoiseManifest,
    outputs: usize,
    arena: &mut ArenaReader<'a>,
) -> Result<Noise<'a>, Problem> {
    let mut noise = Noise::WHITE;
    if manifest.factor {
        let lower = arena.take_finite(triangle(outputs).ok_or(Problem::Dimension)?)?;
        noise.factor = NoiseFactor::new(lower, outputs)?;
    }
    let rows = |count: u16| usize::from(count).checked_mul(outputs);
    if manifest.extremes > 0 {
        let centre = arena.take_finite(outputs)?;
        let ends = arena.take_finite(usize::from(manifest.extremes))?;
        let rows = arena.take_finite(rows(manifest.extremes).ok_or(Problem::Dimension)?)?;
        noise.extremes = Extremes::new(centre, ends, rows, outputs)?;
    }
    if manifest.offsets > 0 {
        let rows = arena.take_finite(rows(manifest.offsets).ok_or(Problem::Dimension)?)?;
        noise.offsets = Offsets::new(rows, outputs)?;
    }
    Ok(noise)
}

fn parse_width<'a>(
    regions: u16,
    (inputs, outputs): (usize, usize),
    arena: &mut ArenaReader<'a>,
) -> Result<LocalWidth<'a>, Problem> {
    if regions == 0 {
        return Ok(LocalWidth::NONE);
    }
    let row = REGION_HEAD.saturating_add(outputs);
    let numbers = usize::from(regions).checked_mul(row);
    let rows = arena.take_finite(numbers.ok_or(Problem::Dimension)?)?;
    Ok(LocalWidth::new(rows, inputs, outputs)?)
}

fn parse_support<'a>(
    manifest: &ModelManifest,
    inputs: usize,
    arena: &mut ArenaReader<'a>,
) -> Result<Support<'a>, Problem> {
    Problem::Number.unless(positive(manifest.support_limit))?;
    let rate = manifest.support_exit_rate;
    Problem::Number.unless(rate.is_finite() && rate >= 0.0)?;
    let triangle = triangle(inputs).ok_or(Problem::Dimension)?;
    let rows = usize::from(manifest.support_rows).checked_mul(inputs);
    let gaps = usize::from(manifest.support_gaps).saturating_mul(GAP);
    let support = Support {
        centre: arena.take_finite(inputs)?,
        scale: arena.take_positive(inputs)?,
        whitening: arena.take_finite(triangle)?,
        rows: arena.take_finite(rows.ok_or(Problem::Dimension)?)?,
        limit: manifest.support_limit,
        gaps: arena.take_finite(gaps)?,
        exit_rate: manifest.support_exit_rate,
    };
    Problem::Number.unless(support.has_sound_gaps())?;
    Ok(support)
}

fn parse_ensemble<'a>(
    manifest: EnsembleManifest,
    sizes: Sizes,
    arena: &mut ArenaReader<'a>,
) -> Result<Ensemble<'a>, Problem> {
    let floor_and_cap = (manifest.std_floor, manifest.std_cap);
    let (floor, cap) = floor_and_cap;
    Problem::Number.unless(positive(floor) && cap.is_finite() && cap > floor)?;
    let Sizes {
        features,
        inputs,
        outputs,
    } = sizes;
    let heads = outputs.saturating_mul(2);
    let network = NetworkShape::new(inputs, &manifest.hidden, heads, manifest.activation)?;
    let standardisation = Standardisation {
        input_mean: arena.take_finite(inputs)?,
        input_scale: arena.take_positive(inputs)?,
        output_mean: arena.take_finite(outputs)?,
        output_scale: arena.take_positive(outputs)?,
        noise_scale: arena.take_positive(outputs)?,
    };
    let tiles = usize::from(manifest.members).checked_mul(network.tiles());
    let tiles = tiles.ok_or(Problem::Dimension)?;
    let tiles = arena.take_finite_tiles(tiles)?;
    let ensemble = Ensemble::new(network, features, floor_and_cap, standardisation, tiles)?;
    if manifest.prior_units == 0 {
        return Ok(ensemble);
    }
    let hidden = [manifest.prior_units];
    let prior = NetworkShape::new(inputs, &hidden, outputs, PRIOR_ACTIVATION)?;
    let tiles = usize::from(manifest.members).checked_mul(prior.tiles());
    let tiles = arena.take_finite_tiles(tiles.ok_or(Problem::Dimension)?)?;
    let Standardisation {
        input_mean,
        input_scale,
        ..
    } = standardisation;
    let priors = Priors::new(prior, tiles, input_mean, input_scale)?;
    Ok(ensemble.with_priors(priors)?)
}

fn positive(x: f32) -> bool {
    x.is_finite() && x > 0.0
}
