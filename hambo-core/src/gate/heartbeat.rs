//! The line as a heartbeat: an edge for every period in which both the control loop and
//! the monitor went on, and no edge without them.
//!
//! A level outlives the loop that it was raised for: a processor that hangs keeps it.
//! Behind a heartbeat the power stage opens by itself when edges stop.
//!
//! Needs the feature `embedded-hal`.

use embedded_hal::digital::OutputPin;

use super::output_enable::raise;
use super::pace::Pace;
use super::permit::Permit;
use super::pulse::{Pulse, ROUND, Reread};
use crate::numeric::WorkDone;

/// Why the line is dead, for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum LineDead {
    /// The control loop did not move on by one period.
    Loop,
    /// The monitor did not look at exactly one transition more.
    Monitor,
    /// The bundle was not hashed on by one piece, a round took too long, or it came to another hash
    /// than the permit's.
    Flash,
    /// The permit's words do not open any more, or another controller drives.
    Permit,
    /// The pin could not be driven, or the line was ended.
    Ended,
    /// Less than the least time has passed since the last edge.
    Early,
    /// More than the greatest time has.
    Late,
}

/// Drives the output-enable line of a power stage that wants edges.
///
/// ```
/// use core::convert::Infallible;
/// use hambo_core::drive::{Claimed, Drive, Sensor};
/// use hambo_core::{Check, Heartbeat, Pace, Progress, example};
/// # struct Pin;
/// # impl embedded_hal::digital::ErrorType for Pin { type Error = Infallible; }
/// # impl embedded_hal::digital::OutputPin for Pin {
/// #     fn set_low(&mut self) -> Result<(), Self::Error> { Ok(()) }
/// #     fn set_high(&mut self) -> Result<(), Self::Error> { Ok(()) }
/// # }
/// struct Position(f32);
/// impl Sensor for Position {
///     type Error = Infallible;
///     fn read(&mut self, state: &mut [f32]) -> Result<bool, Infallible> {
///         state.fill(self.0);
///         Ok(true)
///     }
/// }
///
/// let bundle = example::bundle()?;
/// let floor = example::floor(&bundle)?;
/// let admitted = floor.admit(&bundle, &mut []).map_err(|_| "it asks for less")?;
/// let mut rows = [[0.0; 4]; 128];
/// let mut check = Check::of_controller(&admitted, &mut rows).map_err(|_| "too few rows")?;
/// let Progress::Finished(outcome) = check.advance(1000) else {
///     return Err("unfinished");
/// };
/// let permit = outcome.permit(&admitted, None).ok_or("refused")?;
/// let mut rows = [[0.0]; 300];
/// let drive = Drive::permitted(&permit, &bundle, 1, 0, &mut rows);
/// let mut drive = drive.map_err(|_| "another controller")?;
/// // A period of 50,000 ticks of a clock.
/// let mut line = Heartbeat::new(Pin, permit, Pace::of_period(50_000));
/// drive.tick(&mut Position(1.0), &mut Claimed(&[-0.5]));
/// assert!(line.beat(drive.pulse().ok_or("stopped")?, 1_000).is_ok());
/// // In the time that is left a piece of the bundle is hashed once more.
/// drive.reread();
/// // A sample that comes too early waits.
/// assert_eq!(line.wait(11_000), 33_750);
/// drive.tick(&mut Position(0.5), &mut Claimed(&[-0.25]));
/// assert!(line.beat(drive.pulse().ok_or("stopped")?, 51_000).is_ok());
/// drive.reread();
/// // No period has passed.
/// assert!(line.beat(drive.pulse().ok_or("stopped")?, 101_000).is_err());
/// // That was the end.
/// drive.tick(&mut Position(0.25), &mut Claimed(&[-0.125]));
/// assert!(line.beat(drive.pulse().ok_or("stopped")?, 101_000).is_err());
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct Heartbeat<P: OutputPin> {
    pin: P,
    permit: Permit,
    pace: Pace,
    /// At the last edge.
    last: Option<Edge>,
    high: bool,
    dead: Option<LineDead>,
}

