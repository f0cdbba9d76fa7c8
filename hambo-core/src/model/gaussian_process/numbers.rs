//! The numbers of one output of a Gaussian process.

use crate::numeric::dense::TILE;

/// Tiles that [`OutputNumbers`] take.
pub(super) const NUMBER_TILES: usize = 3;

/// The numbers of one output, in the order in which they are stored. All are
/// in standardised units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutputNumbers {
    /// What the kernel's shape is multiplied with.
    pub signal_variance: f32,
    /// k(x, x) of a stationary kernel: the signal variance and what is added
    /// to it, rounded up.
    pub prior_variance: f32,
    /// The standard deviation of the noise.
    pub noise_std: f32,
    /// Added to the variance: covers that M was rounded, and the arithmetic.
    pub variance_error: f32,
    /// Factor on the standard deviation, at least 1: covers that the points
    /// were moved to integer coordinates.
    pub std_factor: f32,
    /// Added to the standard deviation: covers that the query is moved to
    /// integer coordinates, how far an evaluated kernel may be off, and the
    /// mean's arithmetic.
    pub std_error: f32,
    /// Added for each coordinate of the query: covers its rounding in f32.
    pub std_error_growth: f32,
    /// The part of the mean that is the same everywhere.
    pub mean_offset: f32,
    /// A stored weight's unit times 2¹⁶ / 2³²: what the mean's integer sum
    /// counts.
    pub weight_unit: f32,
    /// A coordinate's unit, 2⁻ᵠ; 1 for the linear kernel.
    pub coordinate_unit: f32,
}

impl OutputNumbers {
    /// As they are stored.
    pub fn to_tiles(self) -> [[f32; TILE]; NUMBER_TILES] {
        [
            [
                self.signal_variance,
                self.prior_variance,
                self.noise_std,
                self.variance_error,
            ],
            [
                self.std_factor,
                self.std_error,
                self.std_error_growth,
                self.mean_offset,
            ],
            [self.weight_unit, self.coordinate_unit, 0.0, 0.0],
        ]
    }

    pub(super) fn from_tiles(tiles: &[[f32; TILE]; NUMBER_TILES]) -> Self {
        let [
            [signal_variance, prior_variance, noise_std, variance_error],
            [std_factor, std_error, std_error_growth, mean_offset],
            [weight_unit, coordinate_unit, _, _],
        ] = *tiles;
        Self {
            signal_variance,
            prior_variance,
            noise_std,
            variance_error,
            std_factor,
            std_error,
            std_error_growth,
            mean_offset,
            weight_unit,
            coordinate_unit,
        }
    }

    /// Whether they are finite and in their ranges.
    pub(super) fn in_range(&self) -> bool {
        let tiles = self.to_tiles();
        tiles.as_flattened().iter().all(|x| x.is_finite())
            && self.signal_variance > 0.0
            && self.prior_variance > 0.0
            && self.noise_std > 0.0
            && self.variance_error > 0.0
            && self.std_factor >= 1.0
            && self.std_error >= 0.0
            && self.std_error_growth >= 0.0
            && self.weight_unit > 0.0
            && self.coordinate_unit > 0.0
    }
}
