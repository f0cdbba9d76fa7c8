//! The operators of a perceptron: what each makes of its inputs.

use super::complaint::Complaint;
use super::convolution;
use super::message::Node;
use super::network::{Network, Step};
use super::shape_operators;
use super::signal::Signal;
use super::tensor::{Tensor, elements};
use super::value::{Outcome, Value, constant, input, known, signal};
use super::weight_file::WeightFolder;

fn unsupported() -> Complaint {
    Complaint::new(
        "a perceptron has no such operation",
        "export the actor alone, with linear layers and ReLU, LeakyReLU, ELU, tanh, sigmoid, \
         SiLU, GELU or softplus between them",
    )
}

pub(super) fn apply(
    node: &Node,
    inputs: &[Option<Value>],
    folder: &WeightFolder<'_>,
    network: &mut Network,
) -> Outcome {
    if !(node.domain.is_empty() || node.domain == "ai.onnx") {
        return Err(Complaint::new(
            "it is not a standard operator",
            "export without vendors' operators or fused kernels",
        ));
    }
    match node.operator.as_str() {
        "Constant" => constant_node(node, folder, network),
        "Gemm" => gemm(node, inputs, network),
        "MatMul" => matmul(inputs, network),
        "Conv" => convolution::apply(node, inputs, network),
        "Add" | "Sub" | "Mul" | "Div" => arithmetic(node, inputs, network),
        "BatchNormalization" => batch_normalisation(node, inputs, network),
        "Clip" | "Min" | "Max" => clip(node, inputs, network),
        "Relu" => activation(node, Step::Relu, |x| x.max(0.0), inputs, network),
        "Tanh" => activation(node, Step::Tanh, f64::tanh, inputs, network),
        "Sigmoid" => activation(node, Step::Sigmoid, sigmoid, inputs, network),
        "Swish" if node.float("alpha", 1.0) == 1.0 => {
            activation(node, Step::Silu, |x| x * sigmoid(x), inputs, network)
        }
        "Erf" => activation(node, Step::Erf, libm::erf, inputs, network),
        "Gelu" => {
            let form = node.attribute("approximate");
            let form = form.and_then(|form| form.text.as_deref());
            if form.is_some_and(|form| form != b"none") {
                return Err(Complaint::new(
                    "it is an approximation of the GELU",
                    "train with the exact one, `nn.GELU()` of PyTorch",
                ));
            }
            let of = |x: f64| 0.5 * x * libm::erfc(-x / std::f64::consts::SQRT_2);
            activation(node, Step::Gelu, of, inputs, network)
        }
        "Softplus" => activation(node, Step::Softplus, softplus, inputs, network),
        "Elu" => match node.float("alpha", 1.0) {
            1.0 => activation(node, Step::Elu, elu, inputs, network),
            alpha => Err(Complaint::new(
                format!("its alpha is {alpha}, and only 1 is known here"),
                "train with ELU's usual alpha of 1, or with another activation",
            )),
        },
        "LeakyRelu" => {
            let slope = node.float("alpha", 0.01);
            if !slope.is_finite() {
                let help = "give its alpha a finite value";
                return Err(Complaint::new("its slope is not finite", help));
            }
            let of = |x: f64| x.max(0.0) + slope * x.min(0.0);
            activation(node, Step::LeakyRelu { slope }, of, inputs, network)
        }
        "Neg" => match input(inputs, 0)? {
            Value::Constant(tensor) => constant(tensor.map(|x| -x)),
            Value::Signal(x) => {
                let minus = vec![-1.0; x.width()];
                let zero = vec![0.0; x.width()];
                signal(x.scaled(Some(&minus), &zero, 0, &mut network.budget)?)
            }
        },
        "Exp" | "Log" | "Sqrt" | "Abs" | "Reciprocal" => match input(inputs, 0)? {
            Value::Constant(tensor) => constant(tensor.map(match node.operator.as_str() {
                "Exp" => f64::exp,
                "Log" => f64::ln,
                "Sqrt" => f64::sqrt,
                "Abs" => f64::abs,
                _ => f64::recip,
            })),
            Value::Signal(_) => Err(unsupported()),
        },
        _ => match shape_operators::apply(node, inputs, network) {
            Some(outcome) => outcome,
            None => Err(unsupported()),
        },
    }
}

fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

