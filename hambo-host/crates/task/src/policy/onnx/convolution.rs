//! Convolutions that are linear layers: a kernel of one place on an image of one pixel.
//!
//! Networks that were built from `Conv1d` or `Conv2d` with a kernel of 1 and fed with
//! vectors as images of one pixel are perceptrons in another notation: the weights
//! [outputs, inputs, 1, 1] are those of a linear layer. Strides and dilations do nothing
//! there. Every other convolution is refused.

use super::complaint::Complaint;
use super::message::Node;
use super::network::Network;
use super::tensor::Tensor;
use super::value::{Outcome, Value, input, known, signal};

fn refused(problem: impl Into<String>) -> Complaint {
    let help = "export a network of linear layers; a convolution is one only with a kernel of 1, \
                one group and no padding, on an image of one pixel";
    Complaint::new(problem, help)
}

pub(super) fn apply(node: &Node, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
    let (Value::Signal(x), Some(kernel)) = (input(inputs, 0)?, known(inputs, 1)?) else {
        return Err(refused("it does not convolve the observation with weights"));
    };
    let weights = matrix(kernel)?;
    let groups = node.integer("group", 1);
    if groups != 1 {
        return Err(refused(format!("it has {groups} groups")));
    }
    let padding = node.attribute("pads");
    if padding.is_some_and(|pads| pads.integers.iter().any(|pad| *pad != 0)) {
        return Err(refused("it pads its input"));
    }
    let rank = x.rank();
    if rank != kernel.shape.len() || !x.lies_along(1) {
        let (found, wanted) = (x.shape(), &kernel.shape);
        return Err(refused(format!(
            "its input {found:?} and its weights {wanted:?} do not fit"
        )));
    }
    let row = x.as_ref().clone().placed(1, 2);
    let mut product = network.layer(&row, &weights)?;
    if let Some(bias) = known(inputs, 2)? {
        let bias = product.row(bias)?;
        product = product.scaled(None, &bias, 0, &mut network.budget)?;
    }
    signal(product.placed(1, rank))
}

/// The weights as inputs × outputs, if the kernel covers one place.
fn matrix(kernel: &Tensor) -> Result<Tensor, Complaint> {
    let [outputs, inputs, places @ ..] = kernel.shape.as_slice() else {
        return Err(refused("its weights are no kernel"));
    };
    if places.is_empty() || places.iter().any(|length| *length != 1) {
        return Err(refused(format!("its kernel covers {places:?} places")));
    }
    kernel.reshaped(vec![*outputs, *inputs])?.transposed()
}
