//! Whether a bundle asks for as much as its robot.

use core::hint::black_box;

use serde::{Deserialize, Serialize};

use super::admitted::Admitted;
use super::identity::{constraint_identity, question};
use super::part::Floor;
use crate::drive::monitor::{Measured, Monitor};
use crate::estimate::probability_limit;
use crate::gate::code_words::{ADMITTED, REFUSED};
use crate::image::{Bundle, MonitorSettings};
use crate::model::{Calibration, ConfidenceSet};
use crate::numeric::redundant::{Redundant, Side};
use crate::task::{Task, Variant};

/// The share of the robot's own transitions that must lie in set and noise, as the lower
/// 95 % limit by Clopper and Pearson.
const LEAST_COVERAGE: f32 = 0.9;
/// One minus the confidence of that limit.
const COVERAGE_DELTA: f32 = 0.05;

/// The field in which a bundle asks for less than its robot does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Shortfall {
    /// It was sized for another board.
    Board,
    /// It is meant for another robot.
    Robot,
    /// It is older than what this robot takes.
    Counter,
    /// Its time step is not that of the robot's loop.
    Period,
    /// It has other numbers of states or actions.
    Dimension,
    /// It states no threshold, or a lower one.
    Threshold,
    /// Its bound may fail with a larger probability.
    Delta,
    /// Its trajectories have another length.
    Horizon,
    /// Another reward, or another discount.
    Reward,
    /// Another termination.
    Termination,
    /// Another place where the robot may be switched off.
    PowerOff,
    /// Other known states or circles.
    Known,
    /// Other limits or periods of the states.
    StateLimits,
    /// Other limits of the actions.
    ActionLimits,
    /// Other initial states.
    Initial,
    /// The robot's constraint at this place is not among its own.
    Constraint(u8),
    /// HAMBO-CA is not among the variants that decide.
    Variant,
    /// The system's own chance is not played out.
    Noise,
    /// The adversary's set is narrower.
    Beta,
    /// Fewer trajectories.
    Trajectories,
    /// Fewer searched trajectories.
    Searched,
    /// Fewer sweeps of the search.
    Sweeps,
    /// More of the adversary's starts are left out.
    Allocation,
    /// Fewer bounds hold for any distribution.
    DistributionFree,
    /// The model is not calibrated.
    Calibration,
    /// Too many of the robot's own transitions lie outside set and noise: this many.
    Coverage(u16),
    /// There is no fallback controller.
    Fallback,
    /// The memory does not hold the model.
    Capacity,
    /// Two judgements of the same bundle disagree: memory or an instruction failed.
    Corrupted,
    /// At too many of the robot's own transitions the model's noise is wider than the robot's: this
    /// many.
    WideNoise(u16),
    /// It does not say when the monitor trips.
    Monitor,
    /// Its monitor lets noise take more standard deviations.
    MonitorWidth,
    /// More surprises are usual to its monitor.
    MonitorRate,
    /// Its monitor waits for more of them before it trips.
    MonitorAlpha,
}

/// How many of the robot's own transitions were looked at, how many lie outside set and noise, and
/// at how many the noise is wider than the robot's: counted in two copies.
struct Coverage {
    count: Redundant<u16>,
    outside: Redundant<u16>,
    wide: Redundant<u16>,
}

