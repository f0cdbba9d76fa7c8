//! Training as something that can be watched, stopped and taken up again.

use std::sync::Arc;

use rayon::prelude::*;

use super::early_stopping::EarlyStopping;
use super::error::TrainingError;
use super::options::{EnsembleOptions, Inference};
use super::particles::{Decay, Particle, Particles};
use super::posterior::Posterior;
use super::priors;
use super::state::{TrainerState, fingerprint};
use super::svgd::Svgd;
use super::trained::{Member, TrainedEnsemble};
use super::training_set::StandardisedSet;
use super::training_set::TrainingSet;
use hambo_base::network::initial::initial_parameters;
use hambo_base::network::perceptron::{LayerShape, layer_shapes, parameter_count};
use hambo_base::network::{Standardisation, unpack};
use hambo_base::random::Random;

/// How far training is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingProgress {
    /// Updates done.
    pub step: usize,
    /// Updates planned; early stopping may end before.
    pub steps: usize,
    /// Mean over members of the objective per row, over the updates since the last report.
    pub training_loss: f32,
    /// Mean over members of the validation rows' negative log likelihood, if there are any.
    pub validation_loss: Option<f32>,
    /// The update whose weights would be kept now.
    pub best_step: usize,
}

/// A training run, from one look at the validation rows to the next.
///
/// Weights depend on data, options and seed only: not on the number of threads,
/// nor on stops between [`Self::state`] and [`Self::resume`].
///
/// ```
/// use hambo_base::Held;
/// use hambo_learn::ensemble::{EnsembleOptions, Trainer, TrainingSet};
///
/// let inputs: Vec<f32> = (0..50).flat_map(|i| [0.1 * i as f32, (i % 7) as f32]).collect();
/// let targets: Vec<f32> = (0..50).map(|i| (i % 7) as f32).collect();
/// let rows = |from: usize, to: usize| TrainingSet {
///     inputs: &inputs[2 * from..2 * to], input_columns: 2,
///     targets: &targets[from..to], target_columns: 1, held: Held::NONE,
/// };
/// let options = EnsembleOptions { steps: 40, check_every: 10, ..EnsembleOptions::demo() };
/// let (set, validation) = (rows(0, 40), rows(40, 50));
///
/// let mut trainer = Trainer::new(&set, Some(&validation), &options)?;
/// trainer.advance()?;
/// let checkpoint = trainer.state();
///
/// let mut again = Trainer::resume(&set, Some(&validation), &options, checkpoint)?;
/// while let Some(progress) = again.advance()? {
///     println!("{} of {}: {}", progress.step, progress.steps, progress.training_loss);
/// }
/// while trainer.advance()?.is_some() {}
/// assert_eq!(trainer.finish()?, again.finish()?);
/// # Ok::<(), hambo_learn::ensemble::TrainingError>(())
/// ```
pub struct Trainer {
    options: EnsembleOptions,
    widths: Vec<usize>,
    layers: Vec<LayerShape>,
    standardisation: Standardisation,
    priors: Vec<Member>,
    sets: Vec<Arc<StandardisedSet>>,
    validation: Option<Vec<StandardisedSet>>,
    fingerprint: [u8; 32],
    particles: Particles<Posterior>,
    step: usize,
    early_stopping: EarlyStopping,
}

impl Trainer {
    /// Starts from random weights. With `validation`, rows of episodes that are
    /// not in `set`, training stops early and keeps the best weights.
    ///
    /// # Errors
    /// If the options or the data are unfit; the error names the place.
    pub fn new(
        set: &TrainingSet<'_>,
        validation: Option<&TrainingSet<'_>>,
        options: &EnsembleOptions,
    ) -> Result<Self, TrainingError> {
        options.check()?;
        let (standardisation, rows) = set.standardise()?;
        let validation_rows = validation
            .map(|validation| validation.standardise_as(&standardisation))
            .transpose()?;
        let priors = priors::draw(&rows, options.members, options.random_prior, options.seed);
        let validation_rows =
            validation_rows.map(|rows| rows.for_members(&priors, options.members));
        let count_of_rows = rows.rows;
        let sets: Vec<_> = rows.for_members(&priors, options.members);
        let sets: Vec<_> = sets.into_iter().map(Arc::new).collect();
        let widths = options.widths(set.input_columns, set.target_columns);
        let layers = layer_shapes(&widths);
        let count = parameter_count(&layers);
        let all = (1..).zip(&sets).map(|(stream, rows)| {
            let mut random = Random::new(options.seed, stream);
            let parameters =
                initial_parameters(options.initial, &layers, options.activation, &mut random);
            Particle::new(Posterior::new(rows, &layers, options, random), parameters)
        });
        let svgd = match options.inference {
            Inference::Ensemble => None,
            Inference::Svgd(bandwidth) => {
                Some(Svgd::new(bandwidth, count_of_rows, options.members, count))
            }
        };
        let decay = Decay {
            rate: options.weight_decay,
            ranges: layers.iter().map(|layer| layer.weights.clone()).collect(),
        };
        Ok(Self {
            particles: Particles::new(all.collect(), svgd, decay),
            options: options.clone(),
            widths,
            layers,
            standardisation,
            validation: validation_rows,
            fingerprint: fingerprint(set, validation, options),
            sets,
            priors,
            step: 0,
            early_stopping: EarlyStopping::new(),
        })
    }

