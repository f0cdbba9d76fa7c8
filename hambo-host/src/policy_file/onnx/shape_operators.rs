//! Operators that move numbers without changing them.

use std::rc::Rc;

use super::error::Complaint;
use super::evaluate::Value;
use super::message::Node;
use super::network::Network;
use super::operators::{Outcome, constant, input, known, signal};
use super::signal::Signal;
use super::tensor::{Tensor, elements};

/// `None` if it is not one of these.
pub(super) fn apply(
    node: &Node<'_>,
    inputs: &[Option<Value>],
    network: &mut Network,
) -> Option<Outcome> {
    Some(match node.operator {
        "Identity" | "Dropout" | "CastLike" => input(inputs, 0).map(|value| vec![value.clone()]),
        "Cast" => cast(node, inputs),
        "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" => reshape(node, inputs),
        "Transpose" => transpose(node, inputs),
        "Shape" => shape(node, inputs),
        "Expand" => expand(inputs),
        "ConstantOfShape" => constant_of_shape(node, inputs, network),
        "Concat" => concat(node, inputs, network),
        "Split" => split(node, inputs, network),
        "Slice" => slice(node, inputs, network),
        "Gather" => gather(node, inputs, network),
        _ => return None,
    })
}

fn odd(problem: impl Into<String>) -> Complaint {
    let help = "export a plain perceptron: vectors in, vectors out";
    Complaint::new(problem, help)
}

fn shape_of(value: &Value) -> Vec<usize> {
    match value {
        Value::Constant(tensor) => tensor.shape.clone(),
        Value::Signal(signal) => signal.shape(),
    }
}

