//! Convolutions that are linear layers, and those that are not.

use super::super::message::Attribute;
use super::{Builder, act, integer, named, task, value};
use crate::policy::onnx::options::{OnnxOptions, OnnxPolicy};
use crate::policy::onnx::read::decode;
use crate::policy::onnx_error::OnnxError;

fn read(builder: Builder, actions: usize) -> Result<OnnxPolicy, OnnxError> {
    let task = task(2, actions, 100.0);
    decode(&builder.finish(), None, &task, &OnnxOptions::default())
}

fn integers(name: &str, numbers: &[i64]) -> Attribute {
    Attribute {
        integers: numbers.to_vec(),
        ..named(name)
    }
}

/// Two states as an image of one pixel.
fn image() -> Builder {
    Builder::new(2)
        .integers("shape", &[-1, 2, 1, 1])
        .floats("W", &[3, 2, 1, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        .floats("b", &[3], &[0.5, 0.0, -0.5])
        .node("Reshape", &["x", "shape"], "i")
}

#[test]
fn a_kernel_of_one_is_a_layer() {
    // Strides and dilations pass over nothing.
    let attributes = [
        integer("group", 1),
        integers("kernel_shape", &[1, 1]),
        integers("pads", &[0, 0, 0, 0]),
        integers("strides", &[2, 2]),
        integers("dilations", &[3, 3]),
    ];
    let builder = image()
        .node_with("Conv", &["i", "W", "b"], &["c"], attributes)
        .node("Flatten", &["c"], "y");
    let policy = read(builder, 3).unwrap().policy;
    assert_eq!(policy.layers.len(), 1);
    assert_eq!(act(&policy, &[10.0, 1.0], 0.0), [12.5, 34.0, 55.5]);
}

#[test]
fn axes_of_length_one_come_and_go() {
    // To one number and back: a single one lies along any axis.
    let builder = Builder::new(2)
        .integers("two", &[2])
        .integers("back", &[1, 2])
        .integers("order", &[0, 1, 2])
        .floats("V", &[1, 2, 1], &[2.0, 1.0])
        .floats("W", &[2, 1, 1], &[1.0, -3.0])
        .floats("factor", &[2, 1], &[10.0, 100.0])
        .node("Unsqueeze", &["x", "two"], "s")
        .node("Conv", &["s", "V"], "one")
        .node_with("Concat", &["one", "one"], &["twice"], [integer("axis", 1)])
        .node("Mul", &["twice", "factor"], "scaled")
        .node("Conv", &["scaled", "U"], "narrow")
        .node("Conv", &["narrow", "W"], "wide")
        .node("Squeeze", &["wide", "two"], "row")
        .node("Reshape", &["row", "back"], "y")
        .floats("U", &[1, 2, 1], &[1.0, 1.0]);
    let policy = read(builder, 2).unwrap().policy;
    // 2 · 5 + 3 = 13, times 110, by (1, −3).
    assert_eq!(act(&policy, &[5.0, 3.0], 0.0), [1430.0, -4290.0]);
    // Channels last, as other frameworks have them.
    let builder = image()
        .node_with(
            "Transpose",
            &["i"],
            &["last"],
            [integers("perm", &[0, 2, 3, 1])],
        )
        .node_with(
            "Transpose",
            &["last"],
            &["first"],
            [integers("perm", &[0, 3, 1, 2])],
        )
        .node("Conv", &["first", "W", "b"], "y");
    let policy = read(builder, 3).unwrap().policy;
    assert_eq!(act(&policy, &[10.0, 1.0], 0.0), [12.5, 34.0, 55.5]);
}

#[test]
fn what_is_no_layer_is_refused_by_name() {
    let conv =
        |attribute: Attribute| image().node_with("Conv", &["i", "W", "b"], &["y"], [attribute]);
    let kernel = |shape: &[i64]| {
        let count = shape.iter().product::<i64>();
        image()
            .floats("K", shape, &vec![1.0; count as usize])
            .node("Conv", &["i", "K"], "y")
    };
    let mut larger = image();
    larger.graph().inputs = vec![value("x", &[0, 2, 2])];
    for (name, builder, wanted) in [
        ("groups", conv(integer("group", 2)), "2 groups"),
        (
            "padding",
            conv(integers("pads", &[0, 1, 0, 1])),
            "pads its input",
        ),
        (
            "a kernel of 3",
            kernel(&[3, 2, 3, 3]),
            "covers [3, 3] places",
        ),
        ("one rank less", kernel(&[3, 2, 1]), "do not fit"),
        (
            "another width",
            kernel(&[3, 4, 1, 1]),
            "2 numbers meet weights for 4",
        ),
        (
            "no image",
            image().node("Conv", &["x", "W"], "y"),
            "its input [1, 2] and its weights [3, 2, 1, 1] do not fit",
        ),
        (
            "channels last",
            image()
                .node_with(
                    "Transpose",
                    &["i"],
                    &["last"],
                    [integers("perm", &[0, 2, 3, 1])],
                )
                .node("Conv", &["last", "W"], "y"),
            "do not fit",
        ),
        (
            "a signal as the kernel",
            image().node("Conv", &["i", "x"], "y"),
            "depends on the observation",
        ),
        (
            "a row for channels",
            image()
                .floats("row", &[2], &[1.0, 2.0])
                .node("Add", &["i", "row"], "y"),
            "does not fit 2 numbers",
        ),
        (
            "a product with the pixel",
            image()
                .floats("M", &[2, 3], &[0.0; 6])
                .node("MatMul", &["i", "M"], "y"),
            "flatten the observation",
        ),
        (
            "an image and a row",
            image().node("Add", &["i", "x"], "y"),
            "branches",
        ),
        ("several pixels", larger, "not one vector"),
        (
            "a deconvolution",
            image().node("ConvTranspose", &["i", "W"], "y"),
            "no such operation",
        ),
    ] {
        let error = read(builder, 3).unwrap_err().to_string();
        assert!(error.contains(wanted), "{name}: {error}");
    }
    let named = read(conv(integer("group", 2)), 3).unwrap_err().to_string();
    assert!(named.starts_with("node `Conv1` (Conv)"), "{named}");
}
