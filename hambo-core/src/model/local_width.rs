//! Where the model errs more than it says: at a wall, the end of a rail, a contact.
//!
//! A region is a stretch of one input. Inside it every state's epistemic standard deviation
//! is larger by the region's height, towards its ends it falls to what the model says:
//! sigma_e,j(x) = sigma_n,j(x) + sum over regions of height_j · membership(x). Without regions
//! rows at a wall would widen the set everywhere.

use crate::numeric::ParameterError;
use crate::numeric::checksum::Checksum;
use crate::numeric::elementary::{clamp, minimum};

/// Numbers of a region before its heights: the input's index, the lower and the upper end, and
/// the distance beyond an end at which the height has fallen to 0.
pub const REGION_HEAD: usize = 4;

/// Regions of single inputs in which the epistemic standard deviation is larger.
///
/// ```
/// use hambo_core::model::LocalWidth;
/// // Of two inputs the first, from 1 on: 0.5 more, half as much at 0.9.
/// let width = LocalWidth::new(&[0.0, 1.0, f32::MAX, 0.2, 0.5], 2, 1)?;
/// let mut std = [[0.1; 3]];
/// let mut slopes = [[0.0; 3]];
/// width.widen(&[[0.0, 0.9, 5.0]], &[[0.0; 3]], &mut std, &mut slopes);
/// assert!((std[0][1] - 0.35).abs() < 1e-6);
/// assert_eq!((std[0][0], std[0][2]), (0.1, 0.6));
/// # Ok::<(), hambo_core::numeric::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LocalWidth<'a> {
    outputs: usize,
    rows: &'a [f32],
}

/// One region.
struct Region<'a> {
    input: usize,
    low: f32,
    high: f32,
    edge: f32,
    heights: &'a [f32],
}

impl<'a> LocalWidth<'a> {
    /// The model errs nowhere more than it says.
    pub const NONE: Self = Self {
        outputs: 0,
        rows: &[],
    };

    /// Regions of `inputs` inputs, each [`REGION_HEAD`] numbers and a height for each of
    /// `outputs` states.
    ///
    /// # Errors
    /// If a row is not whole, names an input that is not there, has ends in the wrong order or
    /// an edge without width, or a height is negative or not finite.
    pub fn new(rows: &'a [f32], inputs: usize, outputs: usize) -> Result<Self, ParameterError> {
        let width = Self { outputs, rows };
        let whole = rows.len().checked_rem(width.row_length()) == Some(0);
        ParameterError::size("regions of the width", whole && !rows.is_empty())?;
        let is_input = |input: f32| (0..inputs).any(|index| index as f32 == input);
        let sound = rows.chunks(width.row_length()).all(|row| match row {
            [input, low, high, edge, heights @ ..] => {
                let ends = low.is_finite() && high.is_finite() && low <= high;
                let edge = edge.is_finite() && *edge > 0.0;
                let finite = |height: &f32| height.is_finite() && *height >= 0.0;
                is_input(*input) && ends && edge && heights.iter().all(finite)
            }
            _ => false,
        });
        ParameterError::number("regions of the width", sound)?;
        Ok(width)
    }

    /// Adds what it is in memory.
    pub(super) fn add_to(&self, sum: &mut Checksum) {
        let Self { outputs, rows } = self;
        sum.value(outputs);
        sum.place(*rows);
    }

    fn row_length(&self) -> usize {
        REGION_HEAD.saturating_add(self.outputs)
    }

    /// Whether there is no region.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Rows of scratch that [`Self::widen`] takes: one for each region.
    pub fn scratch_rows(&self) -> usize {
        self.rows.len().checked_div(self.row_length()).unwrap_or(0)
    }

    fn regions(&self) -> impl Iterator<Item = Region<'a>> + use<'a> {
        let rows = self.rows.chunks_exact(self.row_length());
        rows.filter_map(|row| match row {
            [input, low, high, edge, heights @ ..] => Some(Region {
                input: *input as usize,
                low: *low,
                high: *high,
                edge: *edge,
                heights,
            }),
            _ => None,
        })
    }

    /// Adds to the standard deviations what the regions have of every lane's inputs, features
    /// first, and leaves the memberships' slopes.
    pub fn widen<const B: usize>(
        &self,
        features: &[[f32; B]],
        action: &[[f32; B]],
        std: &mut [[f32; B]],
        slopes: &mut [[f32; B]],
    ) {
        for (region, slopes) in self.regions().zip(slopes) {
            let Some(input) = row_of(features, action, region.input) else {
                continue;
            };
            let memberships = region.memberships(input, slopes);
            for (std, height) in std.iter_mut().zip(region.heights) {
                for (std, membership) in std.iter_mut().zip(&memberships) {
                    *std += *height * *membership;
                }
            }
        }
    }

    /// Adds to the cotangents of features and action the derivative of the last
    /// [`Self::widen`], transposed, in those of the standard deviations.
    pub fn pull_back<const B: usize>(
        &self,
        std: &[[f32; B]],
        slopes: &[[f32; B]],
        features: &mut [[f32; B]],
        action: &mut [[f32; B]],
    ) {
        for (region, slopes) in self.regions().zip(slopes) {
            let inputs = features.len();
            let input = match region.input.checked_sub(inputs) {
                None => features.get_mut(region.input),
                Some(place) => action.get_mut(place),
            };
            let Some(input) = input else {
                continue;
            };
            for (std, height) in std.iter().zip(region.heights) {
                for ((input, std), slope) in input.iter_mut().zip(std).zip(slopes) {
                    *input += *height * *slope * *std;
                }
            }
        }
    }
}

impl Region<'_> {
    /// 1 inside, falling to 0 over the edge; and the derivative in the input.
    fn memberships<const B: usize>(&self, input: &[f32; B], slopes: &mut [f32; B]) -> [f32; B] {
        let steepness = 1.0 / self.edge;
        let mut memberships = [0.0; B];
        for ((membership, slope), x) in memberships.iter_mut().zip(slopes).zip(input) {
            // How deep inside; a NaN stays one.
            let (from_low, from_high) = (*x - self.low, self.high - *x);
            let depth = minimum(from_low, from_high) * steepness;
            *membership = clamp(1.0 + depth, 0.0, 1.0);
            *slope = if depth >= 0.0 || depth <= -1.0 {
                0.0
            } else if from_low < from_high {
                steepness
            } else {
                -steepness
            };
        }
        memberships
    }
}

/// The row of an input.
fn row_of<'r, const B: usize>(
    features: &'r [[f32; B]],
    action: &'r [[f32; B]],
    input: usize,
) -> Option<&'r [f32; B]> {
    match input.checked_sub(features.len()) {
        None => features.get(input),
        Some(place) => action.get(place),
    }
}
