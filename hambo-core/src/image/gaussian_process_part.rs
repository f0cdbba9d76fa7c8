//! A Gaussian process in a model part.
//!
//! Arena, after calibration scale and support: input mean, input scale (dx
//! each) · output mean, output scale (ds each) · for each output its twelve
//! numbers, factors (dx), linear weights (dx), the points' coordinates (N dx)
//! and weights (N) as whole numbers, row sums of |M| (N), product errors (N),
//! and M in blocks of four rows.
//!
//! Parts of hambo 0.1 before its mean was summed in integers are another kind
//! of dynamics ([`super::DynamicsManifest::GaussianProcessInFloats`]); only
//! the host still reads them.

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
/// assert_eq!(tiles, Some(3 + 2 + 3 * 32 + 3 * 32 + 2 * 32 * 33));
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
    let tiles = GaussianProcess::tiles_per_output(points, columns)
        .and_then(|tiles| tiles.checked_mul(state_dimension))
        .ok_or(Problem::Dimension)?;
    let tiles = arena.take_tiles(tiles)?;
    if tiles.iter().flatten().any(|x| !x.is_finite()) {
        return Err(Problem::Number);
    }
    let process = GaussianProcess::new(&manifest.kernels, points, standardisation, tiles)
        .ok_or(Problem::Dimension)?;
    if (0..state_dimension).all(|dimension| process.has_sound_numbers(dimension)) {
        Ok(process)
    } else {
        Err(Problem::Number)
    }
}
