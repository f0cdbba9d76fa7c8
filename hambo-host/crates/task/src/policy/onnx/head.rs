//! The outputs of a graph as the head of a policy: tanh, scaling and chance.

use std::rc::Rc;

use hambo_core::policy::{Head, LOG_STD_HIGH, LOG_STD_LOW, Spread};

use super::chain::halved;
use super::complaint::Complaint;
use super::network::{Network, Step};
use super::options::{Chance, OnnxOptions};
use super::signal::{Map, Signal};
use super::value::{Outputs, Value};
use crate::policy::host_policy::ActionMap;
use crate::task::task_file::TaskFile;

/// The last signal and what follows it.
pub(super) struct HeadParts {
    pub signal: Signal,
    pub actions: ActionMap,
}

/// What is left of the mean once tanh and scaling are taken off it.
struct Mean {
    signal: Signal,
    squashed: bool,
    scale: Vec<f64>,
    offset: Vec<f64>,
}

impl HeadParts {
    pub fn new(
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
        let shift: Vec<f64> = if squash {
            mean.scale.iter().map(|scale| -scale.abs().ln()).collect()
        } else {
            vec![0.0; mean.scale.len()]
        };
        let head = |spread| {
            if tanh {
                Head::TanhGaussian(spread)
            } else {
                Head::Gaussian(spread)
            }
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
    let plain = *log_std == log_std.like(log_std.base);
    let (least, most) = (f64::from(LOG_STD_LOW), f64::from(LOG_STD_HIGH));
    if plain && low.iter().all(|x| *x <= least) && high.iter().all(|x| *x >= most) {
        return Ok(of.clone());
    }
    let problem = "log_std is clamped in another way than the check does";
    let help = format!("clamp it to [{least}, {most}], as Stable-Baselines3 does, or not at all");
    Err(Complaint::new(problem, help))
}
