//! From the outputs of a graph to a policy: the head, then layer after layer back to
//! the observation.

use std::rc::Rc;

use hambo_core::network::MAX_HIDDEN_LAYERS;
use hambo_core::policy::{Head, LOG_STD_HIGH, LOG_STD_LOW, Spread};

use super::error::{Complaint, OnnxError, shown};
use super::evaluate::{Outputs, Value};
use super::network::{Network, Step};
use super::signal::{Map, Signal};
use super::{Chance, OnnxOptions};
use crate::policy_file::{ActionMap, PerceptronPolicy};
use crate::task_file::TaskFile;
use crate::training::{Activation, Layer};

pub(super) fn assemble(
    outputs: Outputs<'_>,
    network: &mut Network,
    options: &OnnxOptions,
    task: &TaskFile,
) -> Result<PerceptronPolicy, OnnxError> {
    let names: Vec<String> = outputs
        .iter()
        .take(8)
        .map(|(name, _)| shown(name))
        .collect();
    let head = HeadParts::new(outputs, network, options, task).map_err(|complaint| {
        let problem = format!("the outputs [{}]: {}", names.join(", "), complaint.problem);
        Complaint::new(problem, complaint.help).of_model()
    })?;
    let chain = Chain::new(head.signal, network)?;
    let activation = chain.activation()?;
    let mut layers = Vec::new();
    for (index, affine) in chain.layers.iter().rev().enumerate() {
        layers.push(affine.rounded().map_err(|complaint| {
            let problem = format!("layer {index}: {}", complaint.problem);
            Complaint::new(problem, complaint.help).of_model()
        })?);
    }
    Ok(PerceptronPolicy {
        layers,
        activation,
        observation_mean: chain.mean.iter().map(|x| *x as f32).collect(),
        observation_scale: chain.std.iter().map(|x| *x as f32).collect(),
        actions: head.actions,
    })
}

/// The last signal and what follows it.
struct HeadParts {
    signal: Signal,
    actions: ActionMap,
}

/// What is left of the mean once tanh and scaling are taken off it.
struct Mean {
    signal: Signal,
    squashed: bool,
    scale: Vec<f64>,
    offset: Vec<f64>,
}

impl HeadParts {
    fn new(
        outputs: Outputs<'_>,
        network: &mut Network,
        options: &OnnxOptions,
        task: &TaskFile,
    ) -> Result<Self, Complaint> {
        let actions = task.action_names.len();
        let mut values = outputs.into_iter().map(|(_, value)| value);
        let (mean, log_std) = match (values.next(), values.next(), values.next()) {
            (Some(mean), log_std, None) => (mean, log_std),
            _ => {
                let problem = "a controller has one (the action) or two (mean and log_std)";
                let help = "export the actor alone, without value, log-probability or sample";
                return Err(Complaint::new(problem, help));
            }
        };
        let Value::Signal(mean) = mean else {
            let help = "for a constant controller write a policy file with kind = \"constant\"";
            return Err(Complaint::new(
                "the action does not depend on the state",
                help,
            ));
        };
        let mut mean = mean.as_ref().clone();
        let mut log_std = log_std;
        if log_std.is_none() && options.chance.is_some() && mean.width() == 2 * actions {
            let budget = &mut network.budget;
            let first: Vec<usize> = (0..actions).collect();
            let second: Vec<usize> = (actions..2 * actions).collect();
            log_std = Some(Value::Signal(Rc::new(mean.selected(&second, budget)?)));
            mean = mean.selected(&first, budget)?;
        }
        if mean.width() != actions {
            let found = mean.width();
            let problem = format!("{found} numbers come out, the task names {actions} actions");
            let help = "choose the task of this controller; where mean and log_std are one \
                        output, say head = \"gaussian\" or \"tanh_gaussian\"";
            return Err(Complaint::new(problem, help));
        }
        if options.squash {
            mean = network.apply(Step::Tanh, &mean, ("squash", "Tanh"))?;
        }
        let deterministic = match options.chance {
            Some(chance) => chance == Chance::Deterministic,
            None => log_std.is_none(),
        };
        if deterministic {
            mean = within_limits(mean, network, options, task)?;
        }
        let mean = Mean::new(mean, network)?;
        let mut head = match (deterministic, log_std) {
            (true, _) => Self::deterministic(mean),
            (false, Some(log_std)) => {
                let chance = match (options.chance, mean.squashed) {
                    (Some(chance), _) => chance,
                    (None, true) => Chance::TanhGaussian,
                    (None, false) => Chance::Gaussian,
                };
                Self::stochastic(mean, &log_std, chance, network)?
            }
            (false, None) => {
                let help = "export mean and log_std, or say head = \"deterministic\"";
                return Err(Complaint::new(
                    "the head needs a log_std, and there is none",
                    help,
                ));
            }
        };
        let map = &mut head.actions;
        let ones = vec![1.0; actions];
        let zeros = vec![0.0; actions];
        let scale = options.action_scale.as_deref().unwrap_or(&ones);
        let offset = options.action_offset.as_deref().unwrap_or(&zeros);
        for (((s, o), scale), offset) in map
            .scale
            .iter_mut()
            .zip(&mut map.offset)
            .zip(scale)
            .zip(offset)
        {
            *s = (f64::from(*s) * f64::from(*scale)) as f32;
            *o = (f64::from(*o) * f64::from(*scale) + f64::from(*offset)) as f32;
        }
        Ok(head)
    }

