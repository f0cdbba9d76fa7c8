//! Operators that cut values into pieces and put pieces together.

use std::rc::Rc;

use super::complaint::Complaint;
use super::message::Node;
use super::network::Network;
use super::signal::Signal;
use super::tensor::{Tensor, elements};
use super::value::{
    Outcome, Value, constant, input, integers, known, odd, place, shape_of, signal,
};

pub(super) fn concat(node: &Node, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
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
            (Value::Signal(a), Value::Signal(b))
                if a.lies_along(axis) && b.lies_along(axis) && a.rank() == b.rank() =>
            {
                match a.stacked(b, &mut network.budget)? {
                    Some(stacked) => Value::Signal(Rc::new(stacked.placed(axis, a.rank()))),
                    None => return Err(odd("it joins different branches of the network")),
                }
            }
            _ => return Err(odd("it joins values of different kinds")),
        };
    }
    Ok(vec![whole])
}

/// The width of a signal if its numbers lie along the axis.
fn own_axis(x: &Signal, axis: i64) -> Result<usize, Complaint> {
    if x.lies_along(place(axis, x.rank())?) {
        Ok(x.width())
    } else {
        Err(odd("it works along the batch"))
    }
}

pub(super) fn split(node: &Node, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
    let Value::Signal(x) = input(inputs, 0)? else {
        return Err(odd("it splits a constant"));
    };
    let width = own_axis(x, node.integer("axis", 0))?;
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

pub(super) fn slice(node: &Node, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
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
            let width = own_axis(x, axis)?;
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

pub(super) fn gather(node: &Node, inputs: &[Option<Value>], network: &mut Network) -> Outcome {
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
            let width = own_axis(x, axis)?;
            let found = x.selected(&places(width)?, &mut network.budget)?;
            // A single place takes the axis away.
            let lost = usize::from(index.shape.is_empty());
            let rank = found.rank().saturating_sub(lost);
            let axis = found.leading.min(rank.saturating_sub(1));
            signal(found.placed(axis, rank))
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