    /// Goes on from a checkpoint of the same data and options, to the same weights.
    ///
    /// # Errors
    /// As [`Self::new`], and if the checkpoint belongs to another run or is broken.
    pub fn resume(
        set: &TrainingSet<'_>,
        validation: Option<&TrainingSet<'_>>,
        options: &EnsembleOptions,
        state: TrainerState,
    ) -> Result<Self, TrainingError> {
        let mut trainer = Self::new(set, validation, options)?;
        state.check(
            &trainer.fingerprint,
            options,
            parameter_count(&trainer.layers),
            trainer.sets.first().map_or(0, |set| set.rows),
        )?;
        trainer.step = state.step;
        trainer.early_stopping = state.early_stopping;
        let members = trainer.particles.all.iter_mut().zip(state.members);
        for (stream, (particle, member)) in (1..).zip(members) {
            particle.density.random = Random::at(options.seed, stream, member.draws);
            let batches = &mut particle.density.batches;
            batches.go_to(&member.order, member.next);
            particle.parameters = member.parameters;
            particle.adam = member.adam;
        }
        Ok(trainer)
    }

    /// All that [`Self::resume`] needs beside data and options.
    #[must_use]
    pub fn state(&self) -> TrainerState {
        TrainerState::of(
            self.fingerprint,
            self.step,
            &self.early_stopping,
            &self.particles,
        )
    }

    /// Updates done.
    #[must_use]
    pub fn step(&self) -> usize {
        self.step
    }

    /// Trains until the next look at the validation rows; `None` once training is over.
    ///
    /// # Errors
    /// If a member's weights or loss are no longer finite.
    pub fn advance(&mut self) -> Result<Option<TrainingProgress>, TrainingError> {
        let patient = self.early_stopping.stale < self.options.patient_looks();
        let updates = (self.options.steps - self.step).min(self.options.check_every);
        if updates == 0 || !patient {
            return Ok(None);
        }
        let steps = self.step..self.step + updates;
        let rates: Vec<f32> = steps
            .map(|step| self.options.learning_rate_at(step))
            .collect();
        self.particles.advance(&rates);
        self.step += updates;

        let losses = self.particles.take_losses(updates);
        let wrong = losses.iter().zip(&self.particles.all);
        let finite = |(loss, particle): (&f32, &Particle<Posterior>)| {
            loss.is_finite() && particle.parameters.iter().all(|p| p.is_finite())
        };
        if let Some(member) = wrong.map(finite).position(|finite| !finite) {
            return Err(TrainingError::Diverged { member });
        }
        let validation_loss = self.validation.as_ref().map(|validation| {
            let loss = mean(&losses_on(&mut self.particles, validation));
            let parameters = self.particles.all.iter().map(|p| &p.parameters);
            self.early_stopping.look(self.step, loss, parameters);
            loss
        });
        Ok(Some(TrainingProgress {
            step: self.step,
            steps: self.options.steps,
            training_loss: mean(&losses),
            validation_loss,
            best_step: match validation_loss {
                Some(_) => self.early_stopping.step,
                None => self.step,
            },
        }))
    }

    /// The ensemble: the best weights where there are validation rows, else the last.
    ///
    /// # Errors
    /// If a member's loss on the training rows is not finite, or none on the validation
    /// rows ever was.
    pub fn finish(mut self) -> Result<TrainedEnsemble, TrainingError> {
        if self.validation.is_some() && self.early_stopping.step == 0 {
            return Err(TrainingError::NeverImproved);
        }
        let best = std::mem::take(&mut self.early_stopping.parameters);
        for (particle, best) in self.particles.all.iter_mut().zip(best) {
            particle.parameters = best;
        }
        let losses = losses_on(&mut self.particles, &self.sets);
        if let Some(member) = losses.iter().position(|loss| !loss.is_finite()) {
            return Err(TrainingError::Diverged { member });
        }
        Ok(TrainedEnsemble {
            losses,
            ..self.ensemble()
        })
    }

    /// The ensemble with its current weights, and no losses.
    #[must_use]
    pub fn ensemble(&self) -> TrainedEnsemble {
        let particles = self.particles.all.iter();
        let members = particles.map(|particle| Member {
            layers: unpack(&self.layers, &particle.parameters),
        });
        TrainedEnsemble {
            widths: self.widths.clone(),
            activation: self.options.activation,
            standardisation: self.standardisation.clone(),
            std_floor: self.options.std_floor,
            std_cap: self.options.std_cap.min(self.options.noise_cap),
            members: members.collect(),
            priors: self.priors.clone(),
            losses: Vec::new(),
        }
    }
}

/// Mean negative log likelihood of every member on its rows.
fn losses_on<S>(particles: &mut Particles<Posterior>, sets: &[S]) -> Vec<f32>
where
    S: std::borrow::Borrow<StandardisedSet> + Sync,
{
    let particles = particles.all.par_iter_mut().zip(sets);
    particles
        .map(|(particle, set)| particle.density.loss_on(&particle.parameters, set.borrow()))
        .collect()
}

fn mean(losses: &[f32]) -> f32 {
    let sum: f64 = losses.iter().map(|&loss| f64::from(loss)).sum();
    (sum / losses.len() as f64) as f32
}