    fn deterministic(mean: Mean) -> Self {
        let actions = mean.action_map(Head::Deterministic, mean.squashed, Vec::new());
        Self {
            signal: mean.signal,
            actions,
        }
    }

    fn stochastic(
        mean: Mean,
        log_std: &Value,
        chance: Chance,
        network: &mut Network,
    ) -> Result<Self, Complaint> {
        let tanh = chance == Chance::TanhGaussian;
        let squash = mean.squashed && !tanh;
        // With chance after tanh and scaling, the graph's log_std is the action's.
        let shift: Vec<f64> = match squash {
            true => mean.scale.iter().map(|scale| -scale.abs().ln()).collect(),
            false => vec![0.0; mean.scale.len()],
        };
        let head = |spread| match tanh {
            true => Head::TanhGaussian(spread),
            false => Head::Gaussian(spread),
        };
        match log_std {
            Value::Constant(tensor) => {
                let row = mean.signal.row(tensor)?;
                let pairs = row.iter().zip(&shift);
                let log_std: Vec<f32> = pairs.map(|(x, shift)| (x + shift) as f32).collect();
                if log_std
                    .iter()
                    .any(|x| x.is_nan() || *x > LOG_STD_HIGH * 10.0)
                {
                    let help = "is it the logarithm? Give log_std, not std";
                    return Err(Complaint::new("log_std is not a sensible number", help));
                }
                let actions = mean.action_map(head(Spread::Fixed), squash, log_std);
                Ok(Self {
                    signal: mean.signal,
                    actions,
                })
            }
            Value::Signal(log_std) => {
                let log_std = unclamped(log_std, network)?;
                if log_std.width() != mean.signal.width() || shift.iter().any(|x| *x != 0.0) {
                    let problem = "log_std does not fit the mean";
                    let help = "give one log_std per action, before tanh and scaling \
                                (head = \"tanh_gaussian\")";
                    return Err(Complaint::new(problem, help));
                }
                let actions = mean.action_map(head(Spread::OfState), squash, Vec::new());
                match mean.signal.stacked(&log_std, &mut network.budget)? {
                    Some(signal) => Ok(Self { signal, actions }),
                    None => Err(Complaint::new(
                        "mean and log_std come from different layers",
                        "let both be linear in the same last hidden layer",
                    )),
                }
            }
        }
    }
}

impl Mean {
    fn new(signal: Signal, network: &Network) -> Result<Self, Complaint> {
        let width = signal.width();
        let plain = |signal| Self {
            signal,
            squashed: false,
            scale: vec![1.0; width],
            offset: vec![0.0; width],
        };
        let (Map::Diagonal(factors), Some(base)) = (signal.map.as_ref(), network.base(&signal))
        else {
            return Ok(plain(signal));
        };
        let Some(of) = &base.of else {
            return Ok(plain(signal));
        };
        let mut mean = Self {
            signal: of.clone(),
            squashed: true,
            scale: factors.clone(),
            offset: signal.offset.clone(),
        };
        match base.step {
            Step::Tanh => Ok(mean),
            // ½ + ½ tanh(x / 2).
            Step::Sigmoid => {
                mean.signal = halved(of)?;
                for (scale, offset) in mean.scale.iter_mut().zip(&mut mean.offset) {
                    *scale /= 2.0;
                    *offset += *scale;
                }
                Ok(mean)
            }
            _ => Ok(plain(signal)),
        }
    }

    fn action_map(&self, head: Head, squash: bool, log_std: Vec<f32>) -> ActionMap {
        ActionMap {
            head,
            squash,
            log_std,
            scale: self.scale.iter().map(|x| *x as f32).collect(),
            offset: self.offset.iter().map(|x| *x as f32).collect(),
        }
    }
}

fn halved(signal: &Signal) -> Result<Signal, Complaint> {
    let half = vec![0.5; signal.width()];
    let zero = vec![0.0; signal.width()];
    // Not the file's own doing, so not on its account.
    signal.scaled(Some(&half), &zero, 0, &mut super::tensor::Budget::default())
}

