//! Any sequence of measurements, failures and stops against a small model of what a drive and
//! its line may do: who drives only ever goes from the controller to the fallback to nobody,
//! nothing acts once it has stopped, and the line has an edge only in a period in which loop
//! and monitor moved on.
#![no_main]

use std::cell::Cell;
use std::convert::Infallible;

use embedded_hal::digital::{ErrorType, OutputPin};
use hambo_core::drive::{Actuator, Drive, DriveSettings, Mode, Sensor, Stop};
use hambo_core::image::MonitorSettings;
use hambo_core::{Check, Heartbeat, LineDead, Permit, Progress, Pulse, example};
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

fn permit() -> Option<Permit> {
    let image = example::image().ok()?;
    let mut rows = [[0.0; 4]; 128];
    match Check::new(&image, &mut rows).ok()?.advance(1000) {
        Progress::Finished(outcome) => outcome.permit(&image),
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
    let image = example::image().unwrap();
    let fallback = example::policy().unwrap();
    let has_fallback = first % 2 == 1;
    let settings = DriveSettings {
        monitor: MonitorSettings {
            noise_width: 2.576,
            surprise_rate: 0.05,
            alpha: 0.01,
        },
        measured: 1,
        seed: u64::from(*first),
    };
    let mut rows = [[0.0]; 400];
    let second = has_fallback.then_some(&fallback);
    let mut drive = Drive::new(&image, second, settings, &mut rows).unwrap();
    let (edges, actions) = (Cell::new(0), Cell::new(0));
    let pin = Pin {
        high: false,
        edges: &edges,
    };
    let mut line = Heartbeat::new(pin, permit().unwrap());
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
        let pulse = Pulse {
            ticks: drive.ticks(),
            observed: drive.counts().steps,
        };
        let dead = line.dead();
        if mode.is_stopped() {
            line.end(LineDead::Ended);
        } else {
            assert_eq!(line.beat(pulse).is_ok(), dead.is_none());
        }
        let more = edges.get() - beats;
        assert!(more <= 1);
        if dead.is_some() {
            assert_eq!(more, 0);
        }
        // A second beat in the same period is a loop that stands still.
        if event % 8 == 7 {
            let beats = edges.get();
            assert!(line.beat(pulse).is_err());
            assert!(edges.get() - beats <= 1);
            assert!(line.dead().is_some());
        }
        before = mode;
    }
});
