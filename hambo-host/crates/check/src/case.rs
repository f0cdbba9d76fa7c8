//! What is judged: a model, a task and a controller that belong together, ready to become
//! an image.

use hambo_core::task::Effort;
use hambo_core::task::Objective;

use super::assumption::SetOrigin;
use super::certify::{hold_certifiable, trajectories_for};
use super::options::{CheckOptions, DEFAULT_TRAJECTORIES};
use hambo_base::Error;
use hambo_data::{Log, distinct_states};
use hambo_learn::delta::decimal;
use hambo_learn::model_file::ModelFile;
use hambo_task::image::{Adversaries, AlignedBytes, encode_image_with, encode_policy};
use hambo_task::policy::HostPolicy;
use hambo_task::task::{Initial, ModelView, TaskFile, Wrap};

/// The parts of an image.
#[derive(Clone, Debug)]
pub struct Case {
    /// The model's part.
    pub model_part: Vec<u8>,
    /// The task.
    pub task: TaskFile,
    /// Trajectories, sweeps of the search, seed.
    pub effort: Effort,
    /// Initial states, one after the other, for a task that takes them from
    /// its data or wherever it is worst.
    pub initial: Vec<f32>,
    /// The controller's part.
    pub policy_part: Vec<u8>,
    /// Where the model's confidence set comes from.
    pub set: SetOrigin,
    /// Whether a check may sample more trajectories than the effort says.
    pub may_grow: bool,
}

impl Case {
    /// Puts the parts together. The widths of the task's comparisons are fitted to the log,
    /// or to the few of its rows that the model file keeps: they guide the adversary's search.
    ///
    /// # Errors
    /// If the model was trained for another task or a larger delta, has no networks for any
    /// of the variants, or the task starts from its data and there is no log.
    pub fn new(
        task: &TaskFile,
        model: &ModelFile,
        policy: &HostPolicy,
        options: &CheckOptions<'_>,
    ) -> Result<Self, Error> {
        hold(task, model)?;
        let mut task = task.clone();
        if !options.variants.is_empty() {
            let members = model.model()?.dynamics.members() > 0;
            let variants = options.variants.iter().copied();
            let variants = variants.filter(|variant| members || !variant.needs_members());
            task.method.variants.clear();
            task.method.variants.extend(variants);
        }
        if task.method.variants.is_empty() {
            let text = "--variant: this one needs networks, and the model is a Gaussian process\n\
                        help: choose ca, ds or mean, or fit with --model bnn";
            return Err(Error::Usage(text.to_owned()));
        }
        match options.log {
            Some(log) => {
                let rows = log.rows();
                task.fit_smoothing(rows.map(|row| (row.state, row.action, row.next_state)));
            }
            None => task.fit_smoothing(model.metadata().sample.rows()),
        }
        let initial = match (&task.initial, options.log) {
            (Initial::Data { .. }, Some(log)) => first_states(log),
            (Initial::Data { .. }, None) => {
                let text = "the task starts from its data: give the log with --data";
                return Err(Error::Usage(text.to_owned()));
            }
            _ => Vec::new(),
        };
        let usual = DEFAULT_TRAJECTORIES.max(trajectories_for(&task));
        let trajectories = options.trajectories.unwrap_or(usual);
        let starts = initial.len() / task.state_names.len().max(1);
        hold_certifiable(&task, trajectories, "--trajectories", starts)?;
        Ok(Self {
            model_part: model.model_part().to_vec(),
            effort: Effort {
                trajectories,
                searched: options.searched,
                iterations: options.sweeps.unwrap_or(options.effort.sweeps()),
                seed: options.seed,
                allocation: options.allocation,
            },
            initial,
            policy_part: encode_policy(policy)?,
            set: SetOrigin::of(model.metadata()),
            may_grow: options.trajectories.is_none(),
            task,
        })
    }

    /// How many different first states trajectories start from; none where they are drawn
    /// from a distribution.
    #[must_use]
    pub fn distinct_starts(&self) -> Option<u32> {
        match &self.task.initial {
            Initial::Point(_) => Some(1),
            Initial::Data { .. } | Initial::Worst { .. } => {
                let states = self.task.state_names.len().max(1);
                Some(distinct_states(self.initial.chunks_exact(states)) as u32)
            }
            Initial::Uniform { .. } | Initial::Gaussian { .. } => None,
        }
    }

    /// The return and the constraints, by their numbers.
    pub fn objectives(&self) -> impl Iterator<Item = Objective> + use<> {
        let constraints = (0..).take(self.task.constraints.len());
        std::iter::once(Objective::Return).chain(constraints.map(Objective::Constraint))
    }

