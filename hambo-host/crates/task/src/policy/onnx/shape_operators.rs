//! Operators that move numbers without changing them.

use std::rc::Rc;

use super::complaint::Complaint;
use super::message::Node;
use super::network::Network;
use super::pieces;
use super::signal::Signal;
use super::tensor::{Tensor, elements};
use super::value::{
    Outcome, Value, constant, input, integers, known, odd, place, shape_of, signal,
};

/// `None` if it is not one of these.
pub(super) fn apply(
    node: &Node,
    inputs: &[Option<Value>],
    network: &mut Network,
) -> Option<Outcome> {
    Some(match node.operator.as_str() {
        "Identity" | "Dropout" | "CastLike" => input(inputs, 0).map(|value| vec![value.clone()]),
        "Cast" => cast(node, inputs),
        "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" => reshape(node, inputs),
        "Transpose" => transpose(node, inputs),
        "Shape" => shape(node, inputs),
        "Expand" => expand(inputs),
        "ConstantOfShape" => constant_of_shape(node, inputs, network),
        "Concat" => pieces::concat(node, inputs, network),
        "Split" => pieces::split(node, inputs, network),
        "Slice" => pieces::slice(node, inputs, network),
        "Gather" => pieces::gather(node, inputs, network),
        _ => return None,
    })
}

fn cast(node: &Node, inputs: &[Option<Value>]) -> Outcome {
    let value = input(inputs, 0)?;
    let to = node.integer("to", 0);
    match (value, to) {
        (Value::Signal(_), 1 | 11) => Ok(vec![value.clone()]),
        (Value::Constant(tensor), 1 | 11) => constant(Tensor {
            integer: false,
            ..tensor.as_ref().clone()
        }),
        (Value::Constant(tensor), 6 | 7) => constant(Tensor {
            integer: true,
            ..tensor.map(f64::trunc)
        }),
        _ => Err(Complaint::new(
            "it changes the kind of the numbers",
            "export the network in float32 or float64 throughout",
        )),
    }
}

/// Any change of shape that keeps the order of the numbers.
fn reshape(node: &Node, inputs: &[Option<Value>]) -> Outcome {
    let value = input(inputs, 0)?;
    let old = shape_of(value);
    let axes = || integers(node, "axes", inputs, 1);
    let new = match node.operator.as_str() {
        "Reshape" => {
            let target = integers(node, "shape", inputs, 1)?;
            resolved(&old, &target.ok_or_else(|| odd("it has no shape"))?)?
        }
        "Flatten" => {
            let axis = node.integer("axis", 1);
            let end = if axis == i64::try_from(old.len()).unwrap_or(-1) {
                old.len()
            } else {
                place(axis, old.len())?
            };
            let (before, after) = old.split_at(end);
            vec![elements(before)?, elements(after)?]
        }
        "Squeeze" => {
            let axes = match axes()? {
                Some(axes) => axes.iter().map(|axis| place(*axis, old.len())).collect(),
                None => Ok((0..old.len()).filter(|i| old.get(*i) == Some(&1)).collect()),
            };
            let axes: Vec<usize> = axes?;
            if axes.iter().any(|axis| old.get(*axis) != Some(&1)) {
                return Err(odd("it removes an axis that is not of length 1"));
            }
            let kept = old.iter().enumerate().filter(|(i, _)| !axes.contains(i));
            kept.map(|(_, length)| *length).collect()
        }
        _ => {
            let axes = axes()?.ok_or_else(|| odd("it has no axes"))?;
            let rank = old.len() + axes.len();
            let axes: Result<Vec<usize>, _> = axes.iter().map(|axis| place(*axis, rank)).collect();
            let axes = axes?;
            let mut rest = old.iter();
            let lengths = (0..rank).map(|i| {
                if axes.contains(&i) {
                    Some(1)
                } else {
                    rest.next().copied()
                }
            });
            let lengths: Option<Vec<usize>> = lengths.collect();
            lengths.ok_or_else(|| odd("it names an axis twice"))?
        }
    };
    match value {
        Value::Constant(tensor) => constant(tensor.reshaped(new)?),
        Value::Signal(x) => signal(reshaped(x, &new)?),
    }
}

/// The target of a Reshape: 0 copies a length, −1 takes what is left.
fn resolved(old: &[usize], target: &[i64]) -> Result<Vec<usize>, Complaint> {
    let mut new = Vec::new();
    let mut free = None;
    for (index, length) in target.iter().enumerate() {
        new.push(match *length {
            0 => *old
                .get(index)
                .ok_or_else(|| odd("it copies a missing axis"))?,
            -1 if free.replace(index).is_none() => 1,
            length => {
                usize::try_from(length).map_err(|_| odd(format!("its shape is {target:?}")))?
            }
        });
    }
    if let Some(place) = free.and_then(|index| new.get_mut(index)) {
        *place = 1;
        let all = elements(old)?;
        let others = elements(&new)?;
        if others == 0 || all % others != 0 {
            return Err(odd(format!("{old:?} cannot become {target:?}")));
        }
        if let Some(place) = free.and_then(|index| new.get_mut(index)) {
            *place = all / others;
        }
    }
    Ok(new)
}

