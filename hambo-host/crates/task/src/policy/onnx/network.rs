//! The activations of a graph, in the order in which they were met.

use std::f64::consts::SQRT_2;

use super::complaint::Complaint;
use super::signal::{Map, ROUNDING, Signal};
use super::tensor::{Budget, Tensor};

/// More activations than the core's hidden layers, heads included.
const MOST_BASES: usize = 64;

/// How a base comes from the signal before it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// It is the observation.
    Observation,
    /// (observation − mean) / std, kept apart from the first layer: folded into it, a
    /// large mean would cost digits.
    Normalised,
    Relu,
    Tanh,
    Sigmoid,
    Silu,
    /// x, or exp(x) − 1 where x is negative.
    Elu,
    Softplus,
    /// The error function, known only as a part of [`Step::Gelu`].
    Erf,
    /// x · Phi(x).
    Gelu,
    /// x, or this much of it where x is negative.
    LeakyRelu {
        slope: f64,
    },
    /// Each number within its limits, which may be infinite.
    Clip {
        low: Vec<f64>,
        high: Vec<f64>,
    },
}

/// What affine maps start from.
pub(super) struct Base {
    pub step: Step,
    /// What the step is applied to; `None` for the observation.
    pub of: Option<Signal>,
    /// The node, for errors.
    pub node: String,
    pub operator: String,
}

/// All bases; the first is the observation.
pub(super) struct Network {
    bases: Vec<Base>,
    pub budget: Budget,
}

impl Network {
    pub fn new(budget: Budget) -> Self {
        let observation = Base {
            step: Step::Observation,
            of: None,
            node: String::new(),
            operator: String::new(),
        };
        Self {
            bases: vec![observation],
            budget,
        }
    }

    /// The base of a signal.
    pub fn base(&self, signal: &Signal) -> Option<&Base> {
        self.bases.get(signal.base)
    }

    /// A step applied to a signal. The same step on the same signal is the same base,
    /// so that two heads may each bring their own copy of the node.
    pub fn apply(
        &mut self,
        step: Step,
        signal: &Signal,
        (node, operator): (&str, &str),
    ) -> Result<Signal, Complaint> {
        let of = self.normalised(signal)?;
        let index = self.push(step, of, node, operator)?;
        Ok(signal.like(index))
    }

    /// A linear layer.
    pub fn layer(&mut self, signal: &Signal, weights: &Tensor) -> Result<Signal, Complaint> {
        let signal = self.normalised(signal)?;
        signal.multiplied(weights, &mut self.budget)
    }

    fn push(
        &mut self,
        step: Step,
        of: Signal,
        node: &str,
        operator: &str,
    ) -> Result<usize, Complaint> {
        let same = |base: &Base| base.step == step && base.of.as_ref() == Some(&of);
        if let Some(index) = self.bases.iter().position(same) {
            return Ok(index);
        }
        if self.bases.len() >= MOST_BASES {
            let problem = format!("there are more than {MOST_BASES} activations");
            return Err(Complaint::new(problem, "export a smaller network"));
        }
        self.bases.push(Base {
            step,
            of: Some(of),
            node: node.to_owned(),
            operator: operator.to_owned(),
        });
        Ok(self.bases.len() - 1)
    }

    /// A scaled observation becomes a base of its own.
    fn normalised(&mut self, signal: &Signal) -> Result<Signal, Complaint> {
        let Map::Diagonal(factors) = signal.map.as_ref() else {
            return Ok(signal.clone());
        };
        let is_observation = self
            .base(signal)
            .is_some_and(|b| b.step == Step::Observation);
        let is_identity =
            factors.iter().all(|x| *x == 1.0) && signal.offset.iter().all(|x| *x == 0.0);
        // Others are folded into the layer that follows.
        let sensible = factors.iter().all(|x| (1e-20..1e20).contains(x));
        if !is_observation || is_identity || !sensible {
            return Ok(signal.clone());
        }
        let index = self.push(Step::Normalised, signal.clone(), "", "")?;
        Ok(signal.like(index))
    }

    /// x · sigmoid(x), if the second signal is the sigmoid of the first.
    pub fn silu(
        &mut self,
        x: &Signal,
        sigmoid: &Signal,
        place: (&str, &str),
    ) -> Result<Option<Signal>, Complaint> {
        let normalised = self.normalised(x)?;
        let plain = *sigmoid == sigmoid.like(sigmoid.base);
        let matches =
            |base: &Base| base.step == Step::Sigmoid && base.of.as_ref() == Some(&normalised);
        if plain && self.base(sigmoid).is_some_and(matches) {
            return self.apply(Step::Silu, x, place).map(Some);
        }
        Ok(None)
    }

    /// A multiple of the GELU, if the signals are d · u and b + b · erf(u): their product is
    /// d · b · sqrt(2) · GELU(sqrt(2) · u).
    pub fn gelu(
        &mut self,
        x: &Signal,
        gate: &Signal,
        place: (&str, &str),
    ) -> Result<Option<Signal>, Complaint> {
        let Some(Base {
            step: Step::Erf,
            of: Some(of),
            ..
        }) = self.base(gate)
        else {
            return Ok(None);
        };
        let of = of.clone();
        let x = self.normalised(x)?;
        let (Some(ratio), Map::Diagonal(factors)) = (x.multiple_of(&of), gate.map.as_ref()) else {
            return Ok(None);
        };
        let mut pairs = factors.iter().zip(&gate.offset);
        if pairs.any(|(factor, offset)| (factor - offset).abs() > ROUNDING * factor.abs()) {
            return Ok(None);
        }
        let gains = factors.iter().zip(ratio);
        let gains: Vec<f64> = gains.map(|(b, d)| b * d * SQRT_2).collect();
        let (larger, zero) = (vec![SQRT_2; of.width()], vec![0.0; of.width()]);
        let argument = of.scaled(Some(&larger), &zero, 0, &mut self.budget)?;
        let gelu = self.apply(Step::Gelu, &argument, place)?;
        gelu.scaled(Some(&gains), &zero, 0, &mut self.budget)
            .map(Some)
    }
}
