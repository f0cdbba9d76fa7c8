//! What a node of a network computes, as an affine map of the activations before it.
//!
//! Everything between two activations is one affine map, whatever nodes it is
//! written with: Gemm, MatMul + Add, normalisation, scaling, splits. So a value of the
//! graph is kept as map · base + offset in f64, where the base is the observation or
//! the outcome of an activation, and is rounded to f32 once, at the end.

use std::rc::Rc;

use super::complaint::Complaint;
use super::tensor::{Budget, Tensor};

/// By how much numbers may differ, relatively, that a file rounds to f32.
pub(super) const ROUNDING: f64 = 1e-6;

/// A linear map, rows × columns.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Map {
    /// Each number by its own factor.
    Diagonal(Vec<f64>),
    /// Row-major.
    Dense { columns: usize, numbers: Vec<f64> },
}

/// map · base + offset.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Signal {
    /// Index of the base in the network's list.
    pub base: usize,
    pub map: Rc<Map>,
    pub offset: Vec<f64>,
    /// Dimensions before the one of the numbers; each has length 1 for one observation.
    pub leading: usize,
    /// Dimensions of length 1 after it, as convolutions have them; none where one number
    /// is the whole signal.
    pub trailing: usize,
}

impl Signal {
    /// The base itself.
    pub fn identity(base: usize, width: usize, leading: usize) -> Self {
        Self {
            base,
            map: Rc::new(Map::Diagonal(vec![1.0; width])),
            offset: vec![0.0; width],
            leading,
            trailing: 0,
        }
    }

    /// A base in the shape of this signal.
    pub fn like(&self, base: usize) -> Self {
        Self {
            trailing: self.trailing,
            ..Self::identity(base, self.width(), self.leading)
        }
    }

    pub fn width(&self) -> usize {
        self.offset.len()
    }

    /// The shape for one observation.
    pub fn shape(&self) -> Vec<usize> {
        let mut shape = vec![1; self.leading];
        shape.push(self.width());
        shape.resize(self.rank(), 1);
        shape
    }

    pub fn rank(&self) -> usize {
        self.leading + 1 + self.trailing
    }

    /// The same numbers along `axis` of `rank` axes; a single number lies along any.
    pub fn placed(self, axis: usize, rank: usize) -> Self {
        let after = rank.saturating_sub(1).saturating_sub(axis);
        let trailing = if self.width() == 1 { 0 } else { after };
        Self {
            leading: rank.saturating_sub(1).saturating_sub(trailing),
            trailing,
            ..self
        }
    }

    /// Whether the numbers lie along this axis.
    pub fn lies_along(&self, axis: usize) -> bool {
        self.leading == axis || (self.width() == 1 && axis < self.rank())
    }

    /// One number for each of the signal's, from a constant that is broadcast.
    pub fn row(&self, constant: &Tensor) -> Result<Vec<f64>, Complaint> {
        let width = self.width();
        let numbers = &constant.numbers;
        let aligned = constant.shape.iter().rev().nth(self.trailing);
        let fits = aligned == Some(&width) && numbers.len() == width;
        match *numbers.as_slice() {
            [value] => Ok(vec![value; width]),
            _ if fits => Ok(numbers.clone()),
            _ => Err(Complaint::new(
                format!(
                    "a constant of shape {:?} does not fit {width} numbers",
                    constant.shape
                ),
                "give one number, or one for each of them",
            )),
        }
    }

