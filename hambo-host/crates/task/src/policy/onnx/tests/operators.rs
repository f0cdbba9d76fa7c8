//! Operators one by one, against hand-computed cases.

use hambo_base::network::Activation;
use hambo_core::policy::{Head, Spread};

use super::super::message::{Attribute, Entry};
use super::{Builder, act, float, floats, integer, named, task, value};
use crate::policy::host_policy::HostPolicy;
use crate::policy::onnx::options::{Chance, OnnxOptions, OnnxPolicy};
use crate::policy::onnx::read::decode;
use crate::policy::onnx_error::OnnxError;

fn read(builder: Builder, states: usize, actions: usize) -> Result<OnnxPolicy, OnnxError> {
    let task = task(states, actions, 100.0);
    decode(&builder.finish(), None, &task, &OnnxOptions::default())
}

/// What two states become, without noise.
fn run(builder: Builder, states: &[f32], actions: usize) -> Vec<f32> {
    let policy = read(builder, states.len(), actions).unwrap().policy;
    act(&policy, states, 0.0)
}

#[test]
fn layers_fold_to_one() {
    // 2 (x W) + 3 c, with W given as its transpose, then − 1, then / 2.
    let gemm = [
        float("alpha", 2.0),
        float("beta", 3.0),
        integer("transB", 1),
    ];
    let builder = Builder::new(2)
        .floats("W", &[1, 2], &[1.0, -1.0])
        .floats("c", &[1, 1], &[0.5])
        .floats("one", &[], &[1.0])
        .floats("two", &[1], &[2.0])
        .node_with("Gemm", &["x", "W", "c"], &["g"], gemm)
        .node("Sub", &["g", "one"], "h")
        .node("Div", &["h", "two"], "y");
    assert_eq!(
        run(builder, &[5.0, 2.0], 1),
        [(2.0 * 3.0 + 1.5 - 1.0) / 2.0]
    );
    // Two layers without an activation are one.
    let builder = Builder::new(2)
        .floats("W", &[2, 2], &[1.0, 2.0, 3.0, 4.0])
        .floats("V", &[2, 1], &[10.0, 1.0])
        .node("MatMul", &["x", "W"], "h")
        .node("MatMul", &["h", "V"], "y");
    let policy = read(builder, 2, 1).unwrap().policy;
    assert_eq!(policy.layers.len(), 1);
    assert_eq!(policy.layers[0].weights, [12.0, 34.0]);
}

#[test]
fn constants_fold() {
    // W = (1, 2)ᵀ · exp(0) from a Constant, an Expand and a Transpose.
    let constant = Attribute {
        tensor: Some(floats("", &[], &[0.0])),
        ..named("value")
    };
    let builder = Builder::new(2)
        .floats("row", &[1, 2], &[1.0, 2.0])
        .integers("shape", &[1, 2])
        .node_with("Constant", &[], &["zero"], [constant])
        .node("Exp", &["zero"], "one")
        .node("Expand", &["one", "shape"], "ones")
        .node("Mul", &["row", "ones"], "scaled")
        .node("Transpose", &["scaled"], "W")
        .node("MatMul", &["x", "W"], "y");
    assert_eq!(run(builder, &[3.0, 4.0], 1), [11.0]);
}

#[test]
fn rows_are_moved() {
    let axis = || integer("axis", -1);
    // (x1, x0) by Split and Concat, then 5 − it, then negated.
    let builder = Builder::new(2)
        .floats("five", &[], &[5.0])
        .integers("row", &[-1, 2])
        .node_with("Flatten", &["x"], &["flat"], [])
        .node("Reshape", &["flat", "row"], "r")
        .node_with("Split", &["r"], &["a", "b"], [axis()])
        .node_with("Concat", &["b", "a"], &["c"], [axis()])
        .node("Identity", &["c"], "d")
        .node_with("Cast", &["d"], &["e"], [integer("to", 11)])
        .node("Sub", &["five", "e"], "f")
        .node("Neg", &["f"], "y");
    assert_eq!(run(builder, &[1.0, 7.0], 2), [2.0, -4.0]);
    // The second state alone, by Gather and by Slice.
    let gather = Builder::new(2).integers("place", &[-1]).node_with(
        "Gather",
        &["x", "place"],
        &["y"],
        [axis()],
    );
    assert_eq!(run(gather, &[1.0, 7.0], 1), [7.0]);
    let slice = Builder::new(2)
        .integers("start", &[1])
        .integers("end", &[i64::MAX])
        .integers("axis", &[1])
        .node("Slice", &["x", "start", "end", "axis"], "y");
    assert_eq!(run(slice, &[1.0, 7.0], 1), [7.0]);
}

