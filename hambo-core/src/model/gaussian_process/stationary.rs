//! An output with a stationary kernel: the posterior mean kᵀ alpha as a sum of
//! integers, and the derivatives of mean and standard deviation.

use core::marker::PhantomData;

use super::coordinates::{FRACTION_BITS, WEIGHT_LIMIT, coordinate_limit, fraction_bits_of};
use super::groups::Groups;
use super::kernel::{FRACTION, Kernel, Matern32, Matern52, Rbf, Shape};
use super::numbers::OutputNumbers;
use super::output_rows::OutputRows;
use super::posterior::OutputPosterior;
use super::variance::{explained_slope, integer_rows, variance};
use crate::numeric::Slices;
use crate::numeric::dense::TILE;
use crate::numeric::elementary::clamp;
use crate::numeric::triangular::LowerTriangular;
use crate::numeric::vectors::{LaneLoop, Vectors};

/// What is stored of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct StationaryOutput<'a> {
    kernel: Kernel,
    numbers: OutputNumbers,
    /// q of the coordinates' unit.
    fraction_bits: u32,
    limit: i32,
    /// Coordinates for each unit of an input.
    factors: &'a [f32],
    /// The points' coordinates, point by point.
    coordinates: &'a [i32],
    /// alpha times the signal variance, in units of their own.
    weights: &'a [i32],
    /// What the variance takes together; none if each point is alone.
    groups: Option<Groups<'a>>,
    /// M s² / √p, with a row for each group.
    factor: LowerTriangular<'a>,
}

impl<'a> StationaryOutput<'a> {
    /// The tiles after the numbers: a factor for each input, the points, their
    /// weights, the sizes of the groups if there are fewer than points, the
    /// shift and the offset of each row of M, and M, each padded to whole
    /// tiles. All but the factors are integers. `None` also if there are more
    /// groups than points, or none.
    pub fn tiles(points: usize, groups: usize, inputs: usize) -> Option<usize> {
        if !(1..=points).contains(&groups) {
            return None;
        }
        let runs = if groups == points { 2 } else { 3 };
        let per_group = groups.div_ceil(TILE).checked_mul(runs)?;
        per_group
            .checked_add(points.div_ceil(TILE))?
            .checked_add(inputs.div_ceil(TILE))?
            .checked_add(points.checked_mul(inputs)?.div_ceil(TILE))?
            .checked_add(LowerTriangular::tiles(groups)?)
    }

    pub fn new(
        kernel: Kernel,
        numbers: OutputNumbers,
        (points, groups): (usize, usize),
        inputs: usize,
        tiles: &'a [[f32; TILE]],
    ) -> Option<Self> {
        let (per_point, per_group) = (points.div_ceil(TILE), groups.div_ceil(TILE));
        let (factors, integers) = tiles.split_at_checked(inputs.div_ceil(TILE))?;
        let integers: &[[i32; TILE]] = bytemuck::try_cast_slice(integers).ok()?;
        let count = points.checked_mul(inputs)?;
        let (coordinates, integers) = integers.split_at_checked(count.div_ceil(TILE))?;
        let (weights, integers) = integers.split_at_checked(per_point)?;
        let of_sizes = if groups < points { per_group } else { 0 };
        let (sizes, integers) = integers.split_at_checked(of_sizes)?;
        let (shifts, integers) = integers.split_at_checked(per_group)?;
        let (offsets, integers) = integers.split_at_checked(per_group)?;
        Some(Self {
            kernel,
            numbers,
            // One that is out of range is refused before anything is asked.
            fraction_bits: fraction_bits_of(numbers.coordinate_unit)
                .unwrap_or(*FRACTION_BITS.start()),
            limit: coordinate_limit(inputs)?,
            factors: factors.as_flattened().get(..inputs)?,
            coordinates: coordinates.as_flattened().get(..count)?,
            weights: weights.as_flattened().get(..points)?,
            groups: match sizes {
                [] => None,
                sizes => Some(Groups {
                    sizes: sizes.as_flattened().get(..groups)?,
                }),
            },
            factor: LowerTriangular::new(integers, shifts, offsets, groups)?,
        })
    }

