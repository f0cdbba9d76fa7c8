//! While a controller drives: is the robot still the one that was modelled?
//!
//! Every measured transition is held against the set that the bound assumed,
//! widened by the noise: |s′ − s − mu| ≤ beta · tau · sigma_e + z · sigma_a for
//! every state that the model moves. One that lies outside, or that was measured
//! too late to be told, is a surprise; how often there are some is a [`Wager`],
//! and so is how often the robot is where the log has no data. Far outside, or
//! not finite, trips at once.
//!
//! This finds a model that is wrong, after the fact. It does not find an action
//! that is unsafe, nor a fault that leaves s′ − s as it was: a sensor whose
//! offset the dynamics do not depend on, for example.

mod last_transitions;
mod residual;
mod seal;
mod wager;

pub use last_transitions::LastTransitions;
pub use wager::Wager;

use serde::{Deserialize, Serialize};

use crate::check::MOST_OUTSIDE;
pub use crate::image::MonitorSettings;
use crate::image::container::CRC;
use crate::model::{Model, Prediction};
use crate::parameter::ParameterError;
use crate::physics::ModelInputs;
use crate::rollout::CapacityError;
use crate::task::Task;
use residual::Residual;

/// Beyond so many radii one transition is enough.
const FAR: f32 = 3.0;

/// A transition that was measured.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'t> {
    /// s.
    pub state: &'t [f32],
    /// a, as the actuators got it.
    pub action: &'t [f32],
    /// s′, one period later.
    pub next_state: &'t [f32],
    /// Whether both states are of their own period.
    pub is_fresh: bool,
}

/// Why the monitor tripped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Trip {
    /// A number of the transition, or of what the model says of it, is not finite,
    /// or the transition has another size than the task.
    NotFinite,
    /// This state moved farther than three times what set and noise allow.
    Far(u8),
    /// Surprises come too often.
    Surprises,
    /// The robot is too often where the log has no data.
    OutsideSupport,
}

/// What one transition says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The largest difference from the prediction, in units of what set and noise
    /// allow: above 1 is a surprise. Not a number where it could not be told.
    pub residual: f32,
    /// The state in which it was.
    pub state: u8,
    /// Whether it was a surprise.
    pub surprise: bool,
    /// Whether state and action lie outside the data's support.
    pub outside: bool,
    /// Whether the monitor has tripped, now or before, and why.
    pub trip: Option<Trip>,
}

impl Observation {
    /// One number for this and all observations before it, of which `before` is the
    /// digest, and the wealth after it: equal bits, equal digests. The first has 0
    /// before it.
    #[must_use]
    pub fn digest(&self, before: u32, wealth: f32) -> u32 {
        let bits = |number: f32| if number.is_nan() { f32::NAN } else { number }.to_bits();
        let marks = [self.surprise, self.outside, self.trip.is_some()];
        let marks = marks.iter().fold(u32::from(self.state), |sum, mark| {
            2 * sum + u32::from(*mark)
        });
        let mut bytes = [0; 16];
        let words = [before, bits(self.residual), bits(wealth), marks];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        CRC.checksum(&bytes)
    }
}

/// How many transitions were what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MonitorCounts {
    /// All.
    pub steps: u32,
    /// Outside set and noise, or not fresh.
    pub surprises: u32,
    /// Of these, those that were not fresh.
    pub stale: u32,
    /// Of these, those beyond three radii.
    pub far: u32,
    /// Outside the data's support.
    pub outside: u32,
}