fn elu(x: f64) -> f64 {
    x.max(0.0) + x.min(0.0).exp_m1()
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn constant_node(node: &Node, folder: &WeightFolder<'_>, network: &mut Network) -> Outcome {
    for attribute in &node.attributes {
        let tensor = match attribute.name.as_str() {
            "value" => match &attribute.tensor {
                Some(message) => Tensor::decode(message, folder, &mut network.budget)?,
                None => continue,
            },
            "value_float" => Tensor::scalar(attribute.float.map_or(f64::NAN, f64::from)),
            "value_int" => Tensor {
                integer: true,
                ..Tensor::scalar(attribute.integer.unwrap_or_default() as f64)
            },
            "value_floats" => {
                let numbers = attribute.floats.iter().map(|x| f64::from(*x));
                Tensor::list(numbers.collect(), false)
            }
            "value_ints" => {
                let numbers = attribute.integers.iter().map(|x| *x as f64);
                Tensor::list(numbers.collect(), true)
            }
            _ => continue,
        };
        elements(&tensor.shape)?;
        return constant(tensor);
    }
    let help = "export the model again";
    Err(Complaint::new("it has no value of numbers", help))
}

/// alpha · A · B + beta · C.
fn gemm(node: &Node, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
    let (Value::Signal(x), Some(weights)) = (input(inputs, 0)?, known(inputs, 1)?) else {
        let help = "export a network whose layers multiply the observation by weights";
        return Err(Complaint::new("it does not multiply by weights", help));
    };
    if node.integer("transA", 0) != 0 || x.leading != 1 || x.trailing > 0 {
        let help = "export plain linear layers over rows of observations";
        return Err(Complaint::new("its first input is not a row", help));
    }
    let weights = match node.integer("transB", 0) {
        0 => weights.clone(),
        _ => weights.transposed()?,
    };
    let alpha = node.float("alpha", 1.0);
    let weights = weights.map(|weight| alpha * weight);
    let product = network.layer(x, &weights)?;
    let Some(bias) = known(inputs, 2)? else {
        return signal(product);
    };
    let beta = node.float("beta", 1.0);
    let bias = product.row(&bias.map(|x| beta * x))?;
    signal(product.scaled(None, &bias, 0, &mut network.budget)?)
}

/// (x − mean) / sqrt(variance + epsilon) · scale + offset, with statistics that training left.
fn batch_normalisation(node: &Node, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
    let Value::Signal(x) = input(inputs, 0)? else {
        return Err(unsupported());
    };
    if node.integer("training_mode", 0) != 0 || node.integer("is_test", 1) == 0 {
        let help = "call eval() before you export";
        return Err(Complaint::new(
            "it takes its statistics from the batch",
            help,
        ));
    }
    // Its statistics belong to axis 1, whatever follows that.
    let channels = match x.trailing {
        0 => x.as_ref().clone(),
        _ if x.leading == 1 => x.as_ref().clone().placed(1, 2),
        _ => return Err(unsupported()),
    };
    let row = |index: usize| -> Result<Vec<f64>, Complaint> {
        let missing = || Complaint::new("a part of it is missing", "export the model again");
        channels.row(known(inputs, index)?.ok_or_else(missing)?)
    };
    let (scale, offset, mean, variance) = (row(1)?, row(2)?, row(3)?, row(4)?);
    let epsilon = node.float("epsilon", 1e-5);
    let pairs = scale.iter().zip(&variance);
    let factors: Vec<f64> = pairs
        .map(|(scale, variance)| scale / (variance + epsilon).sqrt())
        .collect();
    let pairs = offset.iter().zip(&mean).zip(&factors);
    let offsets: Vec<f64> = pairs
        .map(|((offset, mean), factor)| offset - mean * factor)
        .collect();
    signal(x.scaled(Some(&factors), &offsets, 0, &mut network.budget)?)
}

fn matmul(inputs: &[Option<Value>], network: &mut Network) -> Outcome {
    match (input(inputs, 0)?, input(inputs, 1)?) {
        (Value::Signal(x), Value::Constant(weights)) => signal(network.layer(x, weights)?),
        (Value::Constant(a), Value::Constant(b)) => {
            let ((rows, inner), (other, columns)) = (a.matrix_shape()?, b.matrix_shape()?);
            let shape = vec![rows, columns];
            let mut numbers = vec![0.0; elements(&shape)?];
            if inner != other {
                let problem = format!("shapes {:?} and {:?} do not fit", a.shape, b.shape);
                return Err(Complaint::new(problem, "export the model again"));
            }
            network.budget.multiply([rows, inner, columns])?;
            if rows * inner * columns > 0 {
                let rows = a.numbers.chunks(inner).zip(numbers.chunks_mut(columns));
                for (row, sums) in rows {
                    for (x, line) in row.iter().zip(b.numbers.chunks(columns)) {
                        for (sum, y) in sums.iter_mut().zip(line) {
                            *sum += x * y;
                        }
                    }
                }
            }
            constant(Tensor {
                shape,
                numbers,
                integer: false,
            })
        }
        _ => Err(Complaint::new(
            "it does not multiply the observation by weights from the right",
            "export plain linear layers; attention has no bound here",
        )),
    }
}

fn arithmetic(node: &Node, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
    let (a, b) = (input(inputs, 0)?, input(inputs, 1)?);
    let operator = node.operator.as_str();
    let (x, other, reversed) = match (a, b) {
        (Value::Constant(a), Value::Constant(b)) => {
            let integer = a.integer && b.integer;
            return constant(a.zip(b, |a, b| match operator {
                "Add" => a + b,
                "Sub" => a - b,
                "Mul" => a * b,
                _ if integer => (a / b).trunc(),
                _ => a / b,
            })?);
        }
        (Value::Signal(x), Value::Signal(y)) => {
            return both_signals(node, (x, y), network);
        }
        (Value::Signal(x), Value::Constant(other)) => (x, other, false),
        (Value::Constant(other), Value::Signal(x)) => (x, other, true),
    };
    let row = x.row(other)?;
    let rank = other.shape.len();
    let zero = vec![0.0; x.width()];
    let budget = &mut network.budget;
    signal(match (operator, reversed) {
        ("Add", _) => x.scaled(None, &row, rank, budget)?,
        ("Mul", _) => x.scaled(Some(&row), &zero, rank, budget)?,
        ("Sub", false) => {
            let minus: Vec<f64> = row.iter().map(|x| -x).collect();
            x.scaled(None, &minus, rank, budget)?
        }
        ("Sub", true) => x.scaled(Some(&vec![-1.0; x.width()]), &row, rank, budget)?,
        ("Div", false) => {
            let factors: Vec<f64> = row.iter().map(|x| x.recip()).collect();
            x.scaled(Some(&factors), &zero, rank, budget)?
        }
        _ => return Err(unsupported()),
    })
}

fn both_signals(node: &Node, (x, y): (&Signal, &Signal), network: &mut Network) -> Outcome {
    let place = (node.label(), node.operator.as_str());
    let joined = match node.operator.as_str() {
        "Add" => x.plus(y, 1.0, &mut network.budget)?,
        "Sub" => x.plus(y, -1.0, &mut network.budget)?,
        "Mul" => gated(x, y, place, network)?,
        _ => None,
    };
    match joined {
        Some(joined) => signal(joined),
        None => Err(Complaint::new(
            "it joins two branches of the network",
            "export a plain perceptron, without gates, residual or parallel branches",
        )),
    }
}

/// A signal times a function of itself, in either order.
fn gated(
    x: &Signal,
    y: &Signal,
    place: (&str, &str),
    network: &mut Network,
) -> Result<Option<Signal>, Complaint> {
    for (x, gate) in [(x, y), (y, x)] {
        if let Some(found) = network.silu(x, gate, place)? {
            return Ok(Some(found));
        }
        if let Some(found) = network.gelu(x, gate, place)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn activation(
    node: &Node,
    step: Step,
    of: impl Fn(f64) -> f64,
    inputs: &[Option<Value>],
    network: &mut Network,
) -> Outcome {
    match input(inputs, 0)? {
        Value::Constant(tensor) => constant(tensor.map(of)),
        Value::Signal(x) => signal(network.apply(step, x, (node.label(), &node.operator))?),
    }
}

/// Clip, and Min or Max with a constant.
fn clip(node: &Node, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
    let (value, low, high) = if node.operator == "Clip" {
        let limit = |index: usize, name: &str| -> Result<Option<Tensor>, Complaint> {
            let given = known(inputs, index)?.cloned();
            let attribute = node.attribute(name).and_then(|attribute| attribute.float);
            Ok(given.or(attribute.map(|limit| Tensor::scalar(f64::from(limit)))))
        };
        (input(inputs, 0)?, limit(1, "min")?, limit(2, "max")?)
    } else {
        let (a, b) = match (input(inputs, 0)?, input(inputs, 1)?) {
            (a @ Value::Constant(_), b @ Value::Signal(_)) => (b, a),
            (a, b) => (a, b),
        };
        let Value::Constant(limit) = b else {
            return Err(unsupported());
        };
        let limit = Some(limit.as_ref().clone());
        match (node.operator.as_str(), inputs.len()) {
            ("Max", 2) => (a, limit, None),
            ("Min", 2) => (a, None, limit),
            _ => return Err(unsupported()),
        }
    };
    let low = low.unwrap_or(Tensor::scalar(f64::NEG_INFINITY));
    let high = high.unwrap_or(Tensor::scalar(f64::INFINITY));
    match value {
        Value::Constant(tensor) => constant(tensor.zip(&low, f64::max)?.zip(&high, f64::min)?),
        Value::Signal(x) => {
            let (low, high) = (x.row(&low)?, x.row(&high)?);
            if low.iter().zip(&high).any(|(low, high)| low >= high) {
                let help = "make the lower limit less than the upper";
                return Err(Complaint::new("its limits leave no room", help));
            }
            let step = Step::Clip { low, high };
            signal(network.apply(step, x, (node.label(), &node.operator))?)
        }
    }
}
