//! Layer after layer from the head back to the observation.

use hambo_core::numeric::network::MAX_HIDDEN_LAYERS;

use super::complaint::Complaint;
use super::network::{Network, Step};
use super::signal::{Map, Signal};
use super::tensor::Budget;
use crate::policy::onnx_error::OnnxError;
use hambo_base::network::{Activation, Layer};

/// One layer in f64.
pub(super) struct Affine {
    inputs: usize,
    weights: Vec<f64>,
    bias: Vec<f64>,
}

impl Affine {
    fn new(signal: &Signal) -> Self {
        let rows = 0..signal.width();
        Self {
            inputs: signal.map.columns(),
            weights: rows.flat_map(|row| signal.map.row(row)).collect(),
            bias: signal.offset.clone(),
        }
    }

    /// After sigmoid(x) = ½ + ½ tanh(x / 2): this layer then reads the tanh.
    fn after_sigmoid(&mut self) {
        for (row, bias) in self.weights.chunks_mut(self.inputs).zip(&mut self.bias) {
            for weight in row.iter_mut() {
                *weight /= 2.0;
            }
            *bias += row.iter().sum::<f64>();
        }
    }

    /// The only rounding.
    pub fn rounded(&self) -> Result<Layer, Complaint> {
        let round = |numbers: &[f64]| -> Vec<f32> { numbers.iter().map(|x| *x as f32).collect() };
        let layer = Layer {
            inputs: self.inputs,
            outputs: self.bias.len(),
            weights: round(&self.weights),
            bias: round(&self.bias),
        };
        if layer
            .weights
            .iter()
            .chain(&layer.bias)
            .any(|x| !x.is_finite())
        {
            let help = "scale the observations or train again";
            return Err(Complaint::new("a weight is beyond what f32 can hold", help));
        }
        if layer.inputs.max(layer.outputs) > usize::from(u16::MAX) {
            let help = "export a smaller network";
            return Err(Complaint::new("it has more than 65535 units", help));
        }
        Ok(layer)
    }
}

/// The layers from the last to the first, and what lies between them.
pub(super) struct Chain {
    pub layers: Vec<Affine>,
    steps: Vec<Activation>,
    pub mean: Vec<f64>,
    pub std: Vec<f64>,
}

impl Chain {
    pub fn new(last: Signal, network: &Network) -> Result<Self, OnnxError> {
        let mut signal = last;
        let mut layers = Vec::new();
        let mut steps = Vec::new();
        loop {
            let mut affine = Affine::new(&signal);
            let width = affine.inputs;
            let Some((base, Some(of))) = network.base(&signal).map(|base| (base, &base.of)) else {
                layers.push(affine);
                return Ok(Self {
                    layers,
                    steps,
                    mean: vec![0.0; width],
                    std: vec![1.0; width],
                });
            };
            let complain = |complaint: Complaint| complaint.of_node(&base.node, &base.operator);
            let activation = match &base.step {
                Step::Observation | Step::Normalised => {
                    let Map::Diagonal(factors) = of.map.as_ref() else {
                        let help = "report this file";
                        return Err(complain(Complaint::new(
                            "an observation is not scaled",
                            help,
                        )));
                    };
                    layers.push(affine);
                    let pairs = of.offset.iter().zip(factors);
                    return Ok(Self {
                        layers,
                        steps,
                        mean: pairs
                            .map(|(offset, factor)| 0.0 - offset / factor)
                            .collect(),
                        std: factors.iter().map(|factor| factor.recip()).collect(),
                    });
                }
                Step::Relu => Activation::Relu,
                Step::Tanh => Activation::Tanh,
                Step::Silu => Activation::Silu,
                Step::Gelu => Activation::Gelu,
                Step::Erf => {
                    let help = "multiply it by its argument, as the GELU does";
                    return Err(complain(Complaint::new("it is an erf of its own", help)));
                }
                Step::Elu => Activation::Elu,
                Step::Softplus => Activation::Softplus,
                Step::Sigmoid => {
                    affine.after_sigmoid();
                    Activation::Tanh
                }
                Step::Clip { .. } | Step::LeakyRelu { .. } => Activation::Relu,
            };
            signal = match &base.step {
                Step::Sigmoid => halved(of).map_err(complain)?,
                Step::Clip { low, high } => {
                    clipped(of, (low, high), &mut affine).map_err(complain)?
                }
                Step::LeakyRelu { slope } => leaked(of, *slope, &mut affine).map_err(complain)?,
                _ => of.clone(),
            };
            layers.push(affine);
            steps.push(activation);
            if steps.len() > MAX_HIDDEN_LAYERS {
                let problem = format!("there are more than {MAX_HIDDEN_LAYERS} hidden layers");
                return Err(complain(Complaint::new(
                    problem,
                    "export a shallower network",
                )));
            }
        }
    }

