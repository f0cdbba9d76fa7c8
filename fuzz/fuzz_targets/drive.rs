//! Any sequence of measurements, failures and stops against a small model of what a drive and
//! its line may do: who drives only ever goes from the controller to the fallback to nobody,
//! nothing acts once it has stopped, and the line has an edge only in a period in which loop
//! and monitor moved on.
#![no_main]

use std::cell::Cell;
use std::convert::Infallible;

use embedded_hal::digital::{ErrorType, OutputPin};
use hambo_core::drive::{Actuator, Drive, Mode, Sensor, Stop};
use hambo_core::{Bundle, Check, Heartbeat, LineDead, Pace, Permit, Progress, example};
use libfuzzer_sys::fuzz_target;

/// The robot of the examples, s′ = s + a, with whatever the bytes do to it.
struct Robot<'b> {
    event: u8,
    state: f32,
    actions: &'b Cell<u32>,
}

impl Sensor for Robot<'_> {
    type Error = ();

    fn read(&mut self, state: &mut [f32]) -> Result<bool, ()> {
        match self.event % 8 {
            1 => return Ok(false),
            2 => state.fill(f32::NAN),
            3 => state.fill(self.state + f32::from(self.event)),
            4 => return Err(()),
            _ => state.fill(self.state),
        }
        Ok(true)
    }
}

impl Actuator for Robot<'_> {
    type Error = ();

    fn apply(&mut self, action: &[f32]) -> Result<(), ()> {
        if self.event % 8 == 5 {
            return Err(());
        }
        self.actions.set(self.actions.get() + 1);
        self.state += action.iter().sum::<f32>();
        Ok(())
    }
}

/// Counts its edges.
struct Pin<'e> {
    high: bool,
    edges: &'e Cell<u32>,
}

impl Pin<'_> {
    fn drive(&mut self, high: bool) {
        self.edges
            .set(self.edges.get() + u32::from(high != self.high));
        self.high = high;
    }
}

impl ErrorType for Pin<'_> {
    type Error = Infallible;
}

impl OutputPin for Pin<'_> {
    fn set_low(&mut self) -> Result<(), Infallible> {
        self.drive(false);
        Ok(())
    }

    fn set_high(&mut self) -> Result<(), Infallible> {
        self.drive(true);
        Ok(())
    }
}

fn permit(bundle: &Bundle<'_>) -> Option<Permit> {
    let floor = example::floor(bundle).ok()?;
    let admitted = floor.admit(bundle, &mut []).ok()?;
    let mut rows = [[0.0; 4]; 128];
    let fallback = match admitted.fallback() {
        None => None,
        Some(fallback) => match Check::of_fallback(&fallback, &mut rows).ok()?.advance(1000) {
            Progress::Finished(outcome) => Some(outcome.permit(&admitted)?),
            Progress::Working { .. } => return None,
        },
    };
    match Check::of_controller(&admitted, &mut rows)
        .ok()?
        .advance(1000)
    {
        Progress::Finished(outcome) => outcome.permit(&admitted, fallback.as_ref()),
        Progress::Working { .. } => None,
    }
}

fn rank(mode: Mode) -> u8 {
    match mode {
        Mode::Driving => 0,
        Mode::Fallback(_) => 1,
        Mode::Stopped(_) => 2,
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, events)) = bytes.split_first() else {
        return;
    };
    let has_fallback = first % 2 == 1;
    let fallback = has_fallback.then(|| example::policy().unwrap());
    let bundle = example::bundle_with(fallback, |_| {}).unwrap();
    let permit = permit(&bundle).unwrap();
    let mut rows = [[0.0]; 400];
    let seed = u64::from(*first);
    let mut drive = Drive::permitted(&permit, &bundle, 1, seed, &mut rows).unwrap();
    let (edges, actions) = (Cell::new(0), Cell::new(0));
    let pin = Pin {
        high: false,
        edges: &edges,
    };
    let mut line = Heartbeat::new(pin, permit, Pace::LOCKSTEP);
    let mut robot = Robot {
        event: 0,
        state: 1.0,
        actions: &actions,
    };
    let mut before = drive.mode();
    for event in events {
        robot.event = *event;
        if event % 8 == 6 {
            drive.stop(Stop::Asked);
        }
        let (acted, beats) = (actions.get(), edges.get());
        let mut actuator = Robot { ..robot };
        let (mode, action, trip) = {
            let tick = drive.tick(&mut robot, &mut actuator);
            let trip = tick.observation.and_then(|seen| seen.trip);
            (tick.mode, tick.action.map(<[f32]>::to_vec), trip)
        };
        robot.state = actuator.state;
        // Who drives: forward only, and by the first reason.
        assert!(rank(mode) >= rank(before), "{before:?} {mode:?}");
        if rank(mode) == rank(before) {
            assert_eq!(mode, before);
        }
        match (before, mode) {
            (Mode::Driving, Mode::Fallback(why)) => {
                assert!(has_fallback && trip == Some(why));
            }
            (_, Mode::Stopped(Stop::Trip(why))) if rank(before) == 0 => {
                assert!(!has_fallback && trip == Some(why));
            }
            _ => {}
        }
        if trip.is_some() {
            assert_ne!(mode, Mode::Driving);
        }
        // One action a period while somebody drives, and none after that.
        assert_eq!(action.is_some(), actions.get() == acted + 1);
        assert!(actions.get() - acted <= 1);
        assert_eq!(action.is_some(), !mode.is_stopped());
        assert!(action.is_none_or(|action| action.iter().all(|x| x.abs() <= 1.0)));
        // The line: an edge in a period that went on, none before it did, none once dead.
        let dead = line.dead();
        assert_eq!(drive.pulse().is_some(), !mode.is_stopped());
        match drive.pulse() {
            Some(pulse) => assert_eq!(line.beat(pulse, 0).is_ok(), dead.is_none()),
            None => line.end(LineDead::Ended),
        }
        let more = edges.get() - beats;
        assert!(more <= 1);
        if dead.is_some() {
            assert_eq!(more, 0);
        }
        // A second beat in the same period is a loop that stands still.
        if event % 8 == 7
            && let Some(pulse) = drive.pulse()
        {
            let beats = edges.get();
            assert!(line.beat(pulse, 0).is_err());
            assert!(edges.get() - beats <= 1);
            assert!(line.dead().is_some());
        }
        drive.reread();
        assert_eq!(drive.mode(), mode);
        before = mode;
    }
});