/// Holds transitions against a model.
///
/// ```
/// use hambo_core::monitor::{Measured, Monitor, MonitorSettings, Trip};
/// let image = hambo_core::example::image()?;
/// let settings = MonitorSettings { noise_width: 2.6, surprise_rate: 0.05, alpha: 0.01 };
/// let mut rows = [[0.0]; 32];
/// let monitor = Monitor::new(image.model(), image.task(), settings, &mut rows);
/// let mut monitor = monitor.map_err(|_| "too few rows")?;
/// let mut drive = |next_state: f32| {
///     monitor.observe(&Measured {
///         state: &[1.0],
///         action: &[-0.5],
///         next_state: &[next_state],
///         is_fresh: true,
///     })
/// };
/// // The model says 0.5 ± 0.103.
/// let usual = drive(0.55);
/// assert!(!usual.surprise && usual.trip.is_none());
/// // One surprise is no news, several are.
/// let surprise = drive(0.75);
/// assert!(surprise.surprise && surprise.trip.is_none());
/// assert!((0..8).any(|_| drive(0.75).trip == Some(Trip::Surprises)));
/// // From then on it stays so.
/// assert_eq!(drive(0.5).trip, Some(Trip::Surprises));
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct Monitor<'m> {
    model: &'m Model<'m>,
    task: &'m Task<'m>,
    noise_width: f32,
    surprises: Wager,
    outside: Wager,
    rows: &'m mut [[f32; 1]],
    counts: MonitorCounts,
    trip: Option<Trip>,
}

/// Why there is no monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum MonitorError {
    /// A setting is out of its range.
    Parameter(ParameterError),
    /// Too few rows were lent.
    Capacity(CapacityError),
}

/// Rows of each kind, in the order in which they are carved.
struct Sizes {
    state: usize,
    action: usize,
    features: usize,
    values: usize,
    moved: usize,
    scratch: usize,
    whitened: usize,
}

impl Sizes {
    fn of(model: &Model<'_>, task: &Task<'_>) -> Option<Self> {
        Some(Self {
            state: task.state_dimension(),
            action: model.dynamics.action_dimension(),
            features: match &task.physics.inputs {
                ModelInputs::States(_) => 0,
                ModelInputs::Features(slots) => slots.len(),
            },
            values: task.program.len(),
            moved: model.dynamics.outputs(),
            scratch: model.dynamics.scratch_rows()?,
            whitened: model.support.scratch_rows(),
        })
    }

    fn rows(&self) -> Option<usize> {
        self.state
            .checked_add(self.action)?
            .checked_add(self.features)?
            .checked_add(self.values)?
            .checked_add(self.moved.checked_mul(3)?)?
            .checked_add(self.scratch)?
            .checked_add(self.whitened)
    }
}

/// What a transition is compared with.
struct Comparison {
    residual: Residual,
    outside: bool,
}

impl<'m> Monitor<'m> {
    /// How many rows a model and a task need.
    ///
    /// # Errors
    /// If the count does not fit a number.
    pub fn rows_needed(model: &Model<'_>, task: &Task<'_>) -> Result<usize, CapacityError> {
        let sizes = Sizes::of(model, task);
        sizes.and_then(|sizes| sizes.rows()).ok_or(CapacityError {
            needed: usize::MAX,
            available: 0,
        })
    }

    /// A monitor that has seen nothing yet.
    ///
    /// # Errors
    /// If there are too few rows, or a setting is out of its range.
    pub fn new(
        model: &'m Model<'m>,
        task: &'m Task<'m>,
        settings: MonitorSettings,
        rows: &'m mut [[f32; 1]],
    ) -> Result<Self, MonitorError> {
        let capacity = CapacityError {
            needed: Self::rows_needed(model, task).map_err(MonitorError::Capacity)?,
            available: rows.len(),
        };
        if capacity.needed > capacity.available {
            return Err(MonitorError::Capacity(capacity));
        }
        let width = settings.noise_width;
        ParameterError::number("noise_width", width >= 0.0 && width.is_finite())
            .map_err(MonitorError::Parameter)?;
        // The two together trip falsely no more often than alpha.
        let half = 0.5 * settings.alpha;
        let wager = |rate| Wager::new(rate, half).map_err(MonitorError::Parameter);
        Ok(Self {
            model,
            task,
            noise_width: width,
            surprises: wager(settings.surprise_rate)?,
            outside: wager(f32::from(MOST_OUTSIDE) / 100.0)?,
            rows,
            counts: MonitorCounts::default(),
            trip: None,
        })
    }