#[test]
fn outputs_that_no_action_needs_are_passed_over() {
    let builder = Builder::new(1)
        .node("Softmax", &["x"], "critic")
        .node("Tanh", &["x"], "y");
    assert_eq!(run(builder, &[0.0], 1), [0.0]);
}

/// x in, (tanh x, x − 1) out.
fn two_outputs() -> Builder {
    let mut builder = Builder::new(1)
        .floats("one", &[], &[1.0])
        .node("Tanh", &["x"], "y")
        .node("Sub", &["x", "one"], "log_std");
    builder.graph().outputs.push(value("log_std", &[]));
    builder
}

#[test]
fn heads_are_as_the_file_or_its_user_says() {
    let task = task(1, 1, 100.0);
    let head = |chance: Option<Chance>| {
        let options = OnnxOptions {
            chance,
            ..OnnxOptions::default()
        };
        decode(&two_outputs().finish(), None, &task, &options)
            .unwrap()
            .policy
            .actions
    };
    let of_state = Spread::OfState;
    assert_eq!(
        (head(None).head, head(None).squash),
        (Head::TanhGaussian(of_state), false)
    );
    let gaussian = head(Some(Chance::Gaussian));
    assert_eq!(
        (gaussian.head, gaussian.squash),
        (Head::Gaussian(of_state), true)
    );
    let deterministic = head(Some(Chance::Deterministic));
    assert_eq!(
        (deterministic.head, deterministic.squash),
        (Head::Deterministic, true)
    );
    // The file's own property, and a bad one.
    let note = |value: &str| Entry {
        key: "hambo.head".to_owned(),
        value: value.to_owned(),
    };
    let mut builder = two_outputs();
    builder.0.metadata.push(note("deterministic"));
    assert_eq!(
        read(builder, 1, 1).unwrap().policy.actions.head,
        Head::Deterministic
    );
    let mut builder = two_outputs();
    builder.0.metadata.push(note("cauchy"));
    assert!(
        read(builder, 1, 1)
            .unwrap_err()
            .to_string()
            .contains("`cauchy`")
    );
}