/// An edge: periods, transitions and pieces by then, and the clock.
#[derive(Clone, Copy, Debug)]
struct Edge {
    ticks: u32,
    observed: u32,
    pieces: u32,
    rounds: u32,
    /// Edges since the last round ended.
    since: u32,
    now: u64,
}

impl<P: OutputPin> Heartbeat<P> {
    /// A line that is low until the first beat.
    pub fn new(mut pin: P, permit: Permit, pace: Pace) -> Self {
        let low = pin.set_low();
        Self {
            pin,
            permit,
            pace,
            last: None,
            high: false,
            dead: low.is_err().then_some(LineDead::Ended),
        }
    }

    /// How many ticks an edge must wait that would come now.
    pub fn wait(&self, now: u64) -> u64 {
        self.last
            .map_or(0, |last| self.pace.wait(now.saturating_sub(last.now)))
    }

    /// One edge, if loop and monitor each moved on by one since the last and so did the hashing of
    /// the bundle, in a drive of the very
    /// bundle and controller that the permit names, neither too early nor too late by the
    /// caller's clock `now`. In the first period there is no transition yet. The proof feeds a
    /// watchdog.
    ///
    /// # Errors
    /// If they did not, or the line is dead already: it is low, and stays so.
    pub fn beat(&mut self, pulse: Pulse<'_>, now: u64) -> Result<WorkDone, LineDead> {
        if let Some(why) = self.dead {
            return Err(why);
        }
        let (ticks, observed) = match self.last {
            Some(last) => (last.ticks.checked_add(1), last.observed.checked_add(1)),
            None => (Some(pulse.ticks), Some(pulse.observed)),
        };
        let since = self.since_round(pulse.reread);
        let permit = &self.permit;
        let permitted =
            pulse.bundle == permit.image_hash() && Some(pulse.policy) == permit.policy_hash();
        let why = if !permitted {
            Some(LineDead::Permit)
        } else if ticks != Some(pulse.ticks) {
            Some(LineDead::Loop)
        } else if observed != Some(pulse.observed) {
            Some(LineDead::Monitor)
        } else if since.is_none() {
            Some(LineDead::Flash)
        } else if self.wait(now) > 0 {
            Some(LineDead::Early)
        } else if self.is_late(now) {
            Some(LineDead::Late)
        } else {
            None
        };
        if let Some(why) = why {
            self.end(why);
            return Err(why);
        }
        self.last = Some(Edge {
            ticks: pulse.ticks,
            observed: pulse.observed,
            pieces: pulse.reread.pieces,
            rounds: pulse.reread.rounds,
            since: since.unwrap_or(ROUND),
            now,
        });
        let driven = if self.high {
            self.pin.set_low().map(|()| true)
        } else {
            raise(&mut self.pin, &self.permit)
        };
        match driven {
            Ok(true) => {
                self.high = !self.high;
                Ok(WorkDone::new())
            }
            Ok(false) => {
                self.end(LineDead::Permit);
                Err(LineDead::Permit)
            }
            Err(_) => {
                self.end(LineDead::Ended);
                Err(LineDead::Ended)
            }
        }
    }

    /// How many edges there were since a round ended, if the bundle was hashed on by one piece since
    /// the last edge, no round takes longer than it may, and the last one came to the permit's hash.
    fn since_round(&self, reread: Reread<'_>) -> Option<u32> {
        if reread.found != self.permit.image_hash() {
            return None;
        }
        let Some(last) = self.last else {
            return Some(0);
        };
        if reread.pieces != last.pieces.wrapping_add(1) {
            return None;
        }
        let ended = reread.rounds == last.rounds.wrapping_add(1);
        let since = if ended {
            0
        } else {
            last.since.saturating_add(1)
        };
        let counts = ended || reread.rounds == last.rounds;
        (counts && since < ROUND).then_some(since)
    }

    fn is_late(&self, now: u64) -> bool {
        self.last
            .is_some_and(|last| self.pace.is_late(now.saturating_sub(last.now)))
    }