/// An axis counted from the front.
fn place(axis: i64, rank: usize) -> Result<usize, Complaint> {
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
fn integers(
    node: &Node<'_>,
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

fn cast(node: &Node<'_>, inputs: &[Option<Value>]) -> Outcome {
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
fn reshape(node: &Node<'_>, inputs: &[Option<Value>]) -> Outcome {
    let value = input(inputs, 0)?;
    let old = shape_of(value);
    let axes = || integers(node, "axes", inputs, 1);
    let new = match node.operator {
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
            let lengths = (0..rank).map(|i| match axes.contains(&i) {
                true => Some(1),
                false => rest.next().copied(),
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

/// A signal stays a row: only axes of length 1 may come and go.
fn reshaped(x: &Signal, shape: &[usize]) -> Result<Signal, Complaint> {
    let leading = shape.len().saturating_sub(1);
    let last = shape.last().copied().unwrap_or(1);
    let others = shape.iter().take(leading).all(|length| *length == 1);
    if last != x.width() || !others {
        let problem = format!("it changes the row {:?} to {shape:?}", x.shape());
        return Err(odd(problem));
    }
    Ok(Signal {
        leading,
        ..x.clone()
    })
}

fn transpose(node: &Node<'_>, inputs: &[Option<Value>]) -> Outcome {
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
        _ => Err(odd("it moves the axes of more than a weight matrix")),
    }
}

fn shape(node: &Node<'_>, inputs: &[Option<Value>]) -> Outcome {
    if node.attribute("start").is_some() || node.attribute("end").is_some() {
        return Err(odd("it takes a part of a shape"));
    }
    let lengths = shape_of(input(inputs, 0)?);
    let lengths = lengths.into_iter().map(|length| length as f64);
    constant(Tensor::list(lengths.collect(), true))
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
            match fits {
                true => Ok(vec![Value::Signal(Rc::clone(x))]),
                false => Err(odd(format!("it repeats the row {own:?} to {shape:?}"))),
            }
        }
    }
}

fn constant_of_shape(node: &Node<'_>, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
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

fn concat(node: &Node<'_>, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
    let first = input(inputs, 0)?;
    let shape = shape_of(first);
    let axis = place(node.integer("axis", 0), shape.len())?;
    // With 1 before the axis, one piece simply follows the other.
    if shape.iter().take(axis).any(|length| *length != 1) {
        return Err(odd("it interleaves rows"));
    }
    let mut whole = first.clone();
    for index in 1..inputs.len() {
        whole = match (&whole, input(inputs, index)?) {
            (Value::Constant(a), Value::Constant(b)) => {
                let mut shape = a.shape.clone();
                let same = b.shape.len() == shape.len()
                    && (0..shape.len()).all(|i| i == axis || a.shape.get(i) == b.shape.get(i));
                let longer = shape.get_mut(axis).zip(b.shape.get(axis));
                let Some((length, more)) = longer.filter(|_| same) else {
                    return Err(odd(format!(
                        "shapes {:?} and {:?} do not fit",
                        a.shape, b.shape
                    )));
                };
                *length = length.saturating_add(*more);
                let count = elements(&shape)?;
                // A long list of pieces copies what is there again and again.
                network.budget.keep(count)?;
                Value::Constant(Rc::new(Tensor {
                    shape,
                    numbers: [a.numbers.as_slice(), &b.numbers].concat(),
                    integer: a.integer,
                }))
            }
            (Value::Signal(a), Value::Signal(b)) if axis == a.leading && axis == b.leading => {
                match a.stacked(b, &mut network.budget)? {
                    Some(stacked) => Value::Signal(Rc::new(stacked)),
                    None => return Err(odd("it joins different branches of the network")),
                }
            }
            _ => return Err(odd("it joins values of different kinds")),
        };
    }
    Ok(vec![whole])
}

/// The width of a signal if the axis is its last.
fn last_axis(x: &Signal, axis: i64) -> Result<usize, Complaint> {
    if place(axis, x.leading + 1)? == x.leading {
        Ok(x.width())
    } else {
        Err(odd("it works along the batch"))
    }
}

fn split(node: &Node<'_>, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
    let Value::Signal(x) = input(inputs, 0)? else {
        return Err(odd("it splits a constant"));
    };
    let width = last_axis(x, node.integer("axis", 0))?;
    let count = node.outputs.len().max(1);
    let sizes: Vec<usize> = match integers(node, "split", inputs, 1)? {
        Some(sizes) => {
            let sizes: Result<Vec<usize>, _> = sizes.into_iter().map(usize::try_from).collect();
            sizes.map_err(|_| odd("a part has a negative size"))?
        }
        None => {
            let part = width.div_ceil(count);
            let starts = (0..count).map(|i| (i * part).min(width));
            starts.map(|start| part.min(width - start)).collect()
        }
    };
    let sum = sizes.iter().try_fold(0_usize, |a, b| a.checked_add(*b));
    if sum != Some(width) || sizes.len() != count {
        return Err(odd(format!("its parts {sizes:?} are not {width} numbers")));
    }
    let mut start = 0;
    let mut parts = Vec::new();
    for size in sizes {
        let places: Vec<usize> = (start..start + size).collect();
        parts.push(Value::Signal(Rc::new(
            x.selected(&places, &mut network.budget)?,
        )));
        start += size;
    }
    Ok(parts)
}

fn slice(node: &Node<'_>, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
    let one =
        |name: &str, index: usize, default: Option<i64>| match integers(node, name, inputs, index)?
            .as_deref()
        {
            None => default.ok_or_else(|| odd("it has no limits")),
            Some([value]) => Ok(*value),
            Some(_) => Err(odd("it cuts along several axes")),
        };
    let (start, end) = (one("starts", 1, None)?, one("ends", 2, None)?);
    let axis = one("axes", 3, Some(0))?;
    if one("steps", 4, Some(1))? != 1 {
        return Err(odd("it leaves out every other number"));
    }
    let cut = |width: usize| {
        let width = i64::try_from(width).unwrap_or(i64::MAX);
        let place = |x: i64| {
            let x = if x < 0 { x.saturating_add(width) } else { x };
            usize::try_from(x.clamp(0, width)).unwrap_or(0)
        };
        place(start)..place(end)
    };
    match input(inputs, 0)? {
        Value::Signal(x) => {
            let width = last_axis(x, axis)?;
            let places: Vec<usize> = cut(width).collect();
            signal(x.selected(&places, &mut network.budget)?)
        }
        Value::Constant(tensor) if tensor.shape.len() == 1 && axis == 0 => {
            let numbers = tensor.numbers.get(cut(tensor.numbers.len()));
            constant(Tensor::list(
                numbers.unwrap_or_default().to_vec(),
                tensor.integer,
            ))
        }
        Value::Constant(_) => Err(odd("it cuts a constant of several axes")),
    }
}

fn gather(node: &Node<'_>, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
    let axis = node.integer("axis", 0);
    let index = known(inputs, 1)?.ok_or_else(|| odd("it has no places"))?;
    if index.shape.len() > 1 {
        return Err(odd("its places are a matrix"));
    }
    let places = |width: usize| -> Result<Vec<usize>, Complaint> {
        let places = index.integers()?;
        places.into_iter().map(|p| place(p, width)).collect()
    };
    match input(inputs, 0)? {
        Value::Signal(x) => {
            let width = last_axis(x, axis)?;
            let found = x.selected(&places(width)?, &mut network.budget)?;
            // A single place takes the axis away.
            let lost = usize::from(index.shape.is_empty());
            signal(Signal {
                leading: found.leading.saturating_sub(lost),
                ..found
            })
        }
        Value::Constant(tensor) if tensor.shape.len() == 1 => {
            let places = places(tensor.numbers.len())?;
            let numbers: Option<Vec<f64>> = places
                .into_iter()
                .map(|p| tensor.numbers.get(p).copied())
                .collect();
            constant(Tensor {
                shape: index.shape.clone(),
                numbers: numbers.unwrap_or_default(),
                integer: tensor.integer,
            })
        }
        Value::Constant(_) => Err(odd("it picks from a constant of several axes")),
    }
}
