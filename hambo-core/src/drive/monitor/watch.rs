//! The monitor: each transition against the model, and the wagers on how often one is unusual.

use super::observation::{Measured, MonitorCounts, Observation, Trip};
use super::residual::{Correction, Residual};
use super::wager::Wager;
use crate::check::MOST_OUTSIDE;
use crate::image::MonitorSettings;
use crate::model::{Model, Prediction};
use crate::numeric::{CapacityError, ParameterError, Slices};
use crate::task::{ModelInputs, Task};

/// The residual in radii beyond which one transition trips.
const FAR: f32 = 3.0;

/// Holds transitions against a model.
///
/// ```
/// use hambo_core::drive::monitor::{Measured, Monitor, Trip};
/// use hambo_core::image::MonitorSettings;
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
    pub(super) model: &'m Model<'m>,
    pub(super) task: &'m Task<'m>,
    pub(super) noise_width: f32,
    pub(super) surprises: Wager,
    pub(super) outside: Wager,
    pub(super) rows: &'m mut [[f32; 1]],
    pub(super) counts: MonitorCounts,
    pub(super) trip: Option<Trip>,
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
    /// Of the next state, where some of it is corrected.
    next: usize,
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
            next: match task.physics.corrected().next() {
                Some(_) => task.state_dimension(),
                None => 0,
            },
        })
    }

    fn rows(&self) -> Option<usize> {
        self.state
            .checked_add(self.action)?
            .checked_add(self.features)?
            .checked_add(self.values)?
            .checked_add(self.moved.checked_mul(3)?)?
            .checked_add(self.scratch)?
            .checked_add(self.whitened)?
            .checked_add(self.next)
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
    pub fn counts(&self) -> MonitorCounts {
        self.counts
    }

    /// Whether it has tripped, and why.
    pub fn trip(&self) -> Option<Trip> {
        self.trip
    }

    /// The wealth of the wager on surprises: 2 / alpha trips.
    pub fn wealth(&self) -> f32 {
        self.surprises.wealth()
    }

    /// The aleatoric standard deviations that the model predicted for the last transition, of every
    /// state that it moves.
    pub fn aleatoric(&self) -> &[[f32; 1]] {
        let row = Sizes::of(self.model, self.task).and_then(|sizes| {
            let before = sizes
                .state
                .checked_add(sizes.action)?
                .checked_add(sizes.features)?
                .checked_add(sizes.values)?
                .checked_add(sizes.moved.checked_mul(2)?)?;
            self.rows.get(before..)?.get(..sizes.moved)
        });
        row.unwrap_or_default()
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
        let next = take(sizes.next)?;
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
        let whole = Slices::default();
        model
            .dynamics
            .predict(seen, action, scratch, &mut prediction, &whole);
        let [outside] = model.support.outside(seen, action, whitened);
        let mut correction = Correction {
            state,
            action,
            measured: measured.next_state,
            next,
            values,
        };
        let system = (model, task);
        let width = self.noise_width;
        let residual = Residual::of(system, measured, &prediction, width, &mut correction)?;
        Some(Comparison { residual, outside })
    }
}

fn copy(from: &[f32], to: &mut [[f32; 1]]) {
    for (row, number) in to.iter_mut().zip(from) {
        *row = [*number];
    }
}
