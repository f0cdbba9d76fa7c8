//! The checked controller drives: a sample comes in over the UART, an action goes
//! out, period by period.
//!
//! Only what has passed its check gets here, with its permit in a heartbeat: the line has
//! an edge for every period in which loop and monitor went on. Every way out leads
//! through the line being dead. A host that plays the robot under
//! emulation sends the samples, so the loop runs in lockstep with it; on a board
//! of its own the samples come at the rate of [`PERIOD_US`]. The loop runs in an interrupt
//! ([`crate::control_loop`]), and below it a second bundle is checked, if there is
//! one ([`crate::candidate`]).

use crate::candidate;
use crate::control_loop::{ControlLoop, Shared};
use crate::gate::{self, Rows};
use crate::robot_link::RobotLink;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use hambo_core::drive::{Drive, DriveError};
use hambo_core::link::drive::{
    Begin, DriveMessage, DriveRefusal, DriveSummary, MAX_NUMBERS, Numbers, Ready, token,
};
use hambo_core::{Bundle, Heartbeat, LineDead, Pace};
use hambo_firmware::{
    board::{self, EnablePin, TICKS_PER_MILLISECOND, Watchdog},
    counter::Counter,
    interrupt, stack, workspace,
};

/// The control period in microseconds. A bundle with another time step is refused.
pub const PERIOD_US: u32 = 50_000;

/// Milliseconds without an edge after which the watchdog resets the board: less than two
/// periods, and more than one on a watchdog whose clock is half as fast again.
const PULSE_LIMIT: u32 = 90;

/// Between two edges by the board's own clock. Under emulation the robot waits for the board, and
/// time means nothing.
pub const PACE: Pace = if cfg!(feature = "semihosting") {
    Pace::LOCKSTEP
} else {
    Pace::of_period(PERIOD_US as u64 * TICKS_PER_MILLISECOND / 1000)
};

/// Where the drive lies and how long it is, for a debugger.
#[used]
static DRIVE_PLACE: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

/// What a drive is given of the board.
pub struct Ports<'p> {
    pub line: &'p mut Heartbeat<EnablePin>,
    pub link: &'p mut RobotLink,
    pub watchdog: &'p mut Watchdog,
    pub counter: &'p Counter,
}

/// Drives until the robot says stop, the drive stops itself, or the robot is gone.
/// Whatever happens, the line is dead afterwards. Whether the drive came to its end.
#[inline(never)]
pub fn run(begin: Begin, mut ports: Ports<'_>, rows: Rows<'_>) -> bool {
    // Borrowed where it was made: a copy would cost kilobytes of stack.
    let driven = match &Bundle::parse_prefix(board::model_region()) {
        Ok(bundle) => {
            gate::show(bundle);
            drive(begin, bundle, &mut ports, rows)
        }
        Err(_) => Err(DriveRefusal::Image),
    };
    ports.line.end(LineDead::Ended);
    match driven {
        Ok(Some(summary)) => ports.link.send(&DriveMessage::Ended(summary)).is_some(),
        Ok(None) => false,
        Err(refusal) => {
            // Whoever does not hear it sees that nothing moves.
            let _ = ports.link.send(&DriveMessage::Refused(refusal));
            false
        }
    }
}

/// Drives with the very bytes that were checked: the permit names them. The summary of a drive, or none if the
/// robot is gone.
#[inline(never)]
fn drive(
    begin: Begin,
    bundle: &Bundle<'_>,
    ports: &mut Ports<'_>,
    rows: Rows<'_>,
) -> Result<Option<DriveSummary>, DriveRefusal> {
    let (image, fallback) = (bundle.image(), bundle.fallback());
    if bundle.period() != Some(PERIOD_US) {
        return Err(DriveRefusal::Period);
    }
    let task = image.task();
    let (states, actions) = (task.state_dimension(), task.action_limits.low.len());
    if states.saturating_mul(2).saturating_add(actions) > MAX_NUMBERS {
        return Err(DriveRefusal::TooLarge);
    }
    let needed = Drive::rows_needed(image, fallback).map_err(|_| DriveRefusal::Capacity)?;
    let needed = needed.div_ceil(workspace::LANES);
    let (rows, rest) = rows
        .split_at_mut_checked(needed)
        .ok_or(DriveRefusal::Capacity)?;
    let (rows, _) = rows.as_flattened_mut().as_chunks_mut();
    let (permit, measured) = (ports.line.permit(), usize::from(begin.measured));
    let drive = Drive::permitted(permit, bundle, measured, begin.seed, rows);
    let mut drive = drive.map_err(|error| match error {
        DriveError::NotPermitted => DriveRefusal::Image,
        DriveError::Capacity(_) => DriveRefusal::Capacity,
        DriveError::Fallback => DriveRefusal::Fallback,
        DriveError::Parameter(_) | DriveError::NotMeasured(_) | DriveError::NoMonitor => {
            DriveRefusal::Settings
        }
    })?;
    let hash = image.hash();
    let ready = Ready {
        image_hash: *hash,
        token: begin
            .elsewhere
            .map(|nonce| token(hash, &nonce, ports.counter.elapsed())),
        states: states as u16,
        actions: actions as u16,
        has_fallback: fallback.is_some(),
        period_us: PERIOD_US,
    };
    // Before the first sample: without its watchdog nothing drives.
    let limited = ports.watchdog.limit(PULSE_LIMIT).is_some();
    if !(limited && ports.watchdog.runs_with(PULSE_LIMIT)) {
        return Err(DriveRefusal::Watchdog);
    }
    if ports.link.send(&DriveMessage::Ready(ready)).is_none() {
        return Ok(None);
    }
    let Some(longest) = follow(&mut drive, ready, ports, rest) else {
        return Ok(None);
    };
    for transition in drive.last_transitions() {
        let Ok(numbers) = Numbers::from_slice(transition) else {
            return Ok(None);
        };
        if ports.link.send(&DriveMessage::Kept(numbers)).is_none() {
            return Ok(None);
        }
    }
    Ok(Some(DriveSummary {
        stack_high_water: stack::high_water(),
        ..DriveSummary::of(&drive, longest)
    }))
}

/// Lets the loop run in its interrupt until the drive is over, and checks the candidate meanwhile;
/// the instructions of the longest period. `None` if the robot is gone.
#[inline(never)]
fn follow(
    drive: &mut Drive<'_>,
    ready: Ready,
    ports: &mut Ports<'_>,
    rest: Rows<'_>,
) -> Option<u32> {
    let shared = Shared::new();
    let [address, length] = &DRIVE_PLACE;
    address.store(ptr::from_ref(drive).addr(), Ordering::Relaxed);
    length.store(size_of_val(drive), Ordering::Relaxed);
    let mut control = ControlLoop {
        drive,
        token: ready.token,
        line: ports.line,
        link: ports.link,
        watchdog: ports.watchdog,
        counter: ports.counter,
        shared: &shared,
        longest: 0,
    };
    let stopped = interrupt::while_receiving(&mut || control.receive(), || {
        candidate::check(rest, &shared);
        shared.wait()
    });
    control.line.end(LineDead::Ended);
    stopped.then_some(control.longest)
}