    /// No more edges: the line is low, and stays so.
    pub fn end(&mut self, why: LineDead) {
        self.dead = Some(self.dead.unwrap_or(why));
        self.high = false;
        // A pin that cannot be driven makes no edges either.
        let _ = self.pin.set_low();
    }

    /// What the line was made for.
    pub fn permit(&self) -> &Permit {
        &self.permit
    }

    /// Why there are no more edges, if there are none.
    pub fn dead(&self) -> Option<LineDead> {
        self.dead
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::output_enable::tests::{MockPin, permit};
    use crate::gate::permit::tests::HASHES;

    static POLICY: [u8; 32] = [3; 32];

    static BUNDLE: [u8; 32] = HASHES.bundle;

    /// That of a drive whose rounds take four pieces.
    fn pulse(ticks: u32, observed: u32) -> Pulse<'static> {
        Pulse {
            ticks,
            observed,
            reread: Reread {
                pieces: ticks,
                rounds: ticks / 4,
                found: &BUNDLE,
            },
            bundle: &BUNDLE,
            policy: &POLICY,
        }
    }

    #[test]
    fn a_drive_of_another_bundle_or_controller_ends_the_line() {
        let other = [9; 32];
        for which in 0..2 {
            let mut pin = MockPin::default();
            let mut line = Heartbeat::new(&mut pin, permit().unwrap(), Pace::LOCKSTEP);
            assert_eq!(line.beat(pulse(1, 0), 0), Ok(WorkDone::new()));
            let mut wrong = pulse(2, 1);
            match which {
                0 => wrong.bundle = &other,
                _ => wrong.policy = &other,
            }
            assert_eq!(line.beat(wrong, 0), Err(LineDead::Permit));
            assert_eq!(line.beat(pulse(2, 1), 0), Err(LineDead::Permit));
            assert_eq!(pin.levels, [false, true, false]);
        }
    }

    #[test]
    fn every_period_is_an_edge() {
        let mut pin = MockPin::default();
        let mut line = Heartbeat::new(&mut pin, permit().unwrap(), Pace::LOCKSTEP);
        for tick in 0..4 {
            assert_eq!(line.beat(pulse(5 + tick, tick), 0), Ok(WorkDone::new()));
        }
        assert_eq!(pin.levels, [false, true, false, true, false]);
    }

    #[test]
    fn a_loop_or_a_monitor_that_stands_still_ends_the_line_for_good() {
        let cases = [
            (pulse(1, 1), LineDead::Loop),
            (pulse(0, 1), LineDead::Loop),
            (pulse(3, 1), LineDead::Loop),
            (pulse(2, 0), LineDead::Monitor),
            (pulse(2, 2), LineDead::Monitor),
        ];
        for (second, why) in cases {
            let mut pin = MockPin::default();
            let mut line = Heartbeat::new(&mut pin, permit().unwrap(), Pace::LOCKSTEP);
            assert_eq!(line.beat(pulse(1, 0), 0), Ok(WorkDone::new()));
            assert_eq!(line.beat(second, 0), Err(why));
            for later in 2..6 {
                assert_eq!(line.beat(pulse(later, later - 1), 0), Err(why));
            }
            assert_eq!(line.dead(), Some(why));
            assert_eq!(pin.levels, [false, true, false]);
        }
    }