impl Floor<'_> {
    /// Whether a bundle asks for as much as the robot. It is judged twice, each time to a code
    /// word: a permit needs both.
    ///
    /// # Errors
    /// The first field in which it asks for less.
    #[inline(never)]
    pub fn admit<'b>(
        &self,
        bundle: &'b Bundle<'b>,
        rows: &mut [[f32; 1]],
    ) -> Result<Admitted<'b>, Shortfall> {
        // Whatever can be said without the robot's transitions is said before they are counted.
        self.check_fields(bundle)?;
        let coverage = self.count_coverage(bundle, rows)?;
        let (first, shortfall) = self.judge(bundle, &coverage, Side::Plain);
        let (second, _) = self.judge(bundle, &coverage, Side::Complement);
        let admitted = Admitted::of(first, second, bundle, self.hash);
        admitted.ok_or(shortfall.unwrap_or(Shortfall::Corrupted))
    }

    /// The code word of a judgement that rests on one copy of the counts, and why it is not that
    /// of an admission. Out of line and from values that the compiler does not know: it cannot
    /// make one judgement of two.
    #[inline(never)]
    fn judge(
        &self,
        bundle: &Bundle<'_>,
        coverage: &Coverage,
        side: Side,
    ) -> (u32, Option<Shortfall>) {
        let (floor, bundle) = (black_box(self), black_box(bundle));
        let fields = floor.check_fields(bundle);
        let judged = fields
            .and_then(|()| floor.check_coverage(coverage, side))
            .and_then(|()| floor.check_fallback(bundle));
        match judged {
            Ok(()) => (ADMITTED, None),
            Err(shortfall) => (REFUSED, Some(shortfall)),
        }
    }

    /// All that asks for no more than a look.
    fn check_fields(&self, bundle: &Bundle<'_>) -> Result<(), Shortfall> {
        self.check_addressee(bundle)?;
        let task = bundle.image().task();
        self.check_question(task)?;
        self.check_amounts(task)?;
        self.check_model(bundle)?;
        self.check_monitor(bundle)
    }

    fn check_fallback(&self, bundle: &Bundle<'_>) -> Result<(), Shortfall> {
        let there = bundle.fallback().is_some();
        ensure(there || !self.manifest.fallback, Shortfall::Fallback)
    }

    /// The time between two actions in microseconds, where the robot has one.
    pub fn period(&self) -> Option<u32> {
        self.manifest.period
    }

    fn check_addressee(&self, bundle: &Bundle<'_>) -> Result<(), Shortfall> {
        let own = &self.manifest;
        ensure(own.board == bundle.board(), Shortfall::Board)?;
        ensure(own.robot == bundle.robot(), Shortfall::Robot)?;
        ensure(bundle.counter() >= own.counter, Shortfall::Counter)?;
        ensure(
            own.period.is_none() || own.period == bundle.period(),
            Shortfall::Period,
        )
    }

    fn check_question(&self, task: &Task<'_>) -> Result<(), Shortfall> {
        let own = &self.manifest;
        let dimensions = (task.state_dimension(), task.action_limits.low.len());
        let wanted = (usize::from(own.states), usize::from(own.actions));
        ensure(dimensions == wanted, Shortfall::Dimension)?;
        let asked = question(task).ok_or(Shortfall::Capacity)?;
        let wanted = &own.question;
        ensure(asked.reward == wanted.reward, Shortfall::Reward)?;
        ensure(
            asked.termination == wanted.termination,
            Shortfall::Termination,
        )?;
        ensure(asked.power_off == wanted.power_off, Shortfall::PowerOff)?;
        ensure(asked.known == wanted.known, Shortfall::Known)?;
        ensure(
            asked.state_limits == wanted.state_limits,
            Shortfall::StateLimits,
        )?;
        ensure(
            asked.action_limits == wanted.action_limits,
            Shortfall::ActionLimits,
        )?;
        ensure(asked.initial == wanted.initial, Shortfall::Initial)?;
        for (place, wanted) in (0_u8..).zip(&own.constraints) {
            let mut constraints = task.constraints.iter();
            let there = constraints
                .any(|constraint| constraint_identity(task, constraint).as_ref() == Some(wanted));
            ensure(there, Shortfall::Constraint(place))?;
        }
        Ok(())
    }

    /// Written so that a NaN is a shortfall.
    fn check_amounts(&self, task: &Task<'_>) -> Result<(), Shortfall> {
        let own = &self.manifest;
        let reaches = |least| task.threshold.is_some_and(|threshold| threshold >= least);
        ensure(own.threshold.is_none_or(reaches), Shortfall::Threshold)?;
        ensure(task.delta <= own.delta, Shortfall::Delta)?;
        ensure(task.horizon == own.horizon, Shortfall::Horizon)?;
        let decides = |variant| task.plan.method.variants.contains(&variant);
        ensure(
            decides(Variant::ContinuousAdversary) || !own.continuous_adversary,
            Shortfall::Variant,
        )?;
        ensure(
            task.plan.method.aleatoric_noise || !own.noise,
            Shortfall::Noise,
        )?;
        let effort = &task.plan.effort;
        ensure(
            effort.trajectories >= own.trajectories,
            Shortfall::Trajectories,
        )?;
        ensure(effort.searched >= own.searched, Shortfall::Searched)?;
        ensure(effort.iterations >= own.sweeps, Shortfall::Sweeps)?;
        ensure(effort.allocation <= own.allocation, Shortfall::Allocation)?;
        ensure(
            task.distribution_free >= own.distribution_free,
            Shortfall::DistributionFree,
        )
    }

    fn check_model(&self, bundle: &Bundle<'_>) -> Result<(), Shortfall> {
        let confidence = &bundle.image().model().confidence;
        ensure(is_wide(confidence, self.manifest.beta), Shortfall::Beta)?;
        ensure(
            confidence.calibration == Calibration::Passed || !self.manifest.calibration,
            Shortfall::Calibration,
        )
    }

    /// Written so that a NaN is a shortfall.
    fn check_monitor(&self, bundle: &Bundle<'_>) -> Result<(), Shortfall> {
        let Some(blindest) = self.manifest.monitor else {
            return Ok(());
        };
        let own = bundle.monitor().ok_or(Shortfall::Monitor)?;
        ensure(
            own.noise_width <= blindest.noise_width,
            Shortfall::MonitorWidth,
        )?;
        ensure(
            own.surprise_rate <= blindest.surprise_rate,
            Shortfall::MonitorRate,
        )?;
        ensure(own.alpha >= blindest.alpha, Shortfall::MonitorAlpha)?;
        ensure(own.is_sound(), Shortfall::Monitor)
    }

    fn check_coverage(&self, coverage: &Coverage, side: Side) -> Result<(), Shortfall> {
        let wanted = self.manifest.transitions;
        if wanted == 0 {
            return Ok(());
        }
        let (count, outside) = (coverage.count.read(side), coverage.outside.read(side));
        let wide = coverage.wide.read(side);
        ensure(
            count == wanted && covers(count, outside),
            Shortfall::Coverage(outside),
        )?;
        ensure(covers(count, wide), Shortfall::WideNoise(wide))
    }

    /// Counts the robot's own transitions outside set and noise, and those at which the noise is
    /// wider than the robot's. The one without the other says nothing: noise that is wide enough
    /// holds every transition of a model that is wrong, and leaves its adversary nothing to choose.
    #[inline(never)]
    fn count_coverage(
        &self,
        bundle: &Bundle<'_>,
        rows: &mut [[f32; 1]],
    ) -> Result<Coverage, Shortfall> {
        let own = &self.manifest;
        let mut coverage = Coverage {
            count: Redundant::of(0, 0),
            outside: Redundant::of(0, 0),
            wide: Redundant::of(0, 0),
        };
        if own.transitions == 0 {
            return Ok(coverage);
        }
        let (model, task) = (bundle.image().model(), bundle.image().task());
        // Only single transitions are looked at; when it would trip does not matter.
        let settings = MonitorSettings {
            noise_width: own.noise_width,
            surprise_rate: 0.5,
            alpha: 0.5,
        };
        let mut monitor =
            Monitor::new(model, task, settings, rows).map_err(|_| Shortfall::Capacity)?;
        let (states, actions) = (usize::from(own.states), usize::from(own.actions));
        let width = states.saturating_mul(2).saturating_add(actions);
        for transition in self.transitions.chunks_exact(width.max(1)) {
            let (state, rest) = transition
                .split_at_checked(states)
                .ok_or(Shortfall::Capacity)?;
            let (action, next_state) = rest.split_at_checked(actions).ok_or(Shortfall::Capacity)?;
            let observation = monitor.observe(&Measured {
                state,
                action,
                next_state,
                is_fresh: true,
            });
            let wide = u16::from(!self.is_noise_of_robot(monitor.aleatoric()));
            coverage.wide.update(|count| count.saturating_add(wide));
            coverage.count.update(|count| count.saturating_add(1));
            let surprise = u16::from(observation.surprise);
            coverage
                .outside
                .update(|outside| outside.saturating_add(surprise));
        }
        Ok(coverage)
    }
}

