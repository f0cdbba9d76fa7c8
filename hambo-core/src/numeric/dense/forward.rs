//! From inputs to outputs: f(W x + b).

use super::active::Active;
use super::layer::{Dense, TILE};
use crate::numeric::vectors::{LaneLoop, PLAIN, Vectors, lanes, lanes_mut};

impl Dense<'_> {
    /// `output = W input + b`. `output` has padded rows.
    pub fn forward<const B: usize>(&self, input: &[[f32; B]], output: &mut [[f32; B]]) {
        self.forward_through(|y| y, input, output);
    }

    /// `output = f(W input + b)`, where `f` sees the sums while they are still
    /// in registers.
    #[inline(never)] // One copy in flash.
    pub(crate) fn forward_through<const B: usize>(
        &self,
        f: impl Fn(f32) -> f32,
        input: &[[f32; B]],
        output: &mut [[f32; B]],
    ) {
        #[cfg(test)]
        crate::numeric::slices::work::add(self.weights.as_flattened().len());
        let kernel = Forward {
            layer: *self,
            f,
            input,
            output,
        };
        Vectors::widest().run(kernel);
    }
}

pub(super) struct Forward<'a, F, const B: usize> {
    pub(super) layer: Dense<'a>,
    pub(super) f: F,
    pub(super) input: &'a [[f32; B]],
    pub(super) output: &'a mut [[f32; B]],
}

impl<F: Fn(f32) -> f32, const B: usize> LaneLoop for Forward<'_, F, B> {
    type Output = ();

    #[inline(always)]
    fn run<const GROUP: usize>(self) {
        let mut weights = self.layer.weights;
        let active = if B >= GROUP && GROUP > PLAIN {
            Active::of(self.input)
        } else {
            None
        };
        let (tiles, _) = self.output.as_chunks_mut::<TILE>();
        for (bias, tile) in self.layer.bias.iter().zip(tiles) {
            let Some((block, rest)) = weights.split_at_checked(self.layer.inputs) else {
                return;
            };
            weights = rest;
            let columns = Columns {
                block,
                input: self.input,
                active: active.as_ref(),
            };
            if B > GROUP && B.is_multiple_of(GROUP) {
                for group in 0..B / GROUP {
                    let [a, b, c, d] = &mut *tile;
                    let (a, b) = (lanes_mut(a, group), lanes_mut(b, group));
                    let (c, d) = (lanes_mut(c, group), lanes_mut(d, group));
                    if let [Some(a), Some(b), Some(c), Some(d)] = [a, b, c, d] {
                        let x = |row| lanes(row, group);
                        sum_up::<GROUP, B>(&self.f, bias, columns, x, [a, b, c, d]);
                    }
                }
            } else {
                sum_up(&self.f, bias, columns, Some, tile.each_mut());
            }
        }
    }
}

/// The weights of one tile of outputs, and the inputs they go with.
#[derive(Clone, Copy)]
struct Columns<'a, const B: usize> {
    block: &'a [[f32; TILE]],
    input: &'a [[f32; B]],
    active: Option<&'a Active>,
}

impl<'a, const B: usize> Columns<'a, B> {
    #[inline(always)]
    fn for_each(self, mut f: impl FnMut(&'a [f32; TILE], &'a [f32; B])) {
        match self.active {
            Some(active) => active.for_each(self.block, self.input, f),
            None => {
                for (weight, x) in self.block.iter().zip(self.input) {
                    f(weight, x);
                }
            }
        }
    }
}

/// f of bias plus weights times inputs, for one tile of outputs and the `G`
/// lanes that `part` takes of an input.
///
/// The compiler takes two inputs at a time; three or more, unrolled by hand,
/// need more registers than a Cortex-M4F has.
#[inline(always)]
fn sum_up<'x, const G: usize, const B: usize>(
    f: impl Fn(f32) -> f32,
    bias: &[f32; TILE],
    columns: Columns<'x, B>,
    part: impl Fn(&'x [f32; B]) -> Option<&'x [f32; G]>,
    output: [&mut [f32; G]; TILE],
) {
    let [a, b, c, d] = bias.map(|bias| bias + 0.0);
    let mut sums = [[a; G], [b; G], [c; G], [d; G]];
    columns.for_each(|weight, x| {
        if let Some(x) = part(x) {
            add_column(weight, x, &mut sums);
        }
    });
    for (row, sum) in output.into_iter().zip(&mut sums) {
        for s in sum.iter_mut() {
            *s = f(*s);
        }
        *row = *sum;
    }
}

/// Adds four weights times one input to four sums.
///
/// What is read is copied first: the compiler then knows that no sum lies
/// where it is read from, and keeps the sums in registers.
#[inline(always)]
fn add_column<const G: usize>(
    weight: &[f32; TILE],
    x: &[f32; G],
    [a, b, c, d]: &mut [[f32; G]; TILE],
) {
    let ([wa, wb, wc, wd], x) = (*weight, *x);
    for ((((a, b), c), d), x) in a.iter_mut().zip(b).zip(c).zip(d).zip(&x) {
        *a += wa * *x;
        *b += wb * *x;
        *c += wc * *x;
        *d += wd * *x;
    }
}
