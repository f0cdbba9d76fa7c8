//! One period after the other: measurement, monitor, controller or fallback, action.

use super::error::DriveError;
use super::mode::{DriveEvent, Mode, Stop};
use super::monitor::{LastTransitions, Measured, Monitor, MonitorCounts, Observation, Trip};
use super::named::Named;
use super::ports::{Actuator, Sensor};
use super::rows::{DriveRows, Sizes, carve};
use crate::image::{Image, MonitorSettings, fits};
use crate::numeric::checksum::CRC;
use crate::numeric::elementary::clamp;
use crate::numeric::random::Stream;
use crate::numeric::{CapacityError, ParameterError, Slices};
use crate::policy::{Policy, PolicyInputs, StoredPolicy};
use crate::task::Task;
use crate::task::expression::{Comparison, Inputs};

/// What a drive is told beside the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveSettings {
    /// When the monitor trips.
    pub monitor: MonitorSettings,
    /// How many states are measured, from the first on; the others, such as what a
    /// controller remembers, are computed by the task's known physics.
    pub measured: usize,
    /// The seed of the chance in a controller that has some.
    pub seed: u64,
}

/// Drives with an image's controller.
///
/// One with a permit ([`Drive::permitted`]) says in its [`Pulse`](crate::gate::Pulse) what
/// went on, for a heartbeat; one without ([`Drive::new`]) computes the same and moves no line.
///
/// ```
/// use core::convert::Infallible;
/// use hambo_core::drive::{Actuator, Drive, DriveSettings, Mode, Sensor};
/// use hambo_core::image::MonitorSettings;
///
/// // The robot of the examples: s′ = s + a.
/// struct Robot(f32);
/// impl Sensor for &Robot {
///     type Error = Infallible;
///     fn read(&mut self, state: &mut [f32]) -> Result<bool, Infallible> {
///         state.fill(self.0);
///         Ok(true)
///     }
/// }
/// impl Actuator for Robot {
///     type Error = Infallible;
///     fn apply(&mut self, action: &[f32]) -> Result<(), Infallible> {
///         self.0 += action.iter().sum::<f32>();
///         Ok(())
///     }
/// }
///
/// let image = hambo_core::example::image()?;
/// let settings = DriveSettings {
///     monitor: MonitorSettings { noise_width: 2.576, surprise_rate: 0.1, alpha: 0.01 },
///     measured: 1,
///     seed: 0,
/// };
/// let mut rows = [[0.0]; 300];
/// let drive = Drive::new(&image, None, settings, &mut rows);
/// let mut drive = drive.map_err(|_| "too few rows")?;
/// let mut robot = Robot(1.0);
/// for _ in 0..4 {
///     let place = Robot(robot.0);
///     let tick = drive.tick(&mut &place, &mut robot);
///     assert_eq!(tick.mode, Mode::Driving);
/// }
/// // Halved in each of four periods.
/// assert_eq!(robot.0, 1.0 / 16.0);
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct Drive<'d> {
    pub(super) task: &'d Task<'d>,
    pub(super) policy: &'d StoredPolicy<'d>,
    pub(super) fallback: Option<&'d StoredPolicy<'d>>,
    pub(super) monitor: Monitor<'d>,
    pub(super) last: LastTransitions<'d>,
    pub(super) rows: DriveRows<'d>,
    pub(super) measured: usize,
    pub(super) stream: Stream,
    pub(super) mode: Mode,
    pub(super) ticks: u32,
    /// Whether the last period has a state and an action, and a fresh state.
    pub(super) has_before: bool,
    pub(super) was_fresh: bool,
    pub(super) digest: u32,
    /// What the permit names; none without a permit.
    pub(super) permitted: Option<Named<'d>>,
    /// The checksum of all of this at the end of the last period.
    pub(super) seal: Option<u32>,
}

/// What a period came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick<'t> {
    /// The period's number, from 0.
    pub number: u32,
    /// Who drives in it.
    pub mode: Mode,
    /// What the actuators got; none if nobody drives.
    pub action: Option<&'t [f32]>,
    /// What the monitor says of the transition that led here; none in the first
    /// period.
    pub observation: Option<Observation>,
}

impl<'d> Drive<'d> {
    /// How many rows of one lane a drive needs.
    ///
    /// # Errors
    /// If the count does not fit a number.
    pub fn rows_needed(
        image: &Image<'_>,
        fallback: Option<&StoredPolicy<'_>>,
    ) -> Result<usize, CapacityError> {
        let policies = core::iter::once(image.policy()).chain(fallback);
        Sizes::of(image.model(), image.task(), policies)?.rows()
    }