    /// Takes in the next transition. Once tripped, the monitor stays so.
    pub fn observe(&mut self, measured: &Measured<'_>) -> Observation {
        self.counts.steps = self.counts.steps.saturating_add(1);
        let compared = self.compare(measured);
        let Some(Comparison { residual, outside }) = compared else {
            self.trip = self.trip.or(Some(Trip::NotFinite));
            return self.observation(Residual::UNKNOWN, true, true);
        };
        let stale = !measured.is_fresh;
        // Written so that a NaN counts as a surprise, and as far away.
        let (usual, near) = (residual.radii <= 1.0, residual.radii <= FAR);
        let surprise = !usual || stale;
        let far = !near && !stale;
        let count = |counter: &mut u32, is: bool| *counter = counter.saturating_add(u32::from(is));
        count(&mut self.counts.surprises, surprise);
        count(&mut self.counts.stale, stale);
        count(&mut self.counts.far, far);
        count(&mut self.counts.outside, outside);
        let often = self.surprises.push(surprise);
        let away = self.outside.push(outside);
        let trip = if far {
            Some(Trip::Far(residual.state))
        } else if often {
            Some(Trip::Surprises)
        } else if away {
            Some(Trip::OutsideSupport)
        } else {
            None
        };
        self.trip = self.trip.or(trip);
        self.observation(residual, surprise, outside)
    }

    fn observation(&self, residual: Residual, surprise: bool, outside: bool) -> Observation {
        Observation {
            residual: residual.radii,
            state: residual.state,
            surprise,
            outside,
            trip: self.trip,
        }
    }

    /// How many transitions were what.
    #[must_use]
    pub fn counts(&self) -> MonitorCounts {
        self.counts
    }

    /// Whether it has tripped, and why.
    #[must_use]
    pub fn trip(&self) -> Option<Trip> {
        self.trip
    }

    /// The wealth of the wager on surprises: 2 / alpha trips.
    #[must_use]
    pub fn wealth(&self) -> f32 {
        self.surprises.wealth()
    }

    /// What the model says of a transition; none if it cannot say anything.
    fn compare(&mut self, measured: &Measured<'_>) -> Option<Comparison> {
        let (model, task) = (self.model, self.task);
        let sizes = Sizes::of(model, task)?;
        let fits = measured.state.len() == sizes.state
            && measured.next_state.len() == sizes.state
            && measured.action.len() == sizes.action;
        if !fits {
            return None;
        }
        let mut rest = &mut *self.rows;
        let mut take = |count: usize| {
            let (taken, left) = core::mem::take(&mut rest).split_at_mut_checked(count)?;
            rest = left;
            Some(taken)
        };
        let (state, action) = (take(sizes.state)?, take(sizes.action)?);
        let (features, values) = (take(sizes.features)?, take(sizes.values)?);
        let mut prediction = Prediction {
            mean: take(sizes.moved)?,
            epistemic_std: take(sizes.moved)?,
            aleatoric_std: take(sizes.moved)?,
        };
        let (scratch, whitened) = (take(sizes.scratch)?, take(sizes.whitened)?);
        copy(measured.state, state);
        copy(measured.action, action);
        let numbers = measured.state.iter().chain(measured.action);
        let mut numbers = numbers.chain(measured.next_state);
        if !numbers.all(|number| number.is_finite()) {
            return None;
        }
        let (seen, finite) = task.physics.see(&task.program, state, values, features);
        if finite != [true] {
            return None;
        }
        model
            .dynamics
            .predict(seen, action, scratch, &mut prediction);
        let [outside] = model.support.outside(seen, action, whitened);
        let residual = Residual::of((model, task), measured, &prediction, self.noise_width)?;
        Some(Comparison { residual, outside })
    }
}

fn copy(from: &[f32], to: &mut [[f32; 1]]) {
    for (row, number) in to.iter_mut().zip(from) {
        *row = [*number];
    }
}

#[cfg(test)]
mod tests;