    /// The image with these adversaries.
    ///
    /// # Errors
    /// If a size does not fit the format.
    pub fn image(&self, adversaries: &Adversaries) -> Result<AlignedBytes, Error> {
        let bytes = encode_image_with(
            &self.model_part,
            &self.task,
            self.effort,
            &self.initial,
            &self.policy_part,
            adversaries,
        )?;
        Ok(AlignedBytes::new(&bytes))
    }
}

/// The first state of every episode of a log, one after the other.
#[must_use]
pub fn first_states(log: &Log) -> Vec<f32> {
    let mut last = None;
    log.rows()
        .filter(|row| last.replace(row.episode) != Some(row.episode))
        .flat_map(|row| row.state.to_vec())
        .collect()
}

/// Whether a model can serve a task: the same states and actions, and a set that fails no
/// more often than the task allows.
///
/// # Errors
/// What does not fit, and what to do.
pub fn hold(task: &TaskFile, model: &ModelFile) -> Result<(), Error> {
    hold_names(task, model)?;
    hold_wraps(task, model)?;
    hold_view(task, model)?;
    hold_delta(task, model)
}

/// A set that was made for a larger delta is too small for this one.
fn hold_delta(task: &TaskFile, model: &ModelFile) -> Result<(), Error> {
    let asked = decimal(task.delta);
    match model.metadata().delta {
        Some(fitted) if fitted as f32 > task.delta => Err(Error::Usage(format!(
            "the model's set was fitted for delta {fitted}, and a bound with delta {asked} is asked for\n\
             help: fit again with --delta {asked}"
        ))),
        _ => Ok(()),
    }
}

/// What wraps for the model wraps for the task: one that learnt jumps cannot be walked round,
/// and one that learnt none cannot be walked on.
fn hold_wraps(task: &TaskFile, model: &ModelFile) -> Result<(), Error> {
    let trained_on = &model.metadata().view.wraps;
    let logged = task.logged_states().len();
    let states = task.state_names.iter().zip(&task.wraps).zip(trained_on);
    for ((name, wanted), trained) in states.take(logged) {
        if wanted != trained {
            let said = |wrap: &Option<Wrap>| match wrap {
                Some(Wrap { low, period }) => format!("wraps in {low} to {}", low + period),
                None => "does not wrap".to_owned(),
            };
            return Err(Error::Usage(format!(
                "the task says that {name} {}, and the model was trained as if it {}\n\
                 help: fit the model again",
                said(wanted),
                said(trained)
            )));
        }
    }
    Ok(())
}

/// The model's states and actions are the task's. States that the log does not have may
/// differ: they are a controller's memory.
fn hold_names(task: &TaskFile, model: &ModelFile) -> Result<(), Error> {
    let metadata = model.metadata();
    let computed = metadata.view.memory.len() + usize::from(metadata.learned_reward);
    let logged = metadata.state_names.len().saturating_sub(computed);
    let trained_on = [
        metadata.state_names.get(..logged).unwrap_or_default(),
        &metadata.action_names,
    ];
    let named = [task.logged_states(), &task.action_names];
    if trained_on == named && metadata.learned_reward == task.learns_reward() {
        return Ok(());
    }
    let help = match (metadata.learned_reward, task.learns_reward()) {
        (false, true) => "the task learns its reward, the model did not: fit it again",
        (true, false) => "the model learned the reward, the task computes it: fit it again",
        _ => "choose the task of this model",
    };
    Err(Error::Usage(format!(
        "the model was trained for the states {} and the actions {}, the task names {} and {}\n\
         help: {help}",
        trained_on[0].join(", "),
        trained_on[1].join(", "),
        named[0].join(", "),
        named[1].join(", ")
    )))
}

/// What the model saw is what the task says it sees, and what it did not learn is what the task
/// computes.
fn hold_view(task: &TaskFile, model: &ModelFile) -> Result<(), Error> {
    let (trained, wanted) = (&model.metadata().view, task.model_view());
    let other = |what: &str, fitted: &str, asked: &str| {
        let said = |text: &str| match text {
            "" => "none".to_owned(),
            text => text.to_owned(),
        };
        Err(Error::Usage(format!(
            "the model was fitted with {what}: {}; the task says: {}\n\
             help: fit the model again",
            said(fitted),
            said(asked)
        )))
    };
    let inputs = |view: &ModelView| view.features.join(", ");
    let known = |view: &ModelView| {
        let lines = view.known.iter();
        let lines: Vec<String> = lines
            .map(|line| format!("{} = {}", line.state, line.next))
            .collect();
        lines.join(", ")
    };
    // Spaces do not count.
    let same = |a: &str, b: &str| {
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        bare(a) == bare(b)
    };
    for (what, of) in [
        ("the inputs", &inputs as &dyn Fn(&ModelView) -> String),
        ("the known states", &known),
    ] {
        let (fitted, asked) = (of(trained), of(&wanted));
        if !same(&fitted, &asked) {
            return other(what, &fitted, &asked);
        }
    }
    Ok(())
}