    /// The activations of the hidden layers, the first layer's first.
    pub fn activations(&self) -> Vec<Activation> {
        self.steps.iter().rev().copied().collect()
    }
}

/// clip(x) = low + relu(x − low) − relu(x − high), exactly; the layer after it reads
/// the two halves.
fn clipped(
    of: &Signal,
    (low, high): (&[f64], &[f64]),
    after: &mut Affine,
) -> Result<Signal, Complaint> {
    if !low.iter().chain(high).all(|x| x.is_finite()) {
        let help = "clip on both sides, or not at all";
        return Err(Complaint::new(
            "it clips on one side inside the network",
            help,
        ));
    }
    let budget = &mut Budget::default();
    let minus = |limit: &[f64]| -> Vec<f64> { limit.iter().map(|x| -x).collect() };
    let above_low = of.scaled(None, &minus(low), 0, budget)?;
    let above_high = of.scaled(None, &minus(high), 0, budget)?;
    let Some(stacked) = above_low.stacked(&above_high, budget)? else {
        return Err(Complaint::new(
            "it has no layer before it",
            "report this file",
        ));
    };
    let mut weights = Vec::with_capacity(after.weights.len() * 2);
    for (row, bias) in after.weights.chunks(after.inputs).zip(&mut after.bias) {
        weights.extend_from_slice(row);
        weights.extend(row.iter().map(|x| -x));
        *bias += row
            .iter()
            .zip(low)
            .map(|(weight, low)| weight * low)
            .sum::<f64>();
    }
    after.weights = weights;
    after.inputs *= 2;
    Ok(stacked)
}

/// leaky(x) = relu(x) − slope · relu(−x), exactly; the layer after it reads the two halves.
fn leaked(of: &Signal, slope: f64, after: &mut Affine) -> Result<Signal, Complaint> {
    let budget = &mut Budget::default();
    let (minus, zero) = (vec![-1.0; of.width()], vec![0.0; of.width()]);
    let negated = of.scaled(Some(&minus), &zero, 0, budget)?;
    let Some(stacked) = of.stacked(&negated, budget)? else {
        return Err(Complaint::new(
            "it has no layer before it",
            "report this file",
        ));
    };
    let mut weights = Vec::with_capacity(after.weights.len() * 2);
    for row in after.weights.chunks(after.inputs) {
        weights.extend_from_slice(row);
        weights.extend(row.iter().map(|weight| -slope * weight));
    }
    after.weights = weights;
    after.inputs *= 2;
    Ok(stacked)
}

/// Half of a signal, as sigmoid(x) = ½ + ½ tanh(x / 2) wants it.
pub(super) fn halved(signal: &Signal) -> Result<Signal, Complaint> {
    let half = vec![0.5; signal.width()];
    let zero = vec![0.0; signal.width()];
    // Not the file's own doing, so not on its account.
    signal.scaled(Some(&half), &zero, 0, &mut Budget::default())
}
