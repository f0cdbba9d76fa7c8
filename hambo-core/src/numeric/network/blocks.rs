//! A dense layer in blocks of its outputs, with a pause before each.

use crate::numeric::dense::Dense;
use crate::numeric::slices::Slices;

/// Does `work` for one block of a layer's outputs after the other, with a pause
/// before each. `None` if there are too few rows, or it was stopped.
pub(super) fn in_slices<const B: usize>(
    layer: &Dense<'_>,
    output: &mut [[f32; B]],
    slices: &Slices<'_>,
    mut work: impl FnMut(&Dense<'_>, &mut [[f32; B]]),
) -> Option<()> {
    let mut rest = output;
    for (block, rows) in layer.blocks() {
        slices.next()?;
        let (own, after) = rest.split_at_mut_checked(rows)?;
        rest = after;
        work(&block, own);
    }
    Some(())
}

/// `output = W input + b`, see [`in_slices`].
pub(super) fn forward_in_slices<const B: usize>(
    layer: &Dense<'_>,
    input: &[[f32; B]],
    output: &mut [[f32; B]],
    slices: &Slices<'_>,
) -> Option<()> {
    in_slices(layer, output, slices, |layer, output| {
        layer.forward(input, output);
    })
}

/// `input_cotangent = Wᵀ output_cotangent`, see [`in_slices`] and
/// [`Dense::add_back`].
pub(super) fn pull_back_in_slices<const B: usize>(
    layer: &Dense<'_>,
    rectified: &[[f32; B]],
    output_cotangent: &[[f32; B]],
    input_cotangent: &mut [[f32; B]],
    slices: &Slices<'_>,
) -> Option<()> {
    for row in input_cotangent.iter_mut() {
        *row = [0.0; B];
    }
    let mut rest = output_cotangent;
    for (block, rows) in layer.blocks() {
        slices.next()?;
        let (own, after) = rest.split_at_checked(rows)?;
        rest = after;
        block.add_back(rectified, own, input_cotangent);
    }
    Some(())
}
