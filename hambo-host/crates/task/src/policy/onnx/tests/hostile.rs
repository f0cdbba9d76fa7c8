//! Files that someone made to do harm, or that broke on the way: always an error that
//! says what to do, soon, and without much memory.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use prost::Message;

use super::super::message::{Entry, TensorMessage, ValueInfo};
use super::{Builder, fixture, floats, shaped, task, value};
use crate::policy::onnx::options::OnnxOptions;
use crate::policy::onnx::read::decode;
use crate::policy::onnx::writer::encode;

/// A second, if it is optimised and the machine has nothing else to do; without limits it would
/// be hours.
const PATIENCE: Duration = Duration::from_secs(30);

/// The error of a file for one state and one action.
fn refused(bytes: &[u8]) -> String {
    let start = Instant::now();
    let task = task(1, 1, 9.0);
    let error = decode(bytes, None, &task, &OnnxOptions::default())
        .unwrap_err()
        .to_string();
    assert!(start.elapsed() < PATIENCE, "{error}");
    assert!(error.contains("help: "), "{error}");
    error
}

fn good() -> Builder {
    Builder::new(1)
        .floats("W", &[1, 1], &[2.0])
        .node("MatMul", &["x", "W"], "y")
}

fn raw(name: &str, shape: &[i64], kind: i64, bytes: &[u8]) -> TensorMessage {
    TensorMessage {
        raw: Some(bytes.to_vec()),
        ..shaped(name, shape, kind)
    }
}

/// `y = x W` with this tensor.
fn with(tensor: TensorMessage) -> Builder {
    Builder::new(1)
        .tensor(tensor)
        .node("MatMul", &["x", "W"], "y")
}

/// A field of bytes or a message.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    prost::encode_length_delimiter(bytes.len(), &mut field).unwrap();
    [field.as_slice(), bytes].concat()
}

/// [`good`] with these bytes for its tensor.
fn with_bytes(tensor: &[u8]) -> Vec<u8> {
    let mut model = good();
    let mut graph = model.0.graphs.remove(0);
    graph.initialisers.clear();
    let graph = [graph.encode_to_vec(), field(5, tensor)].concat();
    [model.finish(), field(7, &graph)].concat()
}

#[test]
fn bad_bytes_are_refused() {
    // Tags without values, lengths beyond the end, a group, field 0, a field of more than 29
    // bits, numbers of more than 64 bits, wrong kinds of fields, a text that is not UTF-8.
    let most = [255; 9];
    for (bytes, wanted) in [
        (vec![0x08], "model: a number is cut off"),
        (field(7, &[0x0a]), "graph: a number is cut off"),
        (vec![0x3a, 5, 1, 2], "5 bytes are announced, 2 are left"),
        ([&[0x3a], &most[..], &[1]].concat(), "are announced"),
        (vec![0x0d, 1, 2, 3], "4 bytes are announced, 3 are left"),
        (vec![0x3b], "kind 3"),
        (vec![0, 0], "tag value: 0"),
        (vec![0xf8, 255, 255, 255, 127, 0], "invalid key"),
        ([&[0x08], &most[..], &[2]].concat(), "64 bits"),
        (vec![0x38, 1], "graphs: invalid wire type"),
        (vec![0x0d, 1, 2, 3, 4], "invalid wire type"),
        (field(2, &[0xff]), "UTF-8"),
        (
            with_bytes(&field(4, &[1, 2, 3, 4, 5])),
            "TensorMessage.floats",
        ),
    ] {
        let error = refused(&bytes);
        assert!(error.contains(wanted), "{bytes:?}: {error}");
        assert!(error.contains("damaged or no ONNX model"), "{error}");
    }
    let mut twice = good();
    twice.0.graphs.extend(good().0.graphs);
    assert!(refused(&twice.finish()).contains("two graphs"));
    let mut twice = good();
    twice.0.operator_sets.extend(good().0.operator_sets);
    assert!(refused(&twice.finish()).contains("two versions"));
}