#[test]
fn wrappers_say_what_the_graph_does_not() {
    let folder = std::env::temp_dir().join(format!("hambo-wrapper-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let model = Builder::new(1)
        .floats("W", &[1, 1], &[2.0])
        .node("MatMul", &["x", "W"], "y");
    // By content, whatever its name.
    std::fs::write(folder.join("actor.bin"), model.finish()).unwrap();
    let text = "kind = 'onnx'\nfile = 'actor.bin'\nobservation_mean = [1]\n\
                observation_std = [4]\naction_scale = [3]\naction_offset = [0.5]\nsquash = true";
    std::fs::write(folder.join("p.toml"), text).unwrap();
    let task = task(1, 1, 100.0);
    let HostPolicy::Perceptron(policy) = HostPolicy::read(folder.join("p.toml"), &task).unwrap()
    else {
        panic!("not a network");
    };
    let wanted = 3.0 * (2.0 * (3.0_f32 - 1.0) / 4.0).tanh() + 0.5;
    assert!((act(&policy, &[3.0], 0.0)[0] - wanted).abs() < 1e-6);
    let plain = HostPolicy::read(folder.join("actor.bin"), &task).unwrap();
    assert!(matches!(plain, HostPolicy::Perceptron(_)));

    let origin = folder.join("q.toml").display().to_string();
    for (text, wanted) in [
        ("kind = 'onnx'", "`file` is missing"),
        ("kind = 'onnx'\nfile = 'none.onnx'", "none.onnx"),
        (
            "kind = 'onnx'\nfile = 'actor.bin'\nobservation_std = [0]",
            "`observation_std` has 0",
        ),
        (
            "kind = 'onnx'\nfile = 'actor.bin'\naction_scale = [1, 2]",
            "`action_scale` has length 2",
        ),
        (
            "kind = 'onnx'\nfile = 'actor.bin'\nhead = 'gaussian'",
            "needs a log_std",
        ),
        (
            "kind = 'onnx'\nfile = 'actor.bin'\nhead = 'cauchy'",
            "unknown variant",
        ),
        (
            "kind = 'onnx'\nfile = 'actor.bin'\ngain = [[1]]",
            "`gain` does not belong",
        ),
        (
            "kind = 'linear'\nfile = 'actor.bin'",
            "`file` does not belong",
        ),
    ] {
        let error = HostPolicy::parse(text, &origin, &task)
            .unwrap_err()
            .to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn layers_may_have_different_activations() {
    // tanh(relu(x) − 1), a clip inside, and a sigmoid after it.
    let builder = || {
        Builder::new(1)
            .floats("W", &[1, 1], &[1.0])
            .floats("one", &[], &[1.0])
            .floats("low", &[], &[-0.5])
            .floats("high", &[], &[0.25])
            .node("Relu", &["x"], "a")
            .node("Sub", &["a", "one"], "b")
            .node("Tanh", &["b"], "c")
            .node("Clip", &["c", "low", "high"], "d")
            .node("MatMul", &["d", "W"], "e")
            .node("Sigmoid", &["e"], "f")
            .node("MatMul", &["f", "W"], "y")
    };
    for x in [-2.0_f32, 0.4, 0.9, 1.2, 3.0] {
        let inner = (x.max(0.0) - 1.0).tanh().clamp(-0.5, 0.25);
        let wanted = 1.0 / (1.0 + (-inner).exp());
        let found = run(builder(), &[x], 1)[0];
        assert!((found - wanted).abs() < 1e-6, "{x}: {found} {wanted}");
    }
}

/// Activations that a network of PyTorch may have, by what PyTorch says they are.
#[test]
fn soft_and_leaky_rectifiers_are_read() {
    let node = |operator: &str, alpha: Option<f32>| {
        let builder = Builder::new(2)
            .floats("W", &[2, 2], &[1.0, -0.5, 0.25, 2.0])
            .floats("b", &[2], &[0.5, -1.5])
            .floats("V", &[2, 1], &[1.0, -3.0])
            .node("MatMul", &["x", "W"], "h")
            .node("Add", &["h", "b"], "g");
        let builder = match alpha {
            Some(alpha) => builder.node_with(operator, &["g"], &["a"], [float("alpha", alpha)]),
            None => builder.node(operator, &["g"], "a"),
        };
        builder.node("MatMul", &["a", "V"], "y")
    };
    let elu = |x: f64| if x > 0.0 { x } else { x.exp_m1() };
    let softplus = |x: f64| x.exp().ln_1p();
    let leaky = |slope: f64| move |x: f64| if x > 0.0 { x } else { slope * x };
    type Function = Box<dyn Fn(f64) -> f64>;
    let cases: [(&str, Option<f32>, Function); 6] = [
        ("Elu", None, Box::new(elu)),
        ("Elu", Some(1.0), Box::new(elu)),
        ("Softplus", None, Box::new(softplus)),
        ("LeakyRelu", None, Box::new(leaky(0.01))),
        ("LeakyRelu", Some(0.25), Box::new(leaky(0.25))),
        ("LeakyRelu", Some(1.5), Box::new(leaky(1.5))),
    ];
    for (operator, alpha, of) in cases {
        for state in [
            [0.0, 0.0],
            [3.0, -2.0],
            [-4.0, 1.0],
            [0.1, 0.7],
            [-1.0, -6.0],
        ] {
            let [x, v] = state.map(f64::from);
            let hidden = [x + 0.25 * v + 0.5, -0.5 * x + 2.0 * v - 1.5].map(&of);
            let wanted = hidden[0] - 3.0 * hidden[1];
            let found = f64::from(run(node(operator, alpha), &state, 1)[0]);
            let tolerance = 1e-6 * wanted.abs().max(1.0);
            assert!(
                (found - wanted).abs() < tolerance,
                "{operator} {alpha:?}: {found} {wanted}"
            );
        }
    }
    // The head may have one too, and a constant is only a number.
    let last = Builder::new(1).node("Softplus", &["x"], "y");
    assert!((run(last, &[0.0], 1)[0] - 2.0_f32.ln()).abs() < 1e-6);
    let last = Builder::new(1)
        .floats("one", &[1, 1], &[1.0])
        .node("MatMul", &["x", "one"], "h")
        .node("LeakyRelu", &["h"], "y");
    assert!((run(last, &[-2.0], 1)[0] + 0.02).abs() < 1e-6);
    let folded = Builder::new(1)
        .floats("minus", &[], &[-1.0])
        .node("Elu", &["minus"], "c")
        .node("Add", &["x", "c"], "y");
    assert!((run(folded, &[0.0], 1)[0] - (-1.0_f32).exp_m1()).abs() < 1e-6);
    // What is not known is refused by its name.
    let error = read(node("Elu", Some(0.5)), 2, 1).unwrap_err().to_string();
    assert!(
        error.contains("alpha is 0.5") && error.contains("Elu"),
        "{error}"
    );
    let error = read(node("LeakyRelu", Some(f32::NAN)), 2, 1).unwrap_err();
    assert!(error.to_string().contains("not finite"), "{error}");
}

/// The GELU as runtimes have it, and as PyTorch and others write it out.
#[test]
fn a_gelu_is_read_in_every_form() {
    let start = || {
        Builder::new(2)
            .floats("W", &[2, 2], &[1.0, -0.5, 0.25, 2.0])
            .floats("b", &[2], &[0.5, -1.5])
            .floats("V", &[2, 1], &[1.0, -3.0])
            .floats("half", &[], &[0.5])
            .floats("one", &[], &[1.0])
            .floats("root", &[], &[std::f32::consts::SQRT_2])
            .floats("inverse", &[], &[std::f32::consts::FRAC_1_SQRT_2])
            .node("MatMul", &["x", "W"], "h")
            .node("Add", &["h", "b"], "g")
    };
    let erf = |builder: Builder| {
        builder
            .node("Div", &["g", "root"], "u")
            .node("Erf", &["u"], "e")
            .node("Add", &["e", "one"], "p")
    };
    let whole = start().node("Gelu", &["g"], "a");
    let last = erf(start())
        .node("Mul", &["g", "p"], "t")
        .node("Mul", &["t", "half"], "a");
    let first = erf(start())
        .node("Mul", &["g", "half"], "t")
        .node("Mul", &["p", "t"], "a");
    let gate = start()
        .node("Mul", &["g", "inverse"], "u")
        .node("Erf", &["u"], "e")
        .node("Mul", &["e", "half"], "q")
        .node("Add", &["half", "q"], "p")
        .node("Mul", &["p", "g"], "a");
    let gelu = |x: f64| 0.5 * x * libm::erfc(-x / std::f64::consts::SQRT_2);
    let states = [
        [0.0, 0.0],
        [3.0, -2.0],
        [-4.0, 1.0],
        [0.1, 0.7],
        [-1.0, -6.0],
    ];
    for (form, builder) in [whole, last, first, gate].into_iter().enumerate() {
        let policy = read(builder.node("MatMul", &["a", "V"], "y"), 2, 1)
            .unwrap()
            .policy;
        assert_eq!(policy.activations, [Activation::Gelu]);
        for state in states {
            let [x, v] = state.map(f64::from);
            let hidden = [x + 0.25 * v + 0.5, -0.5 * x + 2.0 * v - 1.5].map(gelu);
            let wanted = hidden[0] - 3.0 * hidden[1];
            let found = f64::from(act(&policy, &state, 0.0)[0]);
            let tolerance = 2e-6 * wanted.abs().max(1.0);
            assert!(
                (found - wanted).abs() < tolerance,
                "{form}: {found} {wanted}"
            );
        }
    }
    // Nearly one: another argument, another number beside the erf, an erf of its own.
    let other = start()
        .node("Mul", &["g", "half"], "u")
        .node("Erf", &["u"], "e")
        .node("Add", &["e", "one"], "p")
        .node("Mul", &["p", "h"], "a");
    let shifted = start()
        .node("Erf", &["g"], "e")
        .node("Add", &["e", "half"], "p")
        .node("Mul", &["p", "g"], "a");
    for builder in [other, shifted] {
        let error = read(builder.node("MatMul", &["a", "V"], "y"), 2, 1).unwrap_err();
        assert!(error.to_string().contains("joins two branches"), "{error}");
    }
    let alone = start()
        .node("Erf", &["g"], "a")
        .node("MatMul", &["a", "V"], "y");
    let error = read(alone, 2, 1).unwrap_err().to_string();
    assert!(error.contains("an erf of its own"), "{error}");
    let form = Attribute {
        text: Some(b"tanh".to_vec()),
        ..named("approximate")
    };
    let tanh = start().node_with("Gelu", &["g"], &["a"], [form]);
    let error = read(tanh.node("MatMul", &["a", "V"], "y"), 2, 1).unwrap_err();
    assert!(
        error.to_string().contains("approximation of the GELU"),
        "{error}"
    );
}

#[test]
fn batch_normalisation_is_a_layer() {
    let builder = || {
        Builder::new(2)
            .floats("scale", &[2], &[2.0, 1.0])
            .floats("offset", &[2], &[0.5, 0.0])
            .floats("mean", &[2], &[1.0, -1.0])
            .floats("variance", &[2], &[3.5, 0.75])
    };
    let names = ["x", "scale", "offset", "mean", "variance"];
    let normal = builder().node_with(
        "BatchNormalization",
        &names,
        &["y"],
        [float("epsilon", 0.25)],
    );
    // Square roots of 3.75 and 1.
    let wanted = [(3.0 - 1.0) / 3.75_f32.sqrt() * 2.0 + 0.5, 5.0];
    let found = run(normal, &[3.0, 4.0], 2);
    for (found, wanted) in found.iter().zip(wanted) {
        assert!((found - wanted).abs() < 1e-6, "{found} {wanted}");
    }
    let training = builder().node_with(
        "BatchNormalization",
        &names,
        &["y"],
        [integer("training_mode", 1)],
    );
    let error = read(training, 2, 2).unwrap_err().to_string();
    assert!(error.contains("eval()"), "{error}");
}
