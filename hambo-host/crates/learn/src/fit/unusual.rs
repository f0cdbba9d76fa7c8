//! A log without what no model is to learn: rare events, and what stays for an episode.
//!
//! Networks that are trained on a push in one step of fifty follow single pushes, and take
//! their spread for the noise of every step; those that are trained on a payload guess it from
//! where the state has drifted to. Both are drawn by rollouts instead, so the model is trained
//! once more on the rest.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::ops::ControlFlow;

use super::evidence::{Evidence, uncalibrated};
use super::trained::Trained;
use crate::calibration::pools::found::Found;
use hambo_base::Error;
use hambo_base::observer::{Observer, Progress};
use hambo_data::{Log, LogPart, MINIMUM_RECORDINGS, Told};
use hambo_task::task::ModelView;

/// Trainings beside the first: what stays is known better with each, and a model that has
/// learnt nothing of it shows the rest of it whole.
const MOST_AGAIN: usize = 2;

/// The model that is trained on what is ordinary, if one shows what was taken out to be noise;
/// none if the log has nothing unusual, as most have.
pub(super) fn again(
    first: &Trained,
    kept: &LogPart,
    view: &ModelView,
    train: &mut dyn FnMut(&Log) -> Result<Trained, Error>,
) -> Result<Option<Trained>, Error> {
    let mut last = None;
    for _ in 0..MOST_AGAIN {
        let seen = last.as_ref().unwrap_or(first);
        let Some(found) = found(seen, kept, view)? else {
            break;
        };
        let again = train(&found.ordinary.log)?;
        if found.is_confirmed_by(&again, kept, view)? {
            return Ok(Some(again));
        }
        if !found.stays {
            break;
        }
        last = Some(again);
    }
    Ok(None)
}

/// What a training found.
struct Unusual {
    /// The rows to train on again: without rare events, and less what stays in each recording.
    ordinary: LogPart,
    stays: bool,
}

/// None if the log has neither, as most have, or too few recordings.
fn found(trained: &Trained, kept: &LogPart, view: &ModelView) -> Result<Option<Unusual>, Error> {
    let recordings: HashSet<u32> = kept.log.rows().map(|row| row.episode).collect();
    if recordings.len() < MINIMUM_RECORDINGS {
        return Ok(None);
    }
    let evidence = evidence(trained, kept, view)?;
    let shown = evidence.shown();
    let Some(found) = Found::of(&shown, true) else {
        return Ok(None);
    };
    let samples = kept.samples();
    // In the units of the states: by the mean deviation that the model has in the recording.
    let mut deviations: BTreeMap<u32, (Vec<f64>, f64)> = BTreeMap::new();
    for (row, sample) in samples.iter().enumerate() {
        let (sums, count) = deviations.entry(*sample).or_default();
        sums.resize(shown.rows.dimensions.len(), 0.0);
        for (sum, of) in sums.iter_mut().zip(&shown.rows.dimensions) {
            *sum += f64::from(of.aleatoric_std.get(row).copied().unwrap_or(0.0));
        }
        *count += 1.0;
    }
    let stays: BTreeMap<u32, Vec<f32>> = deviations
        .into_iter()
        .filter_map(|(sample, (sums, count))| {
            let own = found.stays_in(sample)?;
            let pairs = own.iter().zip(sums);
            let in_units = pairs.map(|(stays, sum)| (stays * sum / count) as f32);
            Some((sample, in_units.collect()))
        })
        .collect();
    let told = Told::of(&kept.log, view);
    let ordinary = kept.revised(|number, next| {
        // A row at a wall stays there.
        let own = samples.get(number).filter(|_| told.tells_all(number));
        let own = own.and_then(|sample| stays.get(sample));
        for (place, stays) in view.moved.iter().zip(own.into_iter().flatten()) {
            if let Some(next) = next.get_mut(*place) {
                *next -= stays;
            }
        }
        found.extreme.get(number) != Some(&true)
    });
    Ok(Some(Unusual {
        ordinary,
        stays: !stays.is_empty(),
    }))
}

impl Unusual {
    /// Whether the next model shows the same: what stays is white noise and a constant only
    /// to a model that has learnt nothing of it.
    fn is_confirmed_by(
        &self,
        again: &Trained,
        kept: &LogPart,
        view: &ModelView,
    ) -> Result<bool, Error> {
        let evidence = evidence(again, kept, view)?;
        let found = Found::of(&evidence.shown(), false);
        Ok(found.is_some_and(|found| found.has_stays() == self.stays))
    }
}

fn evidence(trained: &Trained, kept: &LogPart, view: &ModelView) -> Result<Evidence, Error> {
    let part = (trained.encode)(&uncalibrated(view))?;
    Evidence::new(&part, kept, view)
}

/// Who observes the second training: it is told how far it is, but goes on from no state, for
/// the state that is kept is the first training's.
pub(super) struct Again<'a>(pub(super) &'a mut dyn Observer);

impl Observer for Again<'_> {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        self.0.progress(Progress {
            message: format!("again, on ordinary steps alone: {}", progress.message),
            ..progress
        })
    }

    fn reads(&self) -> bool {
        self.0.reads()
    }
}