/// Lists may be packed or not, and the last of several values counts, as protobuf says.
#[test]
fn every_way_to_write_a_list_is_read() {
    let task = task(1, 1, 9.0);
    let read = |bytes: &[u8]| decode(bytes, None, &task, &OnnxOptions::default());
    let wanted = read(&good().finish()).unwrap();
    let float = 2.0_f32.to_le_bytes();
    for dimensions in [field(1, &[1, 1]), vec![0x08, 1, 0x08, 1]] {
        for floats in [field(4, &float), [&[0x25], &float[..]].concat()] {
            let names = [field(8, b"V"), field(8, b"W")].concat();
            let tensor = [&dimensions, &[0x10, 1][..], &floats, &names].concat();
            assert_eq!(read(&with_bytes(&tensor)).unwrap(), wanted);
        }
    }
}

#[test]
fn bad_files_are_refused() {
    let task = task(1, 1, 9.0);
    assert!(decode(&good().finish(), None, &task, &OnnxOptions::default()).is_ok());
    let mut no_opset = good();
    no_opset.0.operator_sets[0].version = 0;
    let mut new_opset = good();
    new_opset.0.operator_sets[0].version = 999;
    let mut no_graph = good();
    no_graph.0.graphs.clear();
    let mut two_inputs = good();
    two_inputs.graph().inputs.push(value("z", &[1, 1]));
    let mut no_output = good();
    no_output.graph().outputs.clear();
    let mut missing_output = good();
    missing_output.graph().outputs = vec![value("nothing", &[])];
    let mut three = good().node("Neg", &["y"], "z").node("Neg", &["z"], "w");
    three
        .graph()
        .outputs
        .extend([value("z", &[]), value("w", &[])]);
    let mut wide_input = good();
    wide_input.graph().inputs = vec![value("x", &[1, 5])];
    let mut batch = good();
    batch.graph().inputs = vec![value("x", &[32, 1])];
    let mut integers = good();
    integers.graph().inputs = vec![ValueInfo {
        name: "x".to_owned(),
        kind: None,
    }];
    let mut constant = Builder::new(1).floats("y", &[1, 1], &[2.0]);
    constant.graph().outputs = vec![value("y", &[])];
    let deep = (0..9).fold(Builder::new(1), |builder, i| {
        let input = if i == 0 {
            "x".to_owned()
        } else {
            format!("h{i}")
        };
        let output = if i == 8 {
            "y".to_owned()
        } else {
            format!("h{}", i + 1)
        };
        let names = [format!("W{i}"), format!("m{i}")];
        let builder = builder.floats(&names[0], &[1, 1], &[1.0]);
        builder
            .node("MatMul", &[&input, &names[0]], &names[1])
            .node("Relu", &[&names[1]], &output)
    });
    let wide = Builder::new(1)
        .floats("W", &[1, 70_000], &vec![0.5; 70_000])
        .floats("V", &[70_000, 1], &vec![0.5; 70_000])
        .node("MatMul", &["x", "W"], "h")
        .node("Relu", &["h"], "r")
        .node("MatMul", &["r", "V"], "y");
    let location = Entry {
        key: "location".to_owned(),
        value: "w".to_owned(),
    };
    let external = TensorMessage {
        external: vec![location],
        location: 1,
        ..shaped("W", &[1, 1], 1)
    };
    let infinity = f32::INFINITY;
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty", Vec::new(), "opset"),
        ("text", b"kind = 'linear'".to_vec(), "damaged"),
        ("no graph", no_graph.finish(), "no graph"),
        ("no version", no_opset.finish(), "opset"),
        ("unknown version", new_opset.finish(), "999"),
        ("two inputs", two_inputs.finish(), "[x, z]"),
        ("no output", no_output.finish(), "no output"),
        (
            "output of nothing",
            missing_output.finish(),
            "nothing gives `nothing`",
        ),
        ("three outputs", three.finish(), "one (the action) or two"),
        ("five states", wide_input.finish(), "observes 5 numbers"),
        ("fixed batch", batch.finish(), "batch"),
        ("not floats", integers.finish(), "not of floats"),
        ("constant action", constant.finish(), "does not depend"),
        (
            "missing weights",
            Builder::new(1).node("MatMul", &["x", "W"], "y").finish(),
            "nothing gives `W`",
        ),
        (
            "a circle",
            Builder::new(1)
                .node("Add", &["x", "b"], "a")
                .node("Neg", &["a"], "b")
                .node("Neg", &["b"], "y")
                .finish(),
            "circle",
        ),
        (
            "itself",
            Builder::new(1).node("Add", &["x", "y"], "y").finish(),
            "circle",
        ),
        (
            "made twice",
            good().node("Neg", &["x"], "y").finish(),
            "made twice",
        ),
        (
            "the input made again",
            good().node("Neg", &["y"], "x").finish(),
            "made twice",
        ),
        (
            "weights twice",
            good().floats("W", &[1, 1], &[3.0]).finish(),
            "there twice",
        ),
        (
            "NaN",
            with(floats("W", &[1, 1], &[f32::NAN])).finish(),
            "NaN",
        ),
        (
            "infinity",
            with(floats("W", &[1, 1], &[infinity])).finish(),
            "inf",
        ),
        (
            "beyond f32",
            with(raw("W", &[1, 1], 11, &1e300_f64.to_le_bytes())).finish(),
            "beyond what f32",
        ),
        (
            "too few numbers",
            with(floats("W", &[1, 1], &[])).finish(),
            "needs 1 numbers",
        ),
        (
            "odd bytes",
            with(raw("W", &[1, 1], 1, &[1, 2, 3, 4, 5])).finish(),
            "needs 1 numbers",
        ),
        (
            "wrong shape",
            with(floats("W", &[2, 1], &[1.0, 1.0])).finish(),
            "weights for 2",
        ),
        (
            "three axes",
            with(floats("W", &[1, 1, 1], &[1.0])).finish(),
            "matrix is expected",
        ),
        (
            "negative length",
            with(floats("W", &[-1, 1], &[1.0])).finish(),
            "negative",
        ),
        (
            "huge shape",
            with(floats("W", &[i64::MAX, i64::MAX], &[1.0])).finish(),
            "too large",
        ),
        (
            "empty shape",
            with(floats("W", &[1, 0], &[])).finish(),
            "empty",
        ),
        (
            "float16",
            with(raw("W", &[1, 1], 10, &[0, 0])).finish(),
            "float16",
        ),
        (
            "int8",
            with(raw("W", &[1, 1], 3, &[0])).finish(),
            "quantised",
        ),
        (
            "external without a folder",
            with(external).finish(),
            "file of its own",
        ),
        (
            "unknown operator",
            Builder::new(1).node("LSTM", &["x"], "y").finish(),
            "node `LSTM0` (LSTM)",
        ),
        (
            "products of states",
            Builder::new(1).node("Mul", &["x", "x"], "y").finish(),
            "joins two branches",
        ),
        (
            "a residual",
            Builder::new(1)
                .node("Relu", &["x"], "r")
                .node("Add", &["x", "r"], "y")
                .finish(),
            "branches",
        ),
        (
            "a recurrent layer",
            Builder::new(1)
                .node("Transpose", &["x"], "a")
                .node("LSTM", &["a"], "y")
                .finish(),
            "recurrent",
        ),
        (
            "attention",
            Builder::new(1)
                .node("Transpose", &["x"], "a")
                .node("Softmax", &["a"], "y")
                .finish(),
            "attention",
        ),
        (
            "a normalised layer",
            Builder::new(1)
                .node("LayerNormalization", &["x", "x", "x"], "y")
                .finish(),
            "with BatchNorm, which is folded",
        ),
        (
            "division by zero",
            Builder::new(1)
                .floats("z", &[], &[0.0])
                .node("Div", &["x", "z"], "y")
                .finish(),
            "inf",
        ),
        (
            "limits",
            Builder::new(1)
                .floats("z", &[], &[0.0])
                .node("Clip", &["x", "z", "z"], "y")
                .finish(),
            "no room",
        ),
        (
            "an input too few",
            Builder::new(1).node("MatMul", &["x"], "y").finish(),
            "input 1 is missing",
        ),
        (
            "a column",
            Builder::new(1)
                .integers("s", &[1, 1, 0])
                .node("Reshape", &["x", "s"], "y")
                .finish(),
            "missing axis",
        ),
        ("deep", deep.finish(), "hidden layers"),
        ("wide", wide.finish(), "65535"),
    ];
    assert!(cases.len() >= 15);
    for (name, bytes, wanted) in cases {
        let error = refused(&bytes);
        assert!(error.contains(wanted), "{name}: {error}");
    }
}