    /// Whether all numbers are in their ranges, such that no integer sum can
    /// overflow.
    pub fn is_sound(&self) -> bool {
        let within = |x: &i32, limit: i32| x.unsigned_abs() <= limit.unsigned_abs();
        fraction_bits_of(self.numbers.coordinate_unit).is_some()
            && self.factors.iter().all(|x| x.is_finite() && *x > 0.0)
            && self.coordinates.iter().all(|x| within(x, self.limit))
            && self.weights.iter().all(|x| within(x, WEIGHT_LIMIT))
            && self
                .groups
                .is_none_or(|groups| groups.are_sound(self.weights.len()))
            && self.factor.has_sound_shifts()
    }

    /// The posterior at `input`, the distance from the inputs' mean. Leaves
    /// the slopes of the kernel vector, and M Uᵀ k as [`Self::pull_back`] takes
    /// it. `None` also if it was stopped.
    pub fn posterior<const B: usize>(
        &self,
        input: &[[f32; B]],
        rows: OutputRows<'_, B>,
        slices: &Slices<'_>,
    ) -> Option<OutputPosterior<B>> {
        let OutputRows {
            query,
            kernel,
            slopes,
            projection,
        } = rows;
        let (query, kernel) = (integer_rows(query), integer_rows(kernel));
        let square = self.move_query(input, query);
        for row in kernel.iter_mut().skip(self.weights.len()) {
            *row = [0; B];
        }
        let sums = match self.kernel {
            Kernel::Rbf => self.kernel_vector::<Rbf, B>(query, kernel, slopes, slices),
            Kernel::Matern32 => self.kernel_vector::<Matern32, B>(query, kernel, slopes, slices),
            Kernel::Matern52 => self.kernel_vector::<Matern52, B>(query, kernel, slopes, slices),
            Kernel::Linear => None,
        }?;
        let numbers = &self.numbers;
        let mean = sums.map(|sum| sum as f32 * numbers.weight_unit);
        if let Some(groups) = self.groups {
            slices.next()?;
            groups.gather(kernel)?;
        }
        let variance = variance(&self.factor, numbers, kernel, projection, slices)?;
        Some(OutputPosterior::new(numbers, &square, mean, &variance))
    }

    /// The query's coordinates, cut off to integers; 0 for a NaN. Gives the
    /// sum of their squares before they were cut off, a NaN if one of them is.
    fn move_query<const B: usize>(&self, input: &[[f32; B]], query: &mut [[i32; B]]) -> [f32; B] {
        let limit = self.limit as f32;
        let mut square = [0.0; B];
        for ((coordinates, x), factor) in query.iter_mut().zip(input).zip(self.factors) {
            for ((stored, x), sum) in coordinates.iter_mut().zip(x).zip(&mut square) {
                let coordinate = clamp(*factor * *x, -limit, limit);
                *stored = coordinate as i32;
                *sum += coordinate * coordinate;
            }
        }
        square
    }

    /// k in units of 2⁻³¹ of the signal variance, and its slopes; gives the
    /// mean's sum, unless it was stopped. Out of line, so that a program holds it
    /// once.
    #[inline(never)]
    fn kernel_vector<S: Shape, const B: usize>(
        &self,
        query: &[[i32; B]],
        kernel: &mut [[i32; B]],
        slopes: &mut [[f32; B]],
        slices: &Slices<'_>,
    ) -> Option<[i64; B]> {
        Vectors::widest().run(KernelVector::<S, B> {
            output: self,
            query,
            kernel,
            slopes,
            slices,
            shape: PhantomData,
        })
    }