/// A signal stays one list of numbers: only axes of length 1 may come and go.
fn reshaped(x: &Signal, shape: &[usize]) -> Result<Signal, Complaint> {
    let last = shape.len().saturating_sub(1);
    let axis = shape.iter().position(|length| *length != 1);
    let axis = axis.unwrap_or(last);
    if shape.get(axis).copied().unwrap_or(1) != x.width() || elements(shape)? != x.width() {
        let problem = format!("it changes the row {:?} to {shape:?}", x.shape());
        return Err(odd(problem));
    }
    Ok(x.clone().placed(axis, shape.len()))
}

fn transpose(node: &Node, inputs: &[Option<Value>]) -> Outcome {
    let value = input(inputs, 0)?;
    let permutation = node
        .attribute("perm")
        .map(|attribute| attribute.integers.as_slice());
    let rank = shape_of(value).len();
    let unchanged =
        permutation.is_some_and(|p| p.len() == rank && (0..).zip(p).all(|(i, p)| i == *p));
    if unchanged || rank < 2 {
        return Ok(vec![value.clone()]);
    }
    match (value, permutation) {
        (Value::Constant(tensor), None | Some([1, 0])) => constant(tensor.transposed()?),
        (Value::Signal(x), Some(permutation)) if is_order(permutation, rank) => {
            let own = i64::try_from(x.leading).unwrap_or(-1);
            let axis = permutation.iter().position(|axis| *axis == own);
            signal(x.as_ref().clone().placed(axis.unwrap_or(x.leading), rank))
        }
        _ => Err(odd("it moves the axes of more than a weight matrix")),
    }
}

/// Whether each axis is named once.
fn is_order(permutation: &[i64], rank: usize) -> bool {
    permutation.len() == rank && (0..).take(rank).all(|axis| permutation.contains(&axis))
}

fn shape(node: &Node, inputs: &[Option<Value>]) -> Outcome {
    let lengths = shape_of(input(inputs, 0)?);
    let rank = i64::try_from(lengths.len()).unwrap_or(i64::MAX);
    let limit = |name: &str, default: i64| {
        let given = node.integer(name, default);
        let place = if given < 0 {
            given.saturating_add(rank)
        } else {
            given
        };
        usize::try_from(place.clamp(0, rank)).unwrap_or(0)
    };
    let (start, end) = (limit("start", 0), limit("end", rank));
    let part = lengths.iter().take(end).skip(start);
    constant(Tensor::list(
        part.map(|length| *length as f64).collect(),
        true,
    ))
}

fn lengths(tensor: Option<&Tensor>) -> Result<Vec<usize>, Complaint> {
    let numbers = tensor.ok_or_else(|| odd("it has no shape"))?.integers()?;
    let lengths: Result<Vec<usize>, _> = numbers.into_iter().map(usize::try_from).collect();
    let lengths = lengths.map_err(|_| odd("its shape has a negative length"))?;
    elements(&lengths)?;
    Ok(lengths)
}

fn expand(inputs: &[Option<Value>]) -> Outcome {
    let shape = lengths(known(inputs, 1)?)?;
    match input(inputs, 0)? {
        Value::Constant(tensor) => {
            let zeros = Tensor {
                numbers: vec![0.0; elements(&shape)?],
                shape,
                integer: tensor.integer,
            };
            constant(tensor.zip(&zeros, |x, _| x)?)
        }
        Value::Signal(x) => {
            // Axes of length 1 repeat nothing.
            let own = x.shape();
            let fits = shape.len() <= own.len()
                && shape
                    .iter()
                    .rev()
                    .zip(own.iter().rev())
                    .all(|(a, b)| *a == 1 || a == b);
            if fits {
                Ok(vec![Value::Signal(Rc::clone(x))])
            } else {
                Err(odd(format!("it repeats the row {own:?} to {shape:?}")))
            }
        }
    }
}

fn constant_of_shape(node: &Node, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
    let shape = lengths(known(inputs, 0)?)?;
    let value = match node
        .attribute("value")
        .and_then(|attribute| attribute.tensor.as_ref())
    {
        Some(message) => {
            let folder = super::weight_file::WeightFolder::new(None);
            let tensor = Tensor::decode(message, &folder, &mut network.budget)?;
            let value = tensor.numbers.first().copied();
            (
                value.ok_or_else(|| odd("its value is empty"))?,
                tensor.integer,
            )
        }
        None => (0.0, false),
    };
    constant(Tensor {
        numbers: vec![value.0; elements(&shape)?],
        shape,
        integer: value.1,
    })
}