/// Small files that ask for much.
#[test]
fn no_file_takes_long() {
    // A constant of 10^18 numbers, one of four million again and again, and long chains.
    let huge = Builder::new(1)
        .integers("s", &[1_000_000_000, 1_000_000_000])
        .node("ConstantOfShape", &["s"], "c")
        .node("Add", &["x", "c"], "y");
    assert!(refused(&huge.finish()).contains("too large"));
    let mut doubling =
        Builder::new(1)
            .integers("s", &[2048, 2048])
            .node("ConstantOfShape", &["s"], "c0");
    for i in 0..500 {
        doubling = doubling.node("Neg", &[&format!("c{i}")], &format!("c{}", i + 1));
    }
    let doubling = doubling.node("MatMul", &["x", "c500"], "y");
    assert!(refused(&doubling.finish()).contains("too many"));
    let mut products = Builder::new(1)
        .integers("s", &[1, 2048])
        .integers("t", &[2048, 2048])
        .node("ConstantOfShape", &["s"], "v")
        .node("ConstantOfShape", &["t"], "w")
        .node("MatMul", &["x", "v"], "h0");
    for i in 0..5_000 {
        products = products.node("MatMul", &[&format!("h{i}"), "w"], &format!("h{}", i + 1));
    }
    let products = products.node("Neg", &["h5000"], "y");
    assert!(refused(&products.finish()).contains("too many"));
    let mut relus = Builder::new(1).node("Relu", &["x"], "h0");
    for i in 0..9_000 {
        relus = relus.node("Tanh", &[&format!("h{i}")], &format!("h{}", i + 1));
    }
    assert!(refused(&relus.node("Neg", &["h9000"], "y").finish()).contains("activations"));
    let many = (0..20_000).fold(good(), |builder, i| {
        builder.node("Neg", &["x"], &format!("n{i}"))
    });
    assert!(refused(&many.finish()).contains("10000 entries"));
    // A gigabyte announced in ten bytes.
    assert!(refused(&[0x3a, 0xff, 0xff, 0xff, 0xff, 0x0f]).contains("announced"));
    let deep = (0..30_000).fold(Vec::new(), |inner, _| field(7, &inner));
    refused(&deep);
    let axes = [field(1, b"axes"), field(8, &[0; 1 << 20])].concat();
    let axes = field(7, &field(1, &field(5, &axes)));
    assert!(refused(&axes).contains("65536 integers"));
    // Attributes of two bytes each, and hundreds of bytes of memory.
    let attributes = field(7, &field(1, &[0x2a, 0].repeat(20_000)));
    assert!(refused(&attributes).contains("10000 entries"));
    let nodes = field(1, &[0x2a, 0].repeat(9_000)).repeat(1_000);
    assert!(refused(&field(7, &nodes)).contains("262144 entries"));
}