    /// Adds the derivatives of mean and standard deviation, times `c_mean`
    /// and `c_std` over the standard deviation, to a row for each input. `None`
    /// also if it was stopped.
    pub fn pull_back<'r, const B: usize>(
        &self,
        (c_mean, c_std): (&[f32; B], &[f32; B]),
        input: &[[f32; B]],
        rows: OutputRows<'_, B>,
        cotangents: impl Iterator<Item = &'r mut [f32; B]>,
        slices: &Slices<'_>,
    ) -> Option<()> {
        let OutputRows {
            query,
            kernel,
            slopes,
            projection,
        } = rows;
        let numbers = &self.numbers;
        let explained = explained_slope(&self.factor, numbers, projection, kernel, slices)?;
        if let Some(groups) = self.groups {
            groups.spread(kernel, self.weights.len())?;
        }
        let query = integer_rows(query);
        self.move_query(input, query);
        // Stored weights are alpha times the signal variance.
        let weight_unit = numbers.weight_unit * 65_536.0 / numbers.signal_variance;
        let c_std = c_std.map(|c| c * explained);
        for ((row, slopes), weight) in kernel.iter_mut().zip(slopes.iter()).zip(self.weights) {
            let alpha = *weight as f32 * weight_unit;
            let cotangents = c_mean.iter().zip(&c_std);
            for ((y, slope), (c_mean, c_std)) in row.iter_mut().zip(slopes).zip(cotangents) {
                *y = (*c_mean * alpha - *c_std * *y) * *slope;
            }
        }
        let squared_unit = numbers.coordinate_unit * numbers.coordinate_unit;
        for (d, ((sum, x), factor)) in cotangents.zip(query.iter()).zip(self.factors).enumerate() {
            slices.next()?;
            let mut gradient = [0.0; B];
            for (weights, point) in kernel.iter().zip(self.points()) {
                let point = *point.get(d)?;
                for ((sum, w), x) in gradient.iter_mut().zip(weights).zip(x) {
                    *sum += *w * (2.0 * x.wrapping_sub(point) as f32);
                }
            }
            for (s, g) in sum.iter_mut().zip(&gradient) {
                *s += *factor * (squared_unit * *g);
            }
        }
        Some(())
    }

    /// The stored points, one after the other.
    fn points(&self) -> impl Iterator<Item = &'a [i32]> + use<'a> {
        self.coordinates.chunks_exact(self.factors.len().max(1))
    }
}

/// The kernel vector of a query, point by point.
struct KernelVector<'r, S, const B: usize> {
    output: &'r StationaryOutput<'r>,
    query: &'r [[i32; B]],
    kernel: &'r mut [[i32; B]],
    slopes: &'r mut [[f32; B]],
    slices: &'r Slices<'r>,
    shape: PhantomData<S>,
}

impl<S: Shape, const B: usize> LaneLoop for KernelVector<'_, S, B> {
    type Output = Option<[i64; B]>;

    #[inline(always)]
    fn run<const GROUP: usize>(self) -> Option<[i64; B]> {
        let output = self.output;
        let scale = output.numbers.signal_variance * FRACTION;
        let steepness = -(scale * output.kernel.steepness());
        let mut sums = [0_i64; B];
        let rows = self.kernel.iter_mut().zip(self.slopes.iter_mut());
        let points = output.points().zip(output.weights);
        for (number, ((row, slopes), (point, weight))) in rows.zip(points).enumerate() {
            self.slices.at_row(number)?;
            let mut squares = [0_u64; B];
            for (row, point) in self.query.iter().zip(point) {
                for (square, x) in squares.iter_mut().zip(row) {
                    let difference = i64::from(x.wrapping_sub(*point));
                    let product = difference.wrapping_mul(difference);
                    *square = square.wrapping_add(product.cast_unsigned());
                }
            }
            let shapes = S::shapes(&squares, output.fraction_bits);
            let weight = i64::from(*weight);
            for ((sum, k), value) in sums.iter_mut().zip(row).zip(&shapes.values) {
                let product = weight.wrapping_mul(i64::from(*value));
                *sum = sum.wrapping_add(product >> 16);
                *k = (*value >> 1).cast_signed();
            }
            for (slope, value) in slopes.iter_mut().zip(&shapes.slopes) {
                *slope = steepness * *value as f32;
            }
        }
        Some(sums)
    }
}
