//! A Gaussian process in a model part.
//!
//! Arena, after calibration scale and support: input mean, input scale (dx
//! each) · output mean, output scale (ds each) · the points, one after the
//! other · for each output its eight numbers, 1 / l² (dx), alpha (N), row sums
//! of |M| (N), product errors (N), and M in blocks of four rows.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use super::arena::ArenaReader;
use super::error::Problem;
use super::model_part::{all, positive};
use crate::model::{GaussianProcess, Kernel, MAX_OUTPUTS, Standardisation};

/// The sizes and kernels of a Gaussian process.
///
/// ```
/// use hambo_core::image::GaussianProcessManifest;
/// use hambo_core::model::{GaussianProcess, Kernel};
/// let kernels = [Kernel::Rbf, Kernel::Linear].into_iter().collect();
/// let manifest = GaussianProcessManifest { points: 128, kernels };
/// // Of two states and an action; most of it is the triangular matrix.
/// let tiles = GaussianProcess::tiles_per_output(usize::from(manifest.points), 3);
/// assert_eq!(tiles, Some(2 + 1 + 3 * 32 + 2 * 32 * 33));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaussianProcessManifest {
    /// N.
    pub points: u16,
    /// One for each state dimension.
    pub kernels: Vec<Kernel, MAX_OUTPUTS>,
}

pub(super) fn parse_gaussian_process<'a>(
    manifest: &GaussianProcessManifest,
    state_dimension: usize,
    action_dimension: usize,
    arena: &mut ArenaReader<'a>,
) -> Result<GaussianProcess<'a>, Problem> {
    let columns = state_dimension.saturating_add(action_dimension);
    let points = usize::from(manifest.points);
    if points == 0 || manifest.kernels.len() != state_dimension {
        return Err(Problem::Dimension);
    }
    let standardisation = Standardisation {
        input_mean: arena.take_finite(columns)?,
        input_scale: all(arena.take_finite(columns)?, positive)?,
        output_mean: arena.take_finite(state_dimension)?,
        output_scale: all(arena.take_finite(state_dimension)?, positive)?,
    };
    let inputs = points.checked_mul(columns).ok_or(Problem::Dimension)?;
    let inputs = arena.take_finite(inputs)?;
    let tiles = GaussianProcess::tiles_per_output(points, columns)
        .and_then(|tiles| tiles.checked_mul(state_dimension))
        .ok_or(Problem::Dimension)?;
    let tiles = arena.take_tiles(tiles)?;
    if tiles.iter().flatten().any(|x| !x.is_finite()) {
        return Err(Problem::Number);
    }
    let process = GaussianProcess::new(&manifest.kernels, standardisation, inputs, tiles)
        .ok_or(Problem::Dimension)?;
    for dimension in 0..state_dimension {
        let sound = process
            .has_sound_numbers(dimension)
            .ok_or(Problem::Dimension)?;
        if !sound {
            return Err(Problem::Number);
        }
    }
    Ok(process)
}