/// A file as our writer and as PyTorch writes it.
fn whole_files() -> Vec<Vec<u8>> {
    let names = ["dynamo_sac", "torchscript_clipped", "torchscript_ppo"];
    names
        .iter()
        .map(|name| std::fs::read(fixture(&format!("{name}.onnx"))).unwrap())
        .collect()
}

#[test]
fn no_truncated_file_is_read() {
    let task = task(3, 2, 9.0);
    for bytes in whole_files() {
        let options = OnnxOptions::default();
        // The names of the versions and notes come after the graph: without them there is
        // no version.
        for length in 0..bytes.len() {
            if let Ok(read) = decode(&bytes[..length], None, &task, &options) {
                assert_eq!(
                    read,
                    decode(&bytes, None, &task, &options).unwrap(),
                    "{length}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    /// Whatever bytes are wrong, there is an outcome, and a policy that can be written.
    #[test]
    fn flipped_bytes_never_panic(
        which in 0..3_usize,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = whole_files().swap_remove(which);
        for (place, value) in flips {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let start = Instant::now();
        if let Ok(read) = decode(&bytes, None, &task(3, 2, 9.0), &OnnxOptions::default()) {
            prop_assert!(encode(&read.policy, &[]).is_ok());
        }
        prop_assert!(start.elapsed() < PATIENCE);
    }
}