    #[test]
    fn a_bundle_that_is_not_hashed_on_ends_the_line() {
        let other = [9; 32];
        let next = |pieces, rounds, found| Pulse {
            reread: Reread {
                pieces,
                rounds,
                found,
            },
            ..pulse(2, 1)
        };
        let cases = [
            (next(2, 0, &BUNDLE), Ok(WorkDone::new())),
            (next(2, 1, &BUNDLE), Ok(WorkDone::new())),
            // No piece, and two.
            (next(1, 0, &BUNDLE), Err(LineDead::Flash)),
            (next(3, 0, &BUNDLE), Err(LineDead::Flash)),
            // Two rounds at once, and one taken back.
            (next(2, 2, &BUNDLE), Err(LineDead::Flash)),
            (next(2, u32::MAX, &BUNDLE), Err(LineDead::Flash)),
            (next(2, 1, &other), Err(LineDead::Flash)),
            (next(2, 0, &other), Err(LineDead::Flash)),
        ];
        for (second, wanted) in cases {
            let mut pin = MockPin::default();
            let mut line = Heartbeat::new(&mut pin, permit().unwrap(), Pace::LOCKSTEP);
            assert_eq!(line.beat(pulse(1, 0), 0), Ok(WorkDone::new()));
            assert_eq!(line.beat(second, 0), wanted);
            assert_eq!(line.dead(), wanted.err());
        }
        // Of what was hashed before the first edge, too.
        let mut pin = MockPin::default();
        let mut line = Heartbeat::new(&mut pin, permit().unwrap(), Pace::LOCKSTEP);
        let wrong = next(2, 0, &other);
        assert_eq!(line.beat(wrong, 0), Err(LineDead::Flash));
    }

    #[test]
    fn a_round_that_does_not_end_in_time_ends_the_line() {
        for length in [1, ROUND, ROUND + 1] {
            let mut pin = MockPin::default();
            let mut line = Heartbeat::new(&mut pin, permit().unwrap(), Pace::LOCKSTEP);
            let edges = (0..3 * ROUND).take_while(|pieces| {
                let reread = Reread {
                    pieces: *pieces,
                    rounds: pieces / length,
                    found: &BUNDLE,
                };
                let pulse = Pulse {
                    reread,
                    ..pulse(pieces + 1, *pieces)
                };
                line.beat(pulse, 0).is_ok()
            });
            let edges = edges.count();
            let in_time = length <= ROUND;
            assert_eq!(edges == 3 * ROUND as usize, in_time, "{length}: {edges}");
            assert_eq!(line.dead().is_none(), in_time);
        }
    }

    #[test]
    fn an_edge_too_early_or_too_late_is_the_last() {
        for (now, wait, found) in [
            (1_000 + 875, 0, Ok(WorkDone::new())),
            (1_000 + 1_800, 0, Ok(WorkDone::new())),
            (1_000 + 874, 1, Err(LineDead::Early)),
            (1_000, 875, Err(LineDead::Early)),
            // A clock that went back.
            (999, 875, Err(LineDead::Early)),
            (1_000 + 1_801, 0, Err(LineDead::Late)),
        ] {
            let mut pin = MockPin::default();
            let mut line = Heartbeat::new(&mut pin, permit().unwrap(), Pace::of_period(1_000));
            // The first edge waits for nothing.
            assert_eq!(line.wait(0), 0);
            assert_eq!(line.beat(pulse(1, 0), 1_000), Ok(WorkDone::new()));
            assert_eq!(line.wait(now), wait);
            let beaten = line.beat(pulse(2, 1), now);
            assert_eq!(beaten, found, "{now}");
            let later = line.beat(pulse(3, 2), now + 1_000);
            assert_eq!(later.is_ok(), found.is_ok());
            assert_eq!(pin.levels[..3], [false, true, false]);
        }
    }

    #[test]
    fn the_end_is_low_and_a_stuck_pin_is_the_end() {
        let mut pin = MockPin::default();
        let mut line = Heartbeat::new(&mut pin, permit().unwrap(), Pace::LOCKSTEP);
        assert_eq!(line.beat(pulse(1, 0), 0), Ok(WorkDone::new()));
        line.end(LineDead::Ended);
        assert_eq!(line.beat(pulse(2, 1), 0), Err(LineDead::Ended));
        assert_eq!(pin.levels, [false, true, false]);

        let mut stuck = MockPin {
            stuck: true,
            ..MockPin::default()
        };
        let mut line = Heartbeat::new(&mut stuck, permit().unwrap(), Pace::LOCKSTEP);
        assert_eq!(line.beat(pulse(1, 0), 0), Err(LineDead::Ended));
    }
}
