//! The numbers of one output of a Gaussian process.

use super::coordinates::fraction_bits_of;
use crate::arithmetic::dense::TILE;

/// Tiles that [`OutputNumbers`] take.
pub(super) const NUMBER_TILES: usize = 3;

/// The numbers of one output, in the order in which they are stored. All are
/// in standardised units.
///
/// ```
/// use hambo_core::model::OutputNumbers;
/// let numbers = OutputNumbers {
///     signal_variance: 1.0,
///     constant_variance: 0.0,
///     noise_std: 0.1,
///     prior_inflation: 1.001,
///     kernel_error: 1e-8,
///     kernel_error_growth: 0.0,
///     std_factor: 1.0001,
///     std_error: 1e-7,
///     std_error_growth: 1e-14,
///     mean_offset: 0.0,
///     weight_unit: 1e-9,
///     coordinate_unit: 1.0 / 16_777_216.0,
/// };
/// assert_eq!(numbers.to_tiles()[0], [1.0, 0.0, 0.1, 1.001]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutputNumbers {
    /// What the kernel's shape is multiplied with.
    pub signal_variance: f32,
    /// What is added to it.
    pub constant_variance: f32,
    /// The standard deviation of the noise.
    pub noise_std: f32,
    /// Factor on k(x, x), a little more than 1: covers its own rounding and
    /// that of the sum of squares.
    pub prior_inflation: f32,
    /// How far an evaluated k(x, x_i) may be from the true one at the stored
    /// point, beyond what rounding to f32 takes; at the origin.
    pub kernel_error: f32,
    /// How much farther for each coordinate of the query.
    pub kernel_error_growth: f32,
    /// Factor on the standard deviation, at least 1: covers that the points
    /// were moved to whole coordinates.
    pub std_factor: f32,
    /// Added to the standard deviation: covers that the query is moved to
    /// whole coordinates, and the mean's arithmetic.
    pub std_error: f32,
    /// Added for each coordinate of the query: covers its rounding in f32.
    pub std_error_growth: f32,
    /// The part of the mean that is the same everywhere.
    pub mean_offset: f32,
    /// A stored weight's unit times 2¹⁶ / 2³²: what the mean's integer sum
    /// counts.
    pub weight_unit: f32,
    /// A coordinate's unit, 2⁻ᵠ.
    pub coordinate_unit: f32,
}

impl OutputNumbers {
    /// As they are stored.
    #[must_use]
    pub fn to_tiles(self) -> [[f32; TILE]; NUMBER_TILES] {
        let Self {
            signal_variance,
            constant_variance,
            noise_std,
            prior_inflation,
            kernel_error,
            kernel_error_growth,
            std_factor,
            std_error,
            std_error_growth,
            mean_offset,
            weight_unit,
            coordinate_unit,
        } = self;
        [
            [
                signal_variance,
                constant_variance,
                noise_std,
                prior_inflation,
            ],
            [kernel_error, kernel_error_growth, std_factor, std_error],
            [std_error_growth, mean_offset, weight_unit, coordinate_unit],
        ]
    }

    pub(super) fn from_tiles(tiles: &[[f32; TILE]; NUMBER_TILES]) -> Self {
        let [
            [
                signal_variance,
                constant_variance,
                noise_std,
                prior_inflation,
            ],
            [kernel_error, kernel_error_growth, std_factor, std_error],
            [std_error_growth, mean_offset, weight_unit, coordinate_unit],
        ] = *tiles;
        Self {
            signal_variance,
            constant_variance,
            noise_std,
            prior_inflation,
            kernel_error,
            kernel_error_growth,
            std_factor,
            std_error,
            std_error_growth,
            mean_offset,
            weight_unit,
            coordinate_unit,
        }
    }

    /// Whether finite numbers are in their ranges.
    pub(super) fn in_range(&self) -> bool {
        let errors = [
            self.constant_variance,
            self.kernel_error,
            self.kernel_error_growth,
            self.std_error,
            self.std_error_growth,
        ];
        self.signal_variance > 0.0
            && self.noise_std > 0.0
            && self.prior_inflation > 1.0
            && self.std_factor >= 1.0
            && self.weight_unit > 0.0
            && fraction_bits_of(self.coordinate_unit).is_some()
            && errors.iter().all(|error| *error >= 0.0)
    }
}
