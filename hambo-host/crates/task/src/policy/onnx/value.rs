//! Values of a graph, constant or dependent on the observation, and how operators take them.

use std::rc::Rc;

use super::complaint::Complaint;
use super::message::Node;
use super::signal::Signal;
use super::tensor::Tensor;

/// A value of the graph.
#[derive(Clone)]
pub enum Value {
    Constant(Rc<Tensor>),
    Signal(Rc<Signal>),
}

/// The outputs of a graph by name.
pub type Outputs<'a> = Vec<(&'a str, Value)>;

/// What an operator gives.
pub(super) type Outcome = Result<Vec<Value>, Complaint>;

pub(super) fn constant(tensor: Tensor) -> Outcome {
    Ok(vec![Value::Constant(Rc::new(tensor))])
}

pub(super) fn signal(signal: Signal) -> Outcome {
    Ok(vec![Value::Signal(Rc::new(signal))])
}

/// An input that must be there.
pub(super) fn input(inputs: &[Option<Value>], index: usize) -> Result<&Value, Complaint> {
    let found = inputs.get(index).and_then(Option::as_ref);
    found.ok_or_else(|| {
        let problem = format!("its input {index} is missing");
        Complaint::new(problem, "export the model again")
    })
}

/// An optional input that must be known in advance.
pub(super) fn known(inputs: &[Option<Value>], index: usize) -> Result<Option<&Tensor>, Complaint> {
    match inputs.get(index).and_then(Option::as_ref) {
        None => Ok(None),
        Some(Value::Constant(tensor)) => Ok(Some(tensor)),
        Some(Value::Signal(_)) => Err(Complaint::new(
            format!("its input {index} depends on the observation"),
            "export a network with fixed weights and shapes",
        )),
    }
}

pub(super) fn odd(problem: impl Into<String>) -> Complaint {
    let help = "export a plain perceptron: vectors in, vectors out";
    Complaint::new(problem, help)
}

pub(super) fn shape_of(value: &Value) -> Vec<usize> {
    match value {
        Value::Constant(tensor) => tensor.shape.clone(),
        Value::Signal(signal) => signal.shape(),
    }
}

/// An axis counted from the front.
pub(super) fn place(axis: i64, rank: usize) -> Result<usize, Complaint> {
    let from_end = i64::try_from(rank).unwrap_or(i64::MAX);
    let place = if axis < 0 {
        axis.saturating_add(from_end)
    } else {
        axis
    };
    let place = usize::try_from(place).ok().filter(|place| *place < rank);
    place.ok_or_else(|| odd(format!("there is no axis {axis} of {rank}")))
}

/// Integers from an input, or from an attribute as in older versions.
pub(super) fn integers(
    node: &Node,
    name: &str,
    inputs: &[Option<Value>],
    index: usize,
) -> Result<Option<Vec<i64>>, Complaint> {
    if let Some(tensor) = known(inputs, index)? {
        return tensor.integers().map(Some);
    }
    Ok(node
        .attribute(name)
        .map(|attribute| attribute.integers.clone()))
}
