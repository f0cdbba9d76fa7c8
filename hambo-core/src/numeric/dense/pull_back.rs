//! Back from outputs to inputs: adds Wᵀ c.

use super::active::{Active, is_zero};
use super::layer::{Dense, TILE};
use crate::numeric::vectors::{LaneLoop, PLAIN, Vectors, lanes, lanes_mut};

impl Dense<'_> {
    /// `input_cotangent = Wᵀ output_cotangent`: the derivative of
    /// [`Self::forward`], transposed.
    pub fn pull_back<const B: usize>(
        &self,
        output_cotangent: &[[f32; B]],
        input_cotangent: &mut [[f32; B]],
    ) {
        for row in input_cotangent.iter_mut() {
            *row = [0.0; B];
        }
        self.add_back(&[], output_cotangent, input_cotangent);
    }

    /// Adds Wᵀ `output_cotangent` to `input_cotangent`. `values` may be the
    /// inputs, if they come from a rectifier: where one is zero in every lane
    /// its derivative may stay as it is. Else there are none.
    #[inline(never)] // One copy in flash.
    pub(crate) fn add_back<const B: usize>(
        &self,
        values: &[[f32; B]],
        output_cotangent: &[[f32; B]],
        input_cotangent: &mut [[f32; B]],
    ) {
        #[cfg(test)]
        crate::numeric::slices::work::add(self.weights.as_flattened().len());
        let kernel = PullBack {
            layer: *self,
            values,
            output_cotangent,
            input_cotangent,
        };
        Vectors::widest().run(kernel);
    }
}

pub(super) struct PullBack<'a, const B: usize> {
    pub(super) layer: Dense<'a>,
    /// The inputs, if those that are zero in every lane do not count.
    pub(super) values: &'a [[f32; B]],
    pub(super) output_cotangent: &'a [[f32; B]],
    pub(super) input_cotangent: &'a mut [[f32; B]],
}

impl<const B: usize> LaneLoop for PullBack<'_, B> {
    type Output = ();

    #[inline(always)]
    fn run<const GROUP: usize>(self) {
        let input_cotangent = self.input_cotangent;
        let looks_for_zeros = B >= GROUP && GROUP > PLAIN && B.is_multiple_of(GROUP);
        let active = if looks_for_zeros {
            Active::of(self.values)
        } else {
            None
        };
        let mut weights = self.layer.weights;
        let (tiles, _) = self.output_cotangent.as_chunks::<TILE>();
        for tile in tiles {
            let Some((block, rest)) = weights.split_at_checked(self.layer.inputs) else {
                return;
            };
            weights = rest;
            if looks_for_zeros {
                let inputs = Inputs {
                    block,
                    active: active.as_ref(),
                };
                inputs.add_what_counts::<GROUP, B>(tile, input_cotangent);
            } else {
                add_tile::<GROUP, B>(block, tile, input_cotangent);
            }
        }
    }
}

/// The weights of one tile of outputs, and which inputs count.
#[derive(Clone, Copy)]
struct Inputs<'a> {
    block: &'a [[f32; TILE]],
    active: Option<&'a Active>,
}

impl Inputs<'_> {
    /// Adds weights times those of a tile's rows that are not zero.
    #[inline(always)]
    fn add_what_counts<const GROUP: usize, const B: usize>(
        self,
        tile: &[[f32; B]; TILE],
        to: &mut [[f32; B]],
    ) {
        let mut places = [0; TILE];
        let mut count = 0_usize;
        for (place, row) in tile.iter().enumerate() {
            if !is_zero(core::slice::from_ref(row)) {
                if let Some(next) = places.get_mut(count) {
                    *next = place;
                }
                count = count.saturating_add(1);
            }
        }
        let [a, b, c, d] = places;
        for group in 0..B / GROUP {
            match count {
                0 => return,
                1 => self.add::<1, GROUP, B>([a], tile, to, group),
                2 => self.add::<2, GROUP, B>([a, b], tile, to, group),
                3 => self.add::<3, GROUP, B>([a, b, c], tile, to, group),
                _ => self.add::<4, GROUP, B>([a, b, c, d], tile, to, group),
            }
        }
    }

    /// Adds weights times `K` rows of a tile, one after the other.
    #[inline(always)]
    fn add<const K: usize, const G: usize, const B: usize>(
        self,
        places: [usize; K],
        tile: &[[f32; B]; TILE],
        to: &mut [[f32; B]],
        group: usize,
    ) {
        let cotangents: [[f32; G]; K] = places.map(|place| {
            let lanes = tile.get(place).and_then(|row| lanes(row, group));
            lanes.copied().unwrap_or([f32::NAN; G])
        });
        let Some(active) = self.active else {
            for (weight, row) in self.block.iter().zip(to) {
                add_row(weight, places, &cotangents, lanes_mut(row, group));
            }
            return;
        };
        for (first, list) in active.runs() {
            for place in list.places() {
                let place = first.saturating_add(place);
                if let (Some(weight), Some(row)) = (self.block.get(place), to.get_mut(place)) {
                    add_row(weight, places, &cotangents, lanes_mut(row, group));
                }
            }
        }
    }
}

/// Adds `K` of four weights times their derivatives to one row.
#[inline(always)]
fn add_row<const K: usize, const G: usize>(
    weight: &[f32; TILE],
    places: [usize; K],
    cotangents: &[[f32; G]; K],
    row: Option<&mut [f32; G]>,
) {
    let Some(row) = row else {
        return;
    };
    // Always one of four: the mask only tells the compiler so.
    let weights = places.map(|place| weight.get(place & (TILE - 1)).copied());
    let mut sum = *row;
    for (lane, s) in sum.iter_mut().enumerate() {
        for (weight, cotangent) in weights.iter().zip(cotangents) {
            if let (Some(weight), Some(c)) = (weight, cotangent.get(lane)) {
                *s += *weight * *c;
            }
        }
    }
    *row = sum;
}

/// Adds weights times a tile to all rows, group by group.
#[inline(always)]
pub(in crate::numeric) fn add_tile<const GROUP: usize, const B: usize>(
    block: &[[f32; TILE]],
    tile: &[[f32; B]; TILE],
    rows: &mut [[f32; B]],
) {
    if B > GROUP && B.is_multiple_of(GROUP) {
        for group in 0..B / GROUP {
            let [a, b, c, d] = tile;
            let (a, b) = (lanes(a, group), lanes(b, group));
            let (c, d) = (lanes(c, group), lanes(d, group));
            let rows = rows.iter_mut().filter_map(|row| lanes_mut(row, group));
            if let [Some(a), Some(b), Some(c), Some(d)] = [a, b, c, d] {
                add_products::<GROUP>(block, [*a, *b, *c, *d], rows);
            }
        }
    } else {
        add_products(block, *tile, rows.iter_mut());
    }
}

/// Adds weights times a tile of `G` lanes to all rows, one output after the
/// other.
#[inline(always)]
fn add_products<'x, const G: usize>(
    block: &[[f32; TILE]],
    [a, b, c, d]: [[f32; G]; TILE],
    rows: impl Iterator<Item = &'x mut [f32; G]>,
) {
    for ([wa, wb, wc, wd], row) in block.iter().zip(rows) {
        let mut sum = *row;
        for ((((s, a), b), c), d) in sum.iter_mut().zip(&a).zip(&b).zip(&c).zip(&d) {
            *s += *wa * *a;
            *s += *wb * *b;
            *s += *wc * *c;
            *s += *wd * *d;
        }
        *row = sum;
    }
}
