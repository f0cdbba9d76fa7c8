//! The sweeps of a check over `B` lanes, one group of candidates at a time.

use super::assessment::{Assessment, count_sweeps, ensure_capacity};
use super::stage::Stage;
use crate::adversary::Search;
use crate::image::Image;
use crate::numeric::{CapacityError, Pause};
use crate::policy::Policy;
use crate::rollout::Buffers;

/// A check under way, whosever it is.
pub(super) struct Sweeps<'a, const B: usize, P> {
    pub assessment: Assessment<'a, P>,
    buffers: Buffers<'a, B>,
    /// The group at work and its first candidate; none before the first
    /// sweep of an estimate.
    group: Option<(u32, Search<B>)>,
    pub done: u32,
    pub total: u32,
}

impl<'a, const B: usize, P: Policy> Sweeps<'a, B, P> {
    #[inline(always)]
    pub fn new(
        image: &'a Image<'a>,
        policy: &'a P,
        rows: &'a mut [[f32; B]],
    ) -> Result<Self, CapacityError> {
        let (model, task) = (image.model(), image.task());
        let buffers = Buffers::carve(rows, &model.dynamics, task, policy)?;
        ensure_capacity(model, task, policy)?;
        Ok(Self {
            assessment: Assessment::empty(model, task, policy),
            buffers,
            group: None,
            done: 0,
            total: count_sweeps::<B, P>(model, task, policy),
        })
    }

    pub fn pause_with(&mut self, pause: &'a dyn Pause) {
        self.buffers.pause_with(pause);
    }

    /// Does at most `sweeps` sweeps. Whether the check is over.
    #[inline(never)]
    pub fn advance(&mut self, sweeps: u32) -> bool {
        for _ in 0..sweeps {
            let Some(stage) = self.assessment.current() else {
                return true;
            };
            self.sweep(&stage);
            if self.buffers.is_stopped() {
                return true;
            }
            self.done = self.done.saturating_add(1);
        }
        false
    }

    fn sweep(&mut self, stage: &Stage<'a, P>) {
        if self.buffers.is_stopped() {
            return;
        }
        self.buffers.slices.begin_sweep();
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