    /// A drive without a permit, that has not begun: its periods are no pulse.
    ///
    /// # Errors
    /// If there are too few rows, a setting is out of its range, the fallback has
    /// other sizes than the task, or a state is neither measured nor known.
    #[inline(never)]
    pub fn new(
        image: &'d Image<'d>,
        fallback: Option<&'d StoredPolicy<'d>>,
        settings: DriveSettings,
        rows: &'d mut [[f32; 1]],
    ) -> Result<Self, DriveError> {
        let (model, task, policy) = (image.model(), image.task(), image.policy());
        if fallback.is_some_and(|fallback| !fits(fallback, task)) {
            return Err(DriveError::Fallback);
        }
        let states = task.state_dimension();
        ParameterError::size("measured", settings.measured <= states)
            .map_err(DriveError::Parameter)?;
        let mut others = settings.measured..states;
        if let Some(state) = others.find(|state| !task.physics.knows(*state)) {
            return Err(DriveError::NotMeasured(state as u16));
        }
        let policies = core::iter::once(policy).chain(fallback);
        let sizes = Sizes::of(model, task, policies).map_err(DriveError::Capacity)?;
        let width = sizes.width().unwrap_or(usize::MAX);
        let (rows, monitor_rows, kept) = carve(&sizes, rows)?;
        let remembered = task.initial.first.iter().skip(settings.measured);
        let now = rows.now.iter_mut().skip(settings.measured);
        for (row, start) in now.zip(remembered) {
            *row = [*start];
        }
        copy(rows.now, rows.next_seen);
        let mut drive = Self {
            task,
            policy,
            fallback,
            monitor: Monitor::new(model, task, settings.monitor, monitor_rows)?,
            last: LastTransitions::new(kept, width),
            rows,
            measured: settings.measured,
            stream: Stream::new(settings.seed, 0),
            mode: Mode::Driving,
            ticks: 0,
            has_before: false,
            was_fresh: false,
            digest: 0,
            permitted: None,
            seal: None,
        };
        drive.seal = drive.checksum();
        Ok(drive)
    }

