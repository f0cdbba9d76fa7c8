//! What the adversaries of a check chose on its trajectories: kept while the check
//! searches, so that a report shows those trajectories and not those of a second search.

use hambo_core::adversary::{Level, Search};
use hambo_core::rollout::Buffers;
use hambo_core::task::Variant;

/// Trajectories that a report shows: enough to see where a controller goes.
pub const TRACED_TRAJECTORIES: u32 = 32;

/// The worst choice from every start of the adversary, on the first trajectories of a
/// check's return.
#[derive(Clone, Debug)]
pub struct Findings {
    /// Of this variant.
    pub variant: Variant,
    /// On these trajectories.
    pub level: Level,
    /// Starts on each trajectory, at least 1.
    pub starts: usize,
    /// Trajectory by trajectory, and within one by the start.
    pub choices: Vec<Choice>,
}

/// What the adversary chose on one trajectory from one start.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The return it led to.
    pub least: f32,
    /// The pushes, step by step.
    pub eta: Vec<f32>,
    /// The members, step by step.
    pub members: Vec<u16>,
}

impl Choice {
    /// Nothing chosen yet.
    #[must_use]
    pub fn none() -> Self {
        Self {
            least: f32::INFINITY,
            eta: Vec::new(),
            members: Vec::new(),
        }
    }

    /// Takes over what the sweep of a search has just improved a lane with; `last` if it
    /// was the last one.
    pub(crate) fn follow<const B: usize>(
        &mut self,
        search: &Search<B>,
        lane: usize,
        last: bool,
        buffers: &Buffers<'_, B>,
    ) {
        let Some(least) = search.least().get(lane).copied() else {
            return;
        };
        // The first sweep always counts: its value may not be finite.
        if least < self.least || self.eta.is_empty() {
            *self = Self::kept(least, lane, last, buffers);
        }
    }

    /// The search keeps its worst choice apart from what it tries next; after the last
    /// sweep nothing follows.
    fn kept<const B: usize>(least: f32, lane: usize, last: bool, buffers: &Buffers<'_, B>) -> Self {
        let eta = if last || buffers.worst_eta.is_empty() {
            &buffers.eta
        } else {
            &buffers.worst_eta
        };
        let eta = eta.iter().filter_map(|row| row.get(lane).copied());
        let members = if last {
            &buffers.members.chosen
        } else {
            &buffers.members.worst
        };
        let members = members.iter().filter_map(|row| row.get(lane).copied());
        Self {
            least,
            eta: eta.collect(),
            members: members.collect(),
        }
    }
}

impl Findings {
    /// The worst choice on every trajectory; under DAinf, which keeps one member for all
    /// of them, that of the member with the least sum.
    pub fn worst(&self) -> impl Iterator<Item = &Choice> {
        let trajectories = self.choices.chunks_exact(self.starts.max(1));
        let member = (self.variant == Variant::DiscreteAdversaryInf).then(|| {
            let sum = |start: usize| -> f32 {
                let each = trajectories.clone();
                let each = each.filter_map(|choices| choices.get(start));
                each.map(|choice| choice.least).sum()
            };
            least((0..self.starts).map(sum)).unwrap_or(0)
        });
        trajectories.filter_map(move |choices| {
            let worst = member.or_else(|| least(choices.iter().map(|choice| choice.least)));
            choices.get(worst.unwrap_or(0))
        })
    }
}

/// The place of the first least number.
fn least(numbers: impl Iterator<Item = f32>) -> Option<usize> {
    let mut worst = None;
    for (place, value) in numbers.enumerate() {
        if worst.is_none_or(|(_, least)| value < least) {
            worst = Some((place, value));
        }
    }
    worst.map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_start_of_each_trajectory_or_the_worst_member_of_all() {
        let choice = |least: f32| Choice {
            least,
            ..Choice::none()
        };
        let mut findings = Findings {
            variant: Variant::ContinuousAdversary,
            level: Level::Searched,
            starts: 2,
            choices: [1.0, 2.0, 9.0, 4.0].map(choice).to_vec(),
        };
        let worst = |findings: &Findings| -> Vec<f32> {
            findings.worst().map(|choice| choice.least).collect()
        };
        assert_eq!(worst(&findings), [1.0, 4.0]);
        findings.variant = Variant::DiscreteAdversaryInf;
        assert_eq!(worst(&findings), [2.0, 4.0]);
    }
}
