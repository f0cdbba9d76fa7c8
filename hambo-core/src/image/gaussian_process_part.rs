//! A Gaussian process in a model part.
//!
//! Arena, after calibration scale and support: input mean, input scale (dx
//! each) · output mean, output scale (ds each) · for each output its twelve
//! numbers, factors (dx), and, if its kernel is stationary, the points'
//! coordinates (N dx) and weights (N) as whole numbers, and row sums and
//! product errors (N each) and M in blocks of four rows, or shifts and offsets
//! (N each) and M as the bits of integers; or, if it is linear, weights (dx)
//! and a triangular matrix of dx + 1 rows.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use super::arena::ArenaReader;
use super::error::Problem;
use super::model_part::{all, positive};
use crate::model::{Arithmetic, GaussianProcess, Kernel, MAX_OUTPUTS, Standardisation};

/// The sizes and kernels of a Gaussian process.
///
/// ```
/// use hambo_core::image::GaussianProcessManifest;
/// use hambo_core::model::{Arithmetic, GaussianProcess, Kernel};
/// let kernels = [(Kernel::Rbf, Arithmetic::Whole), (Kernel::Linear, Arithmetic::Single)];
/// let kernels = kernels.into_iter().collect();
/// let manifest = GaussianProcessManifest { points: 128, kernels };
/// // Of two states and an action; most of it is the triangular matrix.
/// let tiles = GaussianProcess::output_tiles(Kernel::Rbf, usize::from(manifest.points), 3);
/// assert_eq!(tiles, Some(3 + 1 + 3 * 32 + 3 * 32 + 2 * 32 * 33));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GaussianProcessManifest {
    /// N.
    pub points: u16,
    /// One for each state dimension, and how its M k is summed.
    pub kernels: Vec<(Kernel, Arithmetic), MAX_OUTPUTS>,
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
    let tiles = GaussianProcess::tiles(&manifest.kernels, points, columns);
    let tiles = arena.take_tiles(tiles.ok_or(Problem::Dimension)?)?;
    let process = GaussianProcess::new(&manifest.kernels, points, standardisation, tiles)
        .ok_or(Problem::Dimension)?;
    if process.has_sound_numbers() {
        Ok(process)
    } else {
        Err(Problem::Number)
    }
}
