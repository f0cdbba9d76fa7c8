//! A check of an image in slices of bounded work.

use super::assessment::{Assessment, count_sweeps, ensure_capacity};
use super::outcome::Outcome;
use super::stage::Stage;
use crate::adversary::Search;
use crate::image::Image;
use crate::numeric::{CapacityError, Pause};
use crate::policy::{Policy, StoredPolicy};
use crate::rollout::Buffers;

/// A check under way over `B` lanes, one group of candidates at a time.
///
/// [`Check::advance`] does whole sweeps, and between two calls a control loop may run.
/// A sweep is long: all steps of a trajectory, all members, forward and back. So a control
/// loop that must be on time belongs in an interrupt above the check. Whoever wants a word
/// more often has [`Check::pause_with`]: its [`Pause`] is called after every slice, which is
/// a layer of one member or a block of a Gaussian process's rows, at most 65,536
/// multiply-adds in four lanes.
pub struct Check<'a, const B: usize, P = StoredPolicy<'a>> {
    image: &'a Image<'a>,
    assessment: Assessment<'a, P>,
    buffers: Buffers<'a, B>,
    /// The group at work and its first candidate; none before the first
    /// sweep of an estimate.
    group: Option<(u32, Search<B>)>,
    sweeps_done: u32,
    sweeps_total: u32,
}

/// What a call of [`Check::advance`] reached.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is no heap to put the outcome on, and it is moved once"
)]
pub enum Progress {
    /// There is more to do.
    Working {
        /// Sweeps done.
        done: u32,
        /// Sweeps in all.
        total: u32,
    },
    /// The verdict.
    Finished(Outcome),
}

impl<'a, const B: usize> Check<'a, B> {
    /// A check of an image's policy.
    ///
    /// # Errors
    /// If `rows` is too short.
    pub fn new(image: &'a Image<'a>, rows: &'a mut [[f32; B]]) -> Result<Self, CapacityError> {
        Check::with_policy(image, image.policy(), rows)
    }

    /// How many rows the check of an image needs.
    ///
    /// ```
    /// use hambo_core::check::Check;
    /// use hambo_core::numeric::CapacityError;
    /// let image = hambo_core::example::image()?;
    /// let needed = Check::<4>::rows_needed(&image).map_err(|_| "too large")?;
    /// let mut rows = vec![[0.0; 4]; needed];
    /// assert!(Check::new(&image, &mut rows).is_ok());
    /// let error = Check::new(&image, &mut rows[1..]).err();
    /// assert_eq!(error, Some(CapacityError { needed, available: needed - 1 }));
    /// # Ok::<(), &str>(())
    /// ```
    ///
    /// # Errors
    /// If the count does not fit a number.
    pub fn rows_needed(image: &Image<'_>) -> Result<usize, CapacityError> {
        Buffers::<B>::rows_needed(&image.model().dynamics, image.task(), image.policy())
    }
}

impl<'a, const B: usize, P: Policy> Check<'a, B, P> {
    /// A check of any controller on an image's model and task, such as the very code that
    /// will drive.
    ///
    /// # Errors
    /// If `rows` is too short.
    #[inline(never)]
    pub fn with_policy(
        image: &'a Image<'a>,
        policy: &'a P,
        rows: &'a mut [[f32; B]],
    ) -> Result<Self, CapacityError> {
        let (model, task) = (image.model(), image.task());
        let buffers = Buffers::carve(rows, &model.dynamics, task, policy)?;
        ensure_capacity(model, task, policy)?;
        Ok(Self {
            image,
            assessment: Assessment::empty(model, task, policy),
            buffers,
            group: None,
            sweeps_done: 0,
            sweeps_total: count_sweeps::<B, P>(model, task, policy),
        })
    }

    /// Calls `pause` between two slices of work from now on. `Break` ends the check within
    /// one slice, and for good: it abstains, as one that was stopped. See [`Pause`].
    pub fn pause_with(&mut self, pause: &'a dyn Pause) {
        self.buffers.pause_with(pause);
    }

    /// Does at most `sweeps` sweeps of `B` trajectories. The work of one is
    /// bounded by the model's size and the horizon; that of a slice of it by
    /// neither, see [`Check::pause_with`].
    #[inline(never)]
    pub fn advance(&mut self, sweeps: u32) -> Progress {
        for _ in 0..sweeps {
            let Some(stage) = self.assessment.current() else {
                return Progress::Finished(self.outcome());
            };
            self.sweep(&stage);
            if self.buffers.is_stopped() {
                return Progress::Finished(self.outcome());
            }
            self.sweeps_done = self.sweeps_done.saturating_add(1);
        }
        Progress::Working {
            done: self.sweeps_done,
            total: self.sweeps_total,
        }
    }

    /// Ends a check that may take no more time: it abstains.
    #[must_use]
    pub fn stop(self) -> Outcome {
        self.outcome()
    }

    fn outcome(&self) -> Outcome {
        let mut outcome = self.assessment.outcome();
        outcome.image = Some(*self.image.hash());
        outcome
    }

    fn sweep(&mut self, stage: &Stage<'a, P>) {
        if self.buffers.is_stopped() {
            return;
        }
        let (group, assessment) = (&mut self.group, &self.assessment);
        let (first, search) = group.get_or_insert_with(|| (0, search_from(assessment, stage, 0)));
        if !search.sweep(&stage.rollout, &mut self.buffers) {
            return;
        }
        // What a stopped sweep found is no result.
        if self.buffers.slices.next().is_none() {
            return;
        }
        let next = first.saturating_add(B as u32);
        self.assessment.add_results(search.results());
        let more = next < stage.candidates();
        *group = more.then(|| (next, search_from(&self.assessment, stage, next)));
    }
}

/// The search of the candidates from `first` on.
fn search_from<const B: usize, P: Policy>(
    assessment: &Assessment<'_, P>,
    stage: &Stage<'_, P>,
    first: u32,
) -> Search<B> {
    let number = |lane: usize| first.saturating_add(lane as u32);
    let candidates = core::array::from_fn(|lane| assessment.candidate(stage, number(lane)));
    Search::of(&stage.rollout, stage.level, candidates)
}
