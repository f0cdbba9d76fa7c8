//! A checkpoint: what training has become, without data and options.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::early_stopping::EarlyStopping;
use super::error::TrainingError;
use super::options::EnsembleOptions;
use super::particles::{Particle, Particles};
use super::posterior::Posterior;
use super::training_set::TrainingSet;
use hambo_base::checkpoint::CheckpointError;
use hambo_base::network::adam::Adam;

/// The state of a [`Trainer`](super::Trainer) between two reports, ready for `serde`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainerState {
    /// Hash of data and options, so that a checkpoint finds its own run only.
    fingerprint: [u8; 32],
    pub(super) step: usize,
    pub(super) early_stopping: EarlyStopping,
    pub(super) members: Vec<MemberState>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct MemberState {
    pub(super) parameters: Vec<f32>,
    pub(super) adam: Adam,
    /// Random numbers drawn so far.
    pub(super) draws: u64,
    /// Order of the rows in this pass, and how many of them are used.
    pub(super) order: Vec<u32>,
    pub(super) next: usize,
}

impl TrainerState {
    /// Updates done.
    #[must_use]
    pub fn step(&self) -> usize {
        self.step
    }

    pub(super) fn of(
        fingerprint: [u8; 32],
        step: usize,
        early_stopping: &EarlyStopping,
        particles: &Particles<Posterior>,
    ) -> Self {
        let member = |particle: &Particle<Posterior>| {
            let (order, next) = particle.density.batches.place();
            MemberState {
                parameters: particle.parameters.clone(),
                adam: particle.adam.clone(),
                draws: particle.density.random.draws(),
                order: order.to_vec(),
                next,
            }
        };
        Self {
            fingerprint,
            step,
            early_stopping: early_stopping.clone(),
            members: particles.all.iter().map(member).collect(),
        }
    }

    /// Refuses what is not a state of this run.
    pub(super) fn check(
        &self,
        fingerprint: &[u8; 32],
        options: &EnsembleOptions,
        parameters: usize,
        rows: usize,
    ) -> Result<(), TrainingError> {
        let whole = |member: &MemberState| {
            let mut order = member.order.clone();
            order.sort_unstable();
            member.parameters.len() == parameters
                && member.adam.fits(parameters)
                && member.next <= rows
                && order.iter().copied().eq(0..rows as u32)
        };
        let best = &self.early_stopping.parameters;
        let best_is_whole = best.is_empty()
            || (best.len() == options.members && best.iter().all(|best| best.len() == parameters));
        let sound = self.members.len() == options.members
            && self.step <= options.steps
            && best_is_whole
            && self.members.iter().all(whole);
        let problem = if self.fingerprint != *fingerprint {
            "belongs to other data or options"
        } else if !sound {
            "is damaged"
        } else {
            return Ok(());
        };
        Err(CheckpointError { problem }.into())
    }
}

/// Hash of all that decides a run.
pub(super) fn fingerprint(
    set: &TrainingSet<'_>,
    validation: Option<&TrainingSet<'_>>,
    options: &EnsembleOptions,
) -> [u8; 32] {
    let mut hash = Sha256::new();
    // Debug prints every digit of a number that matters, and every field.
    hash.update(format!("{options:?}"));
    for set in [Some(set), validation].into_iter().flatten() {
        for (values, columns) in [
            (set.inputs, set.input_columns),
            (set.targets, set.target_columns),
        ] {
            hash.update((values.len() as u64).to_le_bytes());
            hash.update((columns as u64).to_le_bytes());
            hash.update(bytemuck::cast_slice::<f32, u8>(values));
        }
        // Nothing where every target says something.
        let marks = set.held.marks().iter();
        hash.update(marks.map(|mark| u8::from(*mark)).collect::<Vec<u8>>());
    }
    hash.finalize().into()
}