    /// factor · signal + shift, number by number. The rank may grow to that of a
    /// constant it was broadcast with.
    pub fn scaled(
        &self,
        factor: Option<&[f64]>,
        shift: &[f64],
        rank: usize,
        budget: &mut Budget,
    ) -> Result<Self, Complaint> {
        let ones = vec![1.0; self.width()];
        let factors = factor.unwrap_or(&ones);
        let numbers = factors.iter().chain(shift);
        if let Some(value) = numbers.into_iter().find(|x| !x.is_finite()) {
            return Err(not_finite(*value));
        }
        let pairs = self.offset.iter().zip(factors).zip(shift);
        let offset = pairs.map(|((o, f), s)| o * f + s).collect();
        let map = match factor {
            None => Rc::clone(&self.map),
            Some(factors) => Rc::new(match self.map.as_ref() {
                Map::Diagonal(diagonal) => {
                    let pairs = diagonal.iter().zip(factors);
                    Map::Diagonal(pairs.map(|(d, f)| d * f).collect())
                }
                Map::Dense { columns, numbers } => {
                    budget.keep(numbers.len())?;
                    let rows = numbers.chunks(*columns).zip(factors);
                    Map::Dense {
                        columns: *columns,
                        numbers: rows
                            .flat_map(|(row, f)| row.iter().map(move |x| x * f))
                            .collect(),
                    }
                }
            }),
        };
        Ok(Self {
            base: self.base,
            map,
            offset,
            leading: self.leading.max(rank.saturating_sub(1 + self.trailing)),
            trailing: self.trailing,
        })
    }

    /// A linear layer: `weights` is inputs × outputs.
    pub fn multiplied(&self, weights: &Tensor, budget: &mut Budget) -> Result<Self, Complaint> {
        let (inputs, outputs) = weights.matrix_shape()?;
        if self.trailing > 0 {
            let problem = format!("it multiplies the last axis of {:?}", self.shape());
            let help = "flatten the observation before the layer";
            return Err(Complaint::new(problem, help));
        }
        if inputs != self.width() {
            return Err(Complaint::new(
                format!("{} numbers meet weights for {inputs}", self.width()),
                "export a model whose layers fit each other",
            ));
        }
        if outputs == 0 || inputs == 0 {
            return Err(Complaint::new(
                "a layer is empty",
                "give every layer a unit",
            ));
        }
        if let Some(value) = weights.numbers.iter().find(|x| !x.is_finite()) {
            return Err(not_finite(*value));
        }
        let columns = self.map.columns();
        let kept = outputs.saturating_mul(columns);
        budget.keep(kept)?;
        let mut numbers = vec![0.0; kept];
        let mut offset = vec![0.0; outputs];
        let rows = weights.numbers.chunks(outputs).enumerate();
        match self.map.as_ref() {
            Map::Diagonal(diagonal) => {
                for ((input, row), factor) in rows.clone().zip(diagonal) {
                    for (output, weight) in row.iter().enumerate() {
                        if let Some(to) = numbers.get_mut(output * columns + input) {
                            *to = weight * factor;
                        }
                    }
                }
            }
            Map::Dense { numbers: old, .. } => {
                budget.multiply([inputs, outputs, columns])?;
                for ((_, row), old) in rows.clone().zip(old.chunks(columns)) {
                    for (to, weight) in numbers.chunks_mut(columns).zip(row) {
                        for (to, old) in to.iter_mut().zip(old) {
                            *to += weight * old;
                        }
                    }
                }
            }
        }
        for ((_, row), before) in rows.zip(&self.offset) {
            for (to, weight) in offset.iter_mut().zip(row) {
                *to += weight * before;
            }
        }
        Ok(Self {
            base: self.base,
            map: Rc::new(Map::Dense { columns, numbers }),
            offset,
            leading: self.leading,
            trailing: 0,
        })
    }

    /// The numbers at these places.
    pub fn selected(&self, places: &[usize], budget: &mut Budget) -> Result<Self, Complaint> {
        let outside = || {
            let problem = format!("a place beyond the {} numbers is asked for", self.width());
            Complaint::new(problem, "export the model again")
        };
        let offset: Option<Vec<f64>> = places
            .iter()
            .map(|p| self.offset.get(*p).copied())
            .collect();
        let offset = offset
            .filter(|offset| !offset.is_empty())
            .ok_or_else(outside)?;
        let all = places.len() == self.width() && places.iter().enumerate().all(|(i, p)| i == *p);
        if all {
            return Ok(self.clone());
        }
        let columns = self.map.columns();
        budget.keep(places.len().saturating_mul(columns))?;
        let rows = places.iter().map(|place| self.map.row(*place));
        Ok(Self {
            base: self.base,
            map: Rc::new(Map::Dense {
                columns,
                numbers: rows.collect::<Vec<_>>().concat(),
            }),
            offset,
            leading: self.leading,
            trailing: self.trailing,
        }
        .placed(self.leading, self.rank()))
    }