/// Takes off a clip at the end that the task's action limits repeat.
fn within_limits(
    signal: Signal,
    network: &mut Network,
    options: &OnnxOptions,
    task: &TaskFile,
) -> Result<Signal, Complaint> {
    let (Map::Diagonal(factors), Some(base)) = (signal.map.as_ref(), network.base(&signal)) else {
        return Ok(signal);
    };
    let (Step::Clip { low, high }, Some(of)) = (&base.step, &base.of) else {
        return Ok(signal);
    };
    let number = |numbers: &Option<Vec<f32>>, index: usize, default: f32| {
        let given = numbers.as_ref().and_then(|numbers| numbers.get(index));
        f64::from(given.copied().unwrap_or(default))
    };
    let limits = low.iter().zip(high).zip(factors.iter().zip(&signal.offset));
    let tasks = task.action_low.iter().zip(&task.action_high);
    let wide = limits
        .zip(tasks)
        .enumerate()
        .all(|(i, (((low, high), (factor, offset)), task))| {
            let scale = number(&options.action_scale, i, 1.0);
            let shift = number(&options.action_offset, i, 0.0);
            let ends = [low, high].map(|end| (end * factor + offset) * scale + shift);
            let (task_low, task_high) = (f64::from(*task.0), f64::from(*task.1));
            let slack = 1e-6 * (task_high - task_low);
            ends[0].min(ends[1]) <= task_low + slack && ends[0].max(ends[1]) >= task_high - slack
        });
    if !wide {
        return Ok(signal);
    }
    let (of, factors, offset) = (of.clone(), factors.clone(), signal.offset.clone());
    of.scaled(Some(&factors), &offset, 0, &mut network.budget)
}

/// Takes off the clamp that the core repeats.
fn unclamped(log_std: &Signal, network: &Network) -> Result<Signal, Complaint> {
    let Some((Step::Clip { low, high }, Some(of))) =
        network.base(log_std).map(|base| (&base.step, &base.of))
    else {
        return Ok(log_std.clone());
    };
    let plain = *log_std == Signal::identity(log_std.base, log_std.width(), log_std.leading);
    let (least, most) = (f64::from(LOG_STD_LOW), f64::from(LOG_STD_HIGH));
    if plain && low.iter().all(|x| *x <= least) && high.iter().all(|x| *x >= most) {
        return Ok(of.clone());
    }
    let problem = "log_std is clamped in another way than the check does";
    let help = format!("clamp it to [{least}, {most}], as Stable-Baselines3 does, or not at all");
    Err(Complaint::new(problem, help))
}

/// One layer in f64.
struct Affine {
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
    fn rounded(&self) -> Result<Layer, Complaint> {
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
struct Chain {
    layers: Vec<Affine>,
    steps: Vec<(Activation, String, String)>,
    mean: Vec<f64>,
    std: Vec<f64>,
}

impl Chain {
    fn new(last: Signal, network: &Network) -> Result<Self, OnnxError> {
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
                Step::Sigmoid => {
                    affine.after_sigmoid();
                    Activation::Tanh
                }
                Step::Clip { .. } => Activation::Relu,
            };
            signal = match &base.step {
                Step::Sigmoid => halved(of).map_err(complain)?,
                Step::Clip { low, high } => {
                    clipped(of, (low, high), &mut affine).map_err(complain)?
                }
                _ => of.clone(),
            };
            layers.push(affine);
            steps.push((activation, base.node.clone(), base.operator.clone()));
            if steps.len() > MAX_HIDDEN_LAYERS {
                let problem = format!("there are more than {MAX_HIDDEN_LAYERS} hidden layers");
                return Err(complain(Complaint::new(
                    problem,
                    "export a shallower network",
                )));
            }
        }
    }

    /// The one activation of all hidden layers.
    fn activation(&self) -> Result<Activation, OnnxError> {
        let Some((first, first_node, _)) = self.steps.last() else {
            return Ok(Activation::default());
        };
        let name = |activation: &Activation| match activation {
            Activation::Relu => "ReLU",
            Activation::Tanh => "tanh",
            Activation::Silu => "SiLU",
        };
        match self.steps.iter().rev().find(|(step, ..)| step != first) {
            None => Ok(*first),
            Some((step, node, operator)) => {
                let problem = format!(
                    "it is a {} layer, and `{}` is a {} layer: all hidden layers must have \
                     the same activation",
                    name(step),
                    shown(first_node),
                    name(first)
                );
                let help = "train with one activation; sigmoid counts as tanh, and a clip as \
                            ReLU unless the task's action limits repeat it: leave out the clip, \
                            or set these limits";
                Err(Complaint::new(problem, help).of_node(node, operator))
            }
        }
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
    let budget = &mut super::tensor::Budget::default();
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