    /// One period. Once stopped, neither sensor nor actuator is touched.
    pub fn tick<S: Sensor, A: Actuator>(&mut self, sensor: &mut S, actuator: &mut A) -> Tick<'_> {
        if !self.is_sealed() {
            self.end(Stop::Memory);
        }
        let number = self.ticks;
        self.ticks = number.saturating_add(1);
        let observation = self.sense(number, sensor);
        if let Mode::Fallback(trip) = self.mode
            && self.may_be_switched_off(number)
        {
            self.end(Stop::PowerOff(trip));
        }
        let applied = self.decide() && {
            let executed = actuator.apply(self.rows.action.as_flattened()).is_ok();
            if !executed {
                self.end(Stop::Actuator);
            }
            executed
        };
        self.has_before = applied;
        self.digest = self.next_digest(applied);
        self.seal = self.checksum();
        Tick {
            number,
            mode: self.mode,
            action: applied.then_some(self.rows.action.as_flattened()),
            observation,
        }
    }

    /// Ends the drive. What has stopped before keeps its reason.
    pub fn stop(&mut self, why: Stop) {
        self.end(why);
        self.seal = self.checksum();
    }

    /// Who drives.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// How many states are measured: the first ones of the task.
    pub fn measured(&self) -> usize {
        self.measured
    }

    /// How many periods there were.
    pub fn ticks(&self) -> u32 {
        self.ticks
    }

    /// Who drove and what the actuators got in all periods, in one number: equal
    /// bits, equal digests.
    pub fn digest(&self) -> u32 {
        self.digest
    }

    /// How many transitions were what.
    pub fn counts(&self) -> MonitorCounts {
        self.monitor.counts()
    }

    /// Whether the monitor has tripped, and why.
    pub fn trip(&self) -> Option<Trip> {
        self.monitor.trip()
    }

    /// The wealth of the monitor's wager on surprises.
    pub fn wealth(&self) -> f32 {
        self.monitor.wealth()
    }

    /// The last transitions of the checked controller, s, a, s′ one after the
    /// other, the oldest first: up to `KEPT`, the one that tripped included.
    pub fn last_transitions(&self) -> impl Iterator<Item = &[f32]> {
        self.last.iter()
    }

    pub(super) fn end(&mut self, why: Stop) {
        self.happens(DriveEvent::Stopped(why));
    }

    fn happens(&mut self, event: DriveEvent) {
        self.mode = self.mode.after(event, self.fallback.is_some());
    }

    /// Reads the sensor and holds the transition that led here against the model.
    fn sense<S: Sensor>(&mut self, number: u32, sensor: &mut S) -> Option<Observation> {
        if self.mode.is_stopped() {
            return None;
        }
        let own = self.rows.now.get_mut(..self.measured).unwrap_or_default();
        let Ok(fresh) = sensor.read(own.as_flattened_mut()) else {
            self.end(Stop::Sensor);
            return None;
        };
        if !(self.see() && self.remember(number)) {
            self.end(Stop::NotFinite);
            return None;
        }
        let observation = self.has_before.then(|| {
            let rows = &self.rows;
            let (state, action) = (rows.before.as_flattened(), rows.action.as_flattened());
            let next_state = rows.now.as_flattened();
            if self.mode == Mode::Driving {
                self.last.push(state, action, next_state);
            }
            self.monitor.observe(&Measured {
                state,
                action,
                next_state,
                is_fresh: fresh && self.was_fresh,
            })
        });
        if let Some(trip) = observation.and_then(|seen| seen.trip) {
            self.happens(DriveEvent::Tripped(trip));
        }
        self.was_fresh = fresh;
        copy(self.rows.now, self.rows.before);
        copy(self.rows.next_seen, self.rows.seen);
        observation
    }

    /// What was measured, in the ranges that a rollout keeps. False if a number is
    /// not finite.
    fn see(&mut self) -> bool {
        let DriveRows { now, next_seen, .. } = &mut self.rows;
        self.task.wraps.wrap(now);
        copy(now, next_seen);
        self.task.keep_in_range(next_seen);
        let limits = &self.task.state_limits;
        let limits = limits.low.iter().zip(limits.high);
        for (row, (low, high)) in next_seen.iter_mut().zip(limits) {
            *row = row.map(|x| clamp(x, *low, *high));
        }
        let mut numbers = now.iter().chain(next_seen.iter()).flatten();
        numbers.all(|number| number.is_finite())
    }

    /// Computes the states that nobody measures, from the second period on. False if
    /// a number is not finite.
    fn remember(&mut self, number: u32) -> bool {
        if self.measured >= self.rows.now.len() || !self.has_before {
            return true;
        }
        let DriveRows {
            now,
            seen,
            next_seen,
            action,
            features,
            values,
            ..
        } = &mut self.rows;
        let task = self.task;
        let (_, finite) = task.physics.see(&task.program, seen, values, features);
        // The step that led here.
        let step = number.saturating_sub(1) as f32;
        let range = (&task.wraps, &task.state_limits);
        let known = task.physics.compute_known_from(
            self.measured,
            &task.program,
            range,
            (seen, action),
            step,
            next_seen,
            values,
        );
        let remembered = next_seen.iter().skip(self.measured);
        for (row, from) in now.iter_mut().skip(self.measured).zip(remembered) {
            *row = *from;
        }
        let mut numbers = next_seen.iter().flatten();
        finite == [true] && known == [true] && numbers.all(|number| number.is_finite())
    }

    /// Whether the task says that power-off is safe in the state that is seen now.
    fn may_be_switched_off(&mut self, number: u32) -> bool {
        let Some(slot) = self.task.power_off else {
            return false;
        };
        let rows = &mut self.rows;
        let inputs = Inputs {
            state: rows.seen,
            action: rows.action,
            next: rows.seen,
            step: number as f32,
        };
        let program = &self.task.program;
        let all = 0..program.len();
        let finite = program.evaluate_ops(all, Comparison::Exact, inputs, rows.values);
        let value = rows.values.get(usize::from(slot));
        finite == [true] && value.is_some_and(|[value]| *value != 0.0)
    }

    /// The action of whoever drives, within the task's limits. False if nobody does.
    fn decide(&mut self) -> bool {
        let policy = match (self.mode, self.fallback) {
            (Mode::Driving, _) => self.policy,
            (Mode::Fallback(_), Some(fallback)) => fallback,
            _ => return false,
        };
        let rows = &mut self.rows;
        if !policy.is_deterministic() {
            for row in rows.noise.iter_mut() {
                *row = [self.stream.standard_normal()];
            }
        }
        let whole = Slices::default();
        let inputs = PolicyInputs {
            noise: rows.noise,
            ..PolicyInputs::new(rows.seen, rows.scratch, &whole)
        };
        policy.act(inputs, rows.wanted);
        let limits = &self.task.action_limits;
        let limits = limits.low.iter().zip(limits.high);
        for ((row, wanted), (low, high)) in
            rows.action.iter_mut().zip(rows.wanted.iter()).zip(limits)
        {
            *row = wanted.map(|wanted| clamp(wanted, *low, *high));
        }
        let finite = rows.wanted.iter().chain(rows.action.iter()).flatten();
        let finite = finite.copied().all(f32::is_finite);
        if !finite {
            self.end(Stop::NotFinite);
        }
        finite
    }

    fn next_digest(&self, applied: bool) -> u32 {
        let mut crc = CRC.digest();
        crc.update(&self.digest.to_le_bytes());
        crc.update(&[self.mode.rank()]);
        if applied {
            for number in self.rows.action.as_flattened() {
                crc.update(&number.to_bits().to_le_bytes());
            }
        }
        crc.finalize()
    }
}

fn copy(from: &[[f32; 1]], to: &mut [[f32; 1]]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}