    /// One signal's numbers after the other's; `None` if their bases differ.
    pub fn stacked(&self, other: &Self, budget: &mut Budget) -> Result<Option<Self>, Complaint> {
        if self.base != other.base {
            return Ok(None);
        }
        let columns = self.map.columns();
        let rows = self.width() + other.width();
        budget.keep(rows.saturating_mul(columns))?;
        let above = (0..self.width()).flat_map(|row| self.map.row(row));
        let below = (0..other.width()).flat_map(|row| other.map.row(row));
        Ok(Some(Self {
            base: self.base,
            map: Rc::new(Map::Dense {
                columns,
                numbers: above.chain(below).collect(),
            }),
            offset: self.offset.iter().chain(&other.offset).copied().collect(),
            leading: self.leading.max(other.leading),
            trailing: self.trailing,
        }))
    }

    /// The factor of each number, if this signal is a multiple of the other but for rounding.
    pub fn multiple_of(&self, other: &Self) -> Option<Vec<f64>> {
        if self.base != other.base || self.width() != other.width() {
            return None;
        }
        let with_offset = |signal: &Self, row: usize| {
            let mut numbers = signal.map.row(row);
            numbers.extend(signal.offset.get(row));
            numbers
        };
        let factor = |row: usize| {
            let (own, of) = (with_offset(self, row), with_offset(other, row));
            let pairs = || own.iter().zip(&of);
            let (mine, largest) = pairs().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))?;
            let factor = mine / largest;
            let slack = ROUNDING * mine.abs();
            let all = pairs().all(|(own, of)| (own - factor * of).abs() <= slack);
            (factor.is_finite() && all).then_some(factor)
        };
        (0..self.width()).map(factor).collect()
    }

    /// The sum of two signals; `None` if their bases or widths differ.
    pub fn plus(
        &self,
        other: &Self,
        sign: f64,
        budget: &mut Budget,
    ) -> Result<Option<Self>, Complaint> {
        let fits = self.width() == other.width() && self.trailing == other.trailing;
        if self.base != other.base || !fits {
            return Ok(None);
        }
        let columns = self.map.columns();
        budget.keep(self.width().saturating_mul(columns))?;
        let rows = (0..self.width()).map(|row| (self.map.row(row), other.map.row(row)));
        let numbers = rows.flat_map(|(a, b)| {
            let pairs = a.into_iter().zip(b);
            pairs.map(|(a, b)| a + sign * b).collect::<Vec<_>>()
        });
        let offsets = self.offset.iter().zip(&other.offset);
        Ok(Some(Self {
            base: self.base,
            map: Rc::new(Map::Dense {
                columns,
                numbers: numbers.collect(),
            }),
            offset: offsets.map(|(a, b)| a + sign * b).collect(),
            leading: self.leading.max(other.leading),
            trailing: self.trailing,
        }))
    }
}

impl Map {
    /// Numbers of the base.
    pub fn columns(&self) -> usize {
        match self {
            Self::Diagonal(diagonal) => diagonal.len(),
            Self::Dense { columns, .. } => *columns,
        }
    }

    /// One row, zeros included.
    pub fn row(&self, row: usize) -> Vec<f64> {
        match self {
            Self::Diagonal(diagonal) => {
                let numbers = diagonal.iter().enumerate();
                numbers
                    .map(|(i, x)| if i == row { *x } else { 0.0 })
                    .collect()
            }
            Self::Dense { columns, numbers } => {
                let start = row.saturating_mul(*columns);
                let end = start.saturating_add(*columns);
                numbers.get(start..end).unwrap_or_default().to_vec()
            }
        }
    }
}

fn not_finite(value: f64) -> Complaint {
    let help = "train again, or mend the weights";
    Complaint::new(format!("a weight is {value}"), help)
}
