//! Trial and search of all searched trajectories at once.
//!
//! The core tries and searches them block by block, because a device has memory for one block.
//! A block's search is a dozen candidates, which fill neither lanes nor threads. What comes of a
//! candidate does not depend on when it is searched, so the host works off all of them first and
//! hands the core its blocks.

use hambo_core::adversary::{Candidate, Level, SearchResult, Shortlist};
use hambo_core::check::Stage;
use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::Rollout;

use super::findings::Choice;
use super::groups::{Searched, search_level};
use hambo_base::Error;
use hambo_base::meter::Meter;

/// What came of all trials, and of the searches that followed.
pub(super) struct Ahead {
    tried: Vec<SearchResult>,
    searched: Vec<(SearchResult, Option<Choice>)>,
}

impl Ahead {
    /// Of the estimate whose first trial begins; `keep` trajectories keep their choices. None
    /// for any other stage.
    pub fn of<const B: usize>(
        stage: &Stage<'_, StoredPolicy<'_>>,
        keep: u32,
        meter: Option<&Meter<'_>>,
    ) -> Result<Option<Self>, Error> {
        let Some(focus) = stage.focus else {
            return Ok(None);
        };
        if stage.level != Level::Trial || stage.first > 0 {
            return Ok(None);
        }
        let (rollout, starts) = (&stage.rollout, stage.starts);
        let tried = tried::<B>(rollout, starts, meter)?;
        let kept = promising(&tried, starts, focus.searched);
        let candidate = |number| kept_candidate(&kept, focus.searched, number);
        let level = Level::Searched;
        let searched =
            search_level::<B>((rollout, level), focus.searched, keep, &candidate, meter)?;
        let searched = searched.into_iter();
        Ok(Some(Self {
            tried,
            searched: searched.map(|one| (one.result, one.choice)).collect(),
        }))
    }

    /// What came of a stage of the same estimate, candidate by candidate, and what was kept of
    /// it. None if it is neither trial nor search.
    pub fn take(
        &mut self,
        stage: &Stage<'_, StoredPolicy<'_>>,
    ) -> Option<(Vec<SearchResult>, Vec<Choice>)> {
        let first = stage.first as usize * stage.starts;
        let place = first..first + stage.candidates() as usize;
        match stage.level {
            Level::Trial => Some((self.tried.get(place)?.to_vec(), Vec::new())),
            Level::Searched => {
                let mut own = Vec::new();
                let mut choices = Vec::new();
                for (result, choice) in self.searched.get_mut(place)? {
                    own.push(*result);
                    choices.extend(choice.take());
                }
                Some((own, choices))
            }
            Level::Pilot | Level::Complete | Level::Sampled => None,
        }
    }
}

/// The trial of every start on all searched trajectories.
pub(super) fn tried<const B: usize>(
    rollout: &Rollout<'_, StoredPolicy<'_>>,
    starts: usize,
    meter: Option<&Meter<'_>>,
) -> Result<Vec<SearchResult>, Error> {
    let every = |number| Candidate::numbered(rollout, Level::Trial, number);
    let tried = search_level::<B>((rollout, Level::Trial), starts, 0, &every, meter)?;
    Ok(tried.into_iter().map(|one: Searched| one.result).collect())
}

/// The `keep` starts that the trial brought lowest, trajectory by trajectory.
pub(super) fn promising(tried: &[SearchResult], starts: usize, keep: usize) -> Vec<Shortlist> {
    let trajectories = tried.chunks(starts.max(1));
    let lists = trajectories.map(|trajectory| {
        let least = |start: usize| trajectory.get(start).map(|one| one.least);
        Shortlist::lowest(trajectory.len(), keep, least)
    });
    lists.collect()
}

/// The candidate with a number among those that were kept.
pub(super) fn kept_candidate(kept: &[Shortlist], keep: usize, number: u32) -> Candidate {
    let (trajectory, place) = (number / keep.max(1) as u32, number as usize % keep.max(1));
    let list = kept.get(trajectory as usize);
    Candidate {
        trajectory,
        start: list.map_or(0, |list| list.at(place)),
    }
}
