//! A Gaussian process in a model part.
//!
//! Arena, after calibration scale and support: input mean, input scale (dx
//! each) · output mean, output scale (dy each) · for each output its ten
//! numbers, factors (dx), and, if its kernel is stationary, five runs of
//! integers (i32, little-endian): the points' coordinates (N dx), weights (N),
//! the shifts and offsets of M (N each), and M in blocks of four rows; or, if
//! it is linear, weights (dx) and a dense layer of dx inputs and dx + 1
//! outputs in f32. An output with m < N groups has their sizes (m) before the
//! shifts, and m rows of M.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use super::arena::{ArenaReader, Sizes};
use super::error::Problem;
use crate::model::{GaussianProcess, Kernel, MAX_OUTPUTS, Standardisation, tiles_of};

/// The sizes and kernels of a Gaussian process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaussianProcessManifest {
    /// N.
    pub points: u16,
    /// One for each state that the model moves.
    pub kernels: Vec<Kernel, MAX_OUTPUTS>,
}

/// A Gaussian process whose variance takes points together, in groups.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupedGaussianProcessManifest {
    /// The sizes and kernels.
    pub process: GaussianProcessManifest,
    /// m for each kernel, from 1 to N.
    pub groups: Vec<u16, MAX_OUTPUTS>,
}

/// `groups` is m of each output, or empty if each point is alone.
pub(super) fn parse_gaussian_process<'a>(
    manifest: &GaussianProcessManifest,
    groups: &[u16],
    sizes: Sizes,
    arena: &mut ArenaReader<'a>,
) -> Result<GaussianProcess<'a>, Problem> {
    let Sizes {
        features,
        inputs: columns,
        outputs,
    } = sizes;
    let points = usize::from(manifest.points);
    Problem::Dimension.unless(points > 0 && manifest.kernels.len() == outputs)?;
    let standardisation = Standardisation {
        input_mean: arena.take_finite(columns)?,
        input_scale: arena.take_positive(columns)?,
        output_mean: arena.take_finite(outputs)?,
        output_scale: arena.take_positive(outputs)?,
        noise_scale: arena.take_positive(outputs)?,
    };
    let (kernels, points) = (&manifest.kernels, (points, groups));
    let tiles = tiles_of(kernels, points, columns);
    let tiles = arena.take_tiles(tiles.ok_or(Problem::Dimension)?)?;
    let process = GaussianProcess::new(kernels, features, points, standardisation, tiles)?;
    Problem::Number.unless(process.has_sound_numbers())?;
    Ok(process)
}