impl Floor<'_> {
    /// Whether the noise of one transition is as narrow as the robot's in every state.
    fn is_noise_of_robot(&self, noise: &[[f32; 1]]) -> bool {
        let limits = self.noise_limits;
        let mut pairs = noise.iter().zip(limits);
        // Written so that a NaN is too wide.
        let narrow = pairs.all(|([std], limit)| std <= limit);
        limits.is_empty() || narrow && noise.len() == limits.len()
    }
}

/// Whether the set is at least this wide in every state.
fn is_wide(set: &ConfidenceSet<'_>, least: f32) -> bool {
    let mut radii = set.radii();
    // Written so that a NaN is none.
    radii.all(|radius| radius >= least)
}

/// Whether so few of the robot's own transitions lie outside that the set covers it.
fn covers(count: u16, outside: u16) -> bool {
    let limit = probability_limit(u32::from(count), u32::from(outside), COVERAGE_DELTA);
    limit >= LEAST_COVERAGE
}

fn ensure(holds: bool, shortfall: Shortfall) -> Result<(), Shortfall> {
    if holds { Ok(()) } else { Err(shortfall) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::example;

    #[test]
    fn each_judgement_rests_on_its_own_copy_of_the_counts() {
        let bundle = example::bundle().unwrap();
        let mut floor = example::floor(&bundle).unwrap();
        floor.manifest.transitions = 256;
        let word = |count: [u16; 2], outside: [u16; 2], side| {
            let coverage = Coverage {
                count: Redundant::of(count[0], count[1]),
                outside: Redundant::of(outside[0], outside[1]),
                wide: Redundant::of(0, 0),
            };
            floor.judge(&bundle, &coverage, side)
        };
        let refused = |outside| (REFUSED, Some(Shortfall::Coverage(outside)));
        for side in [Side::Plain, Side::Complement] {
            assert_eq!(word([256; 2], [17; 2], side), (ADMITTED, None));
            assert_eq!(word([256; 2], [18; 2], side), refused(18));
            assert_eq!(word([255; 2], [0; 2], side), refused(0));
        }
        let (counts, one_flipped) = ([256; 2], [0, 256]);
        assert_eq!(word(counts, one_flipped, Side::Plain), (ADMITTED, None));
        assert_eq!(word(counts, one_flipped, Side::Complement), refused(256));
        // The noise has copies of its own.
        let noise = |wide: [u16; 2], side| {
            let coverage = Coverage {
                count: Redundant::of(256, 256),
                outside: Redundant::of(0, 0),
                wide: Redundant::of(wide[0], wide[1]),
            };
            floor.judge(&bundle, &coverage, side).1
        };
        for side in [Side::Plain, Side::Complement] {
            assert_eq!(noise([17; 2], side), None);
            assert_eq!(noise([18; 2], side), Some(Shortfall::WideNoise(18)));
        }
        assert_eq!(noise([0, 256], Side::Plain), None);
        let flipped = noise([0, 256], Side::Complement);
        assert_eq!(flipped, Some(Shortfall::WideNoise(256)));
        // And so in the fields.
        floor.manifest.delta = 0.05;
        let coverage = Coverage {
            count: Redundant::of(256, 256),
            outside: Redundant::of(0, 0),
            wide: Redundant::of(0, 0),
        };
        for side in [Side::Plain, Side::Complement] {
            let judged = floor.judge(&bundle, &coverage, side);
            assert_eq!(judged, (REFUSED, Some(Shortfall::Delta)));
        }
        let refusal = floor.admit(&bundle, &mut []);
        assert_eq!(refusal.map(|_| ()), Err(Shortfall::Delta));
    }

    #[test]
    fn noise_is_the_robots_own_in_every_state() {
        let bundle = example::bundle().unwrap();
        let mut floor = example::floor(&bundle).unwrap();
        // A floor without limits asks nothing.
        assert!(floor.is_noise_of_robot(&[[9.0]]));
        floor.noise_limits = &[0.5, 0.25];
        assert!(floor.is_noise_of_robot(&[[0.5], [0.25]]));
        for wide in [
            &[[0.51], [0.25]][..],
            &[[0.5], [0.26]],
            &[[0.0], [f32::NAN]],
            &[[f32::INFINITY], [0.0]],
            &[[0.5]],
            &[[0.5], [0.25], [0.0]],
            &[],
        ] {
            assert!(!floor.is_noise_of_robot(wide), "{wide:?}");
        }
    }

    #[test]
    fn a_monitor_is_no_blinder_than_the_floors() {
        // z 2.576, p0 0.1 and alpha 0.01.
        let bundle = example::bundle().unwrap();
        let mut floor = example::floor(&bundle).unwrap();
        let own = bundle.monitor().unwrap();
        let refused = |floor: &Floor<'_>| floor.admit(&bundle, &mut []).err();
        assert_eq!(refused(&floor), None);
        floor.manifest.monitor = Some(own);
        assert_eq!(refused(&floor), None);
        let narrower = |change: fn(&mut MonitorSettings)| {
            let mut blindest = own;
            change(&mut blindest);
            let mut floor = floor.clone();
            floor.manifest.monitor = Some(blindest);
            refused(&floor)
        };
        let width = narrower(|blindest| blindest.noise_width = 2.575);
        assert_eq!(width, Some(Shortfall::MonitorWidth));
        let rate = narrower(|blindest| blindest.surprise_rate = 0.099);
        assert_eq!(rate, Some(Shortfall::MonitorRate));
        let alpha = narrower(|blindest| blindest.alpha = 0.011);
        assert_eq!(alpha, Some(Shortfall::MonitorAlpha));
    }

    #[test]
    fn coverage_is_shown_with_confidence_and_not_by_the_share() {
        // Without one outside: 0.05^(1/28) is 0.8985, 0.05^(1/29) is 0.9018.
        assert!(covers(29, 0) && !covers(28, 0));
        // Of 256 a share of 0.934 is enough, and one of 0.930 is not.
        assert!(covers(256, 17) && !covers(256, 18));
        assert!(!covers(0, 0));
    }

    #[test]
    fn a_set_must_be_wide_in_every_state() {
        let set = |scales| {
            let set = ConfidenceSet {
                beta: 2.0,
                calibration_scale: scales,
                calibration: Calibration::Passed,
                tested_steps: 100,
            };
            is_wide(&set, 2.0)
        };
        assert!(set(&[1.0, 1.0, 1.5]));
        for narrow in [
            &[0.5, 1.0, 1.5],
            &[1.0, 0.5, 1.5],
            &[1.5, 1.0, 0.5],
            &[1.0, 1.0, f32::NAN],
        ] {
            assert!(!set(narrow), "{narrow:?}");
        }
    }
}
