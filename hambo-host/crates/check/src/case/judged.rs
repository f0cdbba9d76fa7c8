//! What is judged: a model, a task and a controller that belong together, ready to become
//! an image.

use hambo_core::task::Effort;
use hambo_core::task::Method;
use hambo_core::task::Objective;

use super::amounts::{Usual, Wanted};
use super::assumption::SetOrigin;
use super::certify::Flags;
use super::demand::Demand;
use super::fit::ensure_model_fits;
use super::near_path::NearPathUse;
use super::options::CheckOptions;
use hambo_base::Error;
use hambo_data::{Log, distinct_states};
use hambo_learn::delta::controller_share;
use hambo_learn::model_file::ModelFile;
use hambo_learn::near_path::JudgingRows;
use hambo_task::image::{Adversaries, AlignedBytes, encode_image_with, encode_policy};
use hambo_task::plan::CheckPlan;
use hambo_task::policy::HostPolicy;
use hambo_task::task::{Initial, TaskFile};

/// The parts of an image.
#[derive(Clone, Debug)]
pub struct Case {
    /// The model's part.
    pub model_part: Vec<u8>,
    pub task: TaskFile,
    /// Effort, estimates, and whether the host refused it.
    pub plan: CheckPlan,
    /// Initial states, one after the other, for a task that takes them from
    /// its data or wherever it is worst.
    pub initial: Vec<f32>,
    /// The controller's part.
    pub policy_part: Vec<u8>,
    /// Where the model's confidence set comes from.
    pub set: SetOrigin,
    /// Whether a check may sample more trajectories than the effort says.
    pub may_grow: bool,
    /// The withheld rows that judged the model.
    pub judging_rows: JudgingRows,
    /// What those near the controller's path say; none before
    /// [`look_near_path`](crate::evidence::near_path::look_near_path) looked.
    pub near_path: Option<NearPathUse>,
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
        ensure_model_fits(task, model)?;
        let mut task = task.clone();
        // The bound rests on the task's word only where the model does.
        task.stationary &= model.metadata().data.stationary;
        // After the model's set was held against the whole of it.
        task.delta = controller_share(task.delta, options.controllers);
        let mut method = Method {
            aleatoric_noise: options.noise,
            ..Method::default()
        };
        if !options.variants.is_empty() {
            let members = model.model()?.dynamics.members() > 0;
            let variants = options.variants.iter().copied();
            let variants = variants.filter(|variant| members || !variant.needs_members());
            method.variants = variants.collect();
        }
        if method.variants.is_empty() {
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
        let wanted = Wanted {
            trajectories: options.trajectories,
            searched: options.searched,
            allocation: options.allocation,
        };
        let demand = Demand::of(&task, &method, &initial);
        let effort = Effort {
            iterations: options.sweeps.unwrap_or(options.effort.sweeps()),
            seed: options.seed,
            ..demand.effort(wanted, Usual::HOST)
        };
        demand.ensure_certifiable(&effort, Flags::HOST)?;
        Ok(Self {
            model_part: model.model_part().to_vec(),
            plan: CheckPlan {
                method,
                ..CheckPlan::from(effort)
            },
            initial,
            policy_part: encode_policy(policy)?,
            set: SetOrigin::of(model.metadata()),
            may_grow: options.trajectories.is_none(),
            judging_rows: model.metadata().judging_rows.clone(),
            near_path: None,
            task,
        })
    }

    /// What its task asks of the numbers of trajectories.
    #[must_use]
    pub fn demand(&self) -> Demand<'_> {
        Demand::of(&self.task, &self.plan.method, &self.initial)
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
            self.plan.clone(),
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
