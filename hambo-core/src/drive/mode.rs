//! Who drives: the checked controller, then the fallback, then nobody. It only
//! ever goes in this direction.

use serde::{Deserialize, Serialize};

use super::monitor::Trip;

/// Who drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Mode {
    /// The controller that was checked.
    Driving,
    /// The fallback controller, since the monitor tripped for this reason.
    Fallback(Trip),
    /// Nobody, for this reason. The outputs are to be off.
    Stopped(Stop),
}

/// Why nobody drives any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Stop {
    /// Somebody asked for it.
    Asked,
    /// The monitor tripped, and there is no fallback.
    Trip(Trip),
    /// The fallback has brought the robot to where it may be switched off, after this trip.
    PowerOff(Trip),
    /// A measurement or an action is not finite.
    NotFinite,
    /// The sensor failed.
    Sensor,
    /// The actuator failed.
    Actuator,
    /// What the drive remembers from one period to the next, or what was read from its bundle, has
    /// changed in between.
    Memory,
    /// The bundle's bytes are not those any more that were checked.
    Flash,
}

/// What may change who drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveEvent {
    /// The monitor tripped.
    Tripped(Trip),
    /// Nobody may drive any more.
    Stopped(Stop),
}

impl Mode {
    /// Who drives after an event. Nothing leads back: a fallback stays until it
    /// stops, and what has stopped stays so for its first reason.
    #[must_use]
    pub fn after(self, event: DriveEvent, has_fallback: bool) -> Self {
        match (self, event) {
            (Self::Stopped(_), _) | (Self::Fallback(_), DriveEvent::Tripped(_)) => self,
            (_, DriveEvent::Stopped(why)) => Self::Stopped(why),
            (Self::Driving, DriveEvent::Tripped(trip)) if has_fallback => Self::Fallback(trip),
            (Self::Driving, DriveEvent::Tripped(trip)) => Self::Stopped(Stop::Trip(trip)),
        }
    }

    /// Whether nobody drives any more.
    pub fn is_stopped(self) -> bool {
        matches!(self, Self::Stopped(_))
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Driving => "driving",
            Self::Fallback(_) => "fallback",
            Self::Stopped(_) => "stopped",
        }
    }

    /// 0, 1 and 2: it never decreases.
    pub(super) fn rank(self) -> u8 {
        match self {
            Self::Driving => 0,
            Self::Fallback(_) => 1,
            Self::Stopped(_) => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::random::Stream;

    const EVENTS: [DriveEvent; 9] = [
        DriveEvent::Tripped(Trip::Surprises),
        DriveEvent::Tripped(Trip::Far(1)),
        DriveEvent::Stopped(Stop::Asked),
        DriveEvent::Stopped(Stop::NotFinite),
        DriveEvent::Stopped(Stop::Sensor),
        DriveEvent::Stopped(Stop::Actuator),
        DriveEvent::Stopped(Stop::Memory),
        DriveEvent::Stopped(Stop::Flash),
        DriveEvent::Stopped(Stop::PowerOff(Trip::Surprises)),
    ];

    /// The allowed ways, written down a second time: the first trip counts if it comes
    /// before the first stop, and the first stop counts.
    fn expected(events: &[DriveEvent], has_fallback: bool) -> Mode {
        let trip = events
            .iter()
            .enumerate()
            .find_map(|(at, event)| match event {
                DriveEvent::Tripped(trip) => Some((at, *trip)),
                DriveEvent::Stopped(_) => None,
            });
        let stop = events
            .iter()
            .enumerate()
            .find_map(|(at, event)| match event {
                DriveEvent::Stopped(why) => Some((at, *why)),
                DriveEvent::Tripped(_) => None,
            });
        match (trip, stop) {
            (None, None) => Mode::Driving,
            (Some((_, trip)), None) if has_fallback => Mode::Fallback(trip),
            (Some((at, trip)), Some((stopped, _))) if !has_fallback && at < stopped => {
                Mode::Stopped(Stop::Trip(trip))
            }
            (Some((_, trip)), None) => Mode::Stopped(Stop::Trip(trip)),
            (_, Some((_, why))) => Mode::Stopped(why),
        }
    }

    #[test]
    fn random_events_never_lead_back() {
        for run in 0..2000 {
            let mut stream = Stream::new(5, run);
            let has_fallback = stream.index(2) == 1;
            let mut mode = Mode::Driving;
            let mut seen = Vec::new();
            for _ in 0..stream.index(8) {
                let event = EVENTS[stream.index(EVENTS.len() as u32) as usize];
                seen.push(event);
                let next = mode.after(event, has_fallback);
                assert!(next.rank() >= mode.rank(), "{mode:?} {event:?}");
                assert!(next == mode || next.rank() > mode.rank());
                assert!(has_fallback || !matches!(next, Mode::Fallback(_)));
                mode = next;
                assert_eq!(mode, expected(&seen, has_fallback), "{seen:?}");
            }
        }
    }
}
