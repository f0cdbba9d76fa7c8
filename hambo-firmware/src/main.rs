//! The gate: outputs off, check the bundle, and only then, perhaps, outputs on: as a
//! heartbeat of the loop in which its controller drives a robot, or, with the feature `level`, as
//! a level if no robot answers.
#![no_std]
#![no_main]

mod candidate;
mod control_loop;
mod drive;
mod gate;
mod robot_link;
mod slices;
#[cfg(feature = "ast1030-evb")]
mod update;

use drive::Ports;
use hambo_core::link::device::{BoardStatus, DeviceMessage, DeviceResult, Refusal, Usage};
use hambo_core::link::drive::Begin;
use hambo_core::link::update::Found;
use hambo_core::{Heartbeat, OutputEnable, Permit, Verdict};
use hambo_firmware::{
    board::{self, EnablePin, Watchdog},
    counter::Counter,
    fault, handover, link, stack, workspace,
};
use robot_link::RobotLink;
use slices::Slices;

/// Milliseconds in which a bundle of the largest size is read and hashed, also on a chip at
/// 16 MHz.
const READ_LIMIT: u32 = 30_000;

#[cortex_m_rt::entry]
fn main() -> ! {
    let Ok(mut output) = OutputEnable::new(EnablePin::new());
    board::start();
    let board = board::status();
    let (Some(mut watchdog), Some(mut peripherals), Some(rows)) = (
        Watchdog::start(READ_LIMIT),
        cortex_m::Peripherals::take(),
        workspace::take(),
    ) else {
        fault::stop()
    };
    handover::tell();
    // What came over the wire last takes the place of what was put there at first.
    #[cfg(feature = "ast1030-evb")]
    let slots = update::restore();
    let mut robot = RobotLink::open(&mut peripherals.NVIC);
    let counter = Counter::start(peripherals.SYST);
    let (decided, found) = decide(
        &mut output,
        rows,
        &mut robot,
        &counter,
        &mut watchdog,
        board,
    );
    if let Some((begin, permit)) = decided {
        let Ok(pin) = output.into_pin();
        let ports = Ports {
            line: &mut Heartbeat::new(pin, permit, drive::PACE),
            link: &mut robot,
            watchdog: &mut watchdog,
            counter: &counter,
        };
        if drive::run(begin, ports, rows) {
            link::finished();
        }
        // Nobody feeds the watchdog any more: only a new check leads to another drive.
        fault::stop()
    }
    link::finished();
    #[cfg(feature = "ast1030-evb")]
    {
        hold(&mut output, &mut watchdog, || robot.listen_for_asks());
        let ports = update::Ports {
            link: &mut robot,
            watchdog: &mut watchdog,
            counter: &counter,
        };
        update::serve(slots, found, ports, rows)
    }
    #[cfg(not(feature = "ast1030-evb"))]
    {
        let _ = found;
        hold(&mut output, &mut watchdog, || false);
        fault::stop()
    }
}

/// Checks the bundle, asks for a robot, and tells what came of it. The permit of a drive, if there
/// is a robot; without one a permit raises the level, unless a host asks for something else. Out
/// of line: an outcome takes kilobytes of stack.
#[inline(never)]
fn decide(
    output: &mut OutputEnable<EnablePin>,
    rows: gate::Rows<'_>,
    robot: &mut RobotLink,
    counter: &Counter,
    watchdog: &mut Watchdog,
    board: BoardStatus,
) -> (Option<(Begin, Permit)>, Found) {
    let slices = Slices::new(watchdog, counter);
    let checked = gate::run(rows, &slices);
    let longest_slice = slices.longest();
    // Nothing is switched on without a watchdog.
    if watchdog.limit(READ_LIMIT).is_none() || !watchdog.runs_with(READ_LIMIT) {
        fault::stop();
    }
    let usage = Usage {
        work: counter.work(),
        stack_high_water: stack::high_water(),
        workspace_bytes: workspace::BYTES,
        longest_slice,
        board,
    };
    let mut permit = match &checked {
        Ok(checked) => gate::permit(checked, rows),
        Err(_) => None,
    };
    let begin = if permit.is_some() {
        robot.begin()
    } else {
        None
    };
    let is_permitted = permit.is_some();
    if cfg!(feature = "level")
        && begin.is_none()
        && !robot.is_asked()
        && let Some(permit) = permit.take()
    {
        let Ok(()) = output.enable(permit);
    }
    let mut result = match &checked {
        Ok(checked) if checked.outcome.verdict == Verdict::Deploy && !is_permitted => {
            DeviceResult::refused(Refusal::Changed, usage)
        }
        Ok(checked) => DeviceResult::checked(&checked.outcome, usage),
        Err(refusal) => DeviceResult::refused(*refusal, usage),
    };
    result.output_enabled = output.is_on() || permit.is_some();
    let found = Found {
        verdict: result.verdict,
        bound: result.bound,
        digest: result.digest,
    };
    tell(result);

    // Where no host can bring a better bundle, nothing is left to do.
    if checked.is_err() && cfg!(not(feature = "ast1030-evb")) {
        fault::stop();
    }
    (begin.zip(permit), found)
}

/// Stays as decided. An output that is on falls if flash no longer holds what was
/// checked. One that is off feeds no watchdog: the board starts again and checks again. Comes to
/// an end, with the output off, when a host asks for something.
fn hold(
    output: &mut OutputEnable<EnablePin>,
    watchdog: &mut Watchdog,
    mut is_asked: impl FnMut() -> bool,
) {
    while !is_asked() {
        let Ok(proof) = gate::with_bundle(|bundle| output.hold(bundle));
        if let Some(proof) = proof {
            watchdog.feed(proof);
        }
        cortex_m::asm::wfi();
    }
    let Ok(()) = output.disable();
}

/// Logs the result and sends it. Out of line: the log's code lies apart from the decision's.
#[inline(never)]
fn tell(result: DeviceResult) {
    defmt::info!(
        "{}: bound {=f32}, threshold {}, without an adversary {=f32}",
        result.verdict,
        result.bound,
        result.threshold,
        result.neutral
    );
    if let Err(refusal) = &result.verdict {
        defmt::info!("because {}", refusal);
    }
    for reason in &result.reasons {
        defmt::info!("because {}", reason);
    }
    link::send(&DeviceMessage::Result(result));
}
