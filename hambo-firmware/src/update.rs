//! New controllers over the wire: what a host asks while nothing drives.
//!
//! The steps are the core's ([`Desk`]). Here are the line, the check, the watchdog, and the copy of
//! a bundle from the board's flash memory to where the gate reads it. The output is off from
//! before the first request until the next start.

use crate::gate::{self, Rows};
use crate::robot_link::RobotLink;
use crate::slices::{Slices, Watched};
use core::cell::Cell;
use core::ops::{ControlFlow, Range};
use cortex_m::{asm, peripheral::SCB};
use hambo_core::image::Name;
use hambo_core::link::device::Refusal;
use hambo_core::link::drive::DriveMessage;
use hambo_core::link::update::{Answer, Ask, CHUNK, Found, Objection, Reply};
use hambo_core::slots::Slots;
use hambo_core::update::{About, Desk, Next, Verdicts};
use hambo_core::{Bundle, Pause, Verdict, WorkDone};
use hambo_firmware::{
    board::{self, Watchdog, nor, nor::Nor},
    counter::Counter,
    fault,
};

/// Milliseconds after which a host that says no more is gone, and the board starts again.
const HOST_LIMIT: u32 = 30_000;

/// What an update is given of the board.
pub struct Ports<'p> {
    pub link: &'p mut RobotLink,
    pub watchdog: &'p mut Watchdog,
    pub counter: &'p Counter,
}

/// Copies the active bundle, if there is one, to where the gate reads it. One that cannot be read
/// leaves no bundle there.
#[inline(never)]
pub fn restore() -> Option<Slots<Nor>> {
    let mut slots = nor::slots()?;
    match slots.active() {
        Ok(Some(active)) => {
            let start = slots.range(active.slot).start;
            let end = start.saturating_add(active.length);
            let loaded = load(&mut slots, start..end);
            defmt::info!(
                "bundle {=u32} from its place{=str}",
                active.counter,
                if loaded.is_some() { "" } else { ": unreadable" }
            );
        }
        Ok(None) => {}
        Err(_) => defmt::info!("the flash memory does not answer"),
    }
    Some(slots)
}

/// Copies a bundle to where the gate reads it; its bytes there.
fn load(slots: &mut Slots<Nor>, range: Range<u32>) -> Option<&'static [u8]> {
    board::fill_model_region(&mut |at, piece| {
        let left = range.len().saturating_sub(at);
        let bytes = piece.get_mut(..left.min(CHUNK))?;
        let offset = range.start.saturating_add(u32::try_from(at).ok()?);
        slots.read(offset, bytes).ok()?;
        Some(bytes.len())
    })?;
    board::model_region().get(..range.len())
}

/// Answers a host until the board starts again: because it is asked to, or because nobody asks
/// for anything any more.
pub fn serve(slots: Option<Slots<Nor>>, found: Found, mut ports: Ports<'_>, rows: Rows<'_>) -> ! {
    let Some(slots) = slots else { fault::stop() };
    let capacity = u32::try_from(board::model_region().len()).unwrap_or(0);
    let about = About {
        board: Name::try_from("ast1030-evb").unwrap_or_default(),
        capacity,
        found,
    };
    let mut desk = Desk::new(slots, about);
    defmt::info!("a host asks; the output stays off");
    loop {
        match ports.link.asked() {
            Some(ask) => answer(&mut desk, &ask, &mut ports, rows),
            None => asm::wfi(),
        }
    }
}

/// One request.
#[inline(never)]
fn answer(desk: &mut Desk<Nor>, ask: &Ask, ports: &mut Ports<'_>, rows: Rows<'_>) {
    // The output is off: this is no proof of work, and guards against nothing but a host that is
    // gone.
    if ports.watchdog.limit(HOST_LIMIT).is_none() {
        fault::stop();
    }
    let answer = match desk.ask(ask) {
        Next::Answer(answer) => Some(answer),
        Next::Check(range) => check(desk, range, ports, rows),
        Next::Restart(answer) => {
            let _ = ports.link.send(&DriveMessage::Answer(answer));
            SCB::sys_reset()
        }
    };
    if let Some(answer) = answer {
        // A host that did not get it asks again.
        let _ = ports.link.send(&DriveMessage::Answer(answer));
    }
}

/// The check of a bundle that was written.
#[inline(never)]
fn check(
    desk: &mut Desk<Nor>,
    range: Range<u32>,
    ports: &mut Ports<'_>,
    rows: Rows<'_>,
) -> Option<Answer> {
    let number = desk.checking()?;
    let Some(bytes) = load(desk.slots(), range) else {
        return desk.refuse(Objection::Flash);
    };
    let counter = gate::with_bundle(|bundle| bundle.map(Bundle::counter));
    if let Some(counter) = counter
        && let Err(objection) = desk.ensure_counter(counter)
    {
        defmt::info!("bundle {=u32} not taken: {}", counter, objection);
        return desk.refuse(objection);
    }
    let found = judge(number, ports, rows);
    // A slice's limit was the last one.
    if ports.watchdog.limit(HOST_LIMIT).is_none() {
        fault::stop();
    }
    let answer = desk.judged(bytes, Verdicts { found, counter });
    match (&answer, found.verdict) {
        (Some(Answer { reply, .. }), Ok(verdict)) => {
            let active = matches!(reply, Reply::Judged(judged) if judged.active.is_some());
            let active = if active { "active" } else { "not taken" };
            defmt::info!("bundle checked: {}, {=str}", verdict, active);
        }
        (_, Err(refusal)) => defmt::info!("bundle not taken: {}", refusal),
        (None, _) => {}
    }
    answer
}

/// What the gate says of the bundle that lies where it reads it.
#[inline(never)]
fn judge(number: u32, ports: &mut Ports<'_>, rows: Rows<'_>) -> Found {
    let telling = Telling {
        slices: Slices::new(ports.watchdog, ports.counter),
        link: Cell::new(Some(ports.link)),
        number,
        tenth: Cell::new(1),
    };
    let refused = |refusal| Found {
        verdict: Err(refusal),
        bound: f32::NAN,
        digest: 0,
    };
    match gate::run(rows, &telling) {
        Ok(checked) => {
            let outcome = &checked.outcome;
            let deploys = outcome.verdict == Verdict::Deploy;
            // Decided a second time, as for a drive; the permit ends here.
            if deploys && gate::permit(&checked, rows).is_none() {
                return refused(Refusal::Changed);
            }
            Found {
                verdict: Ok(outcome.verdict),
                bound: outcome.bound,
                digest: outcome.digest(),
            }
        }
        Err(refusal) => refused(refusal),
    }
}

/// The pause of a check that a host waits for: it hears how the check goes on.
struct Telling<'t> {
    slices: Slices<'t>,
    /// Taken while it is used.
    link: Cell<Option<&'t mut RobotLink>>,
    number: u32,
    /// The tenth of the sweeps that is told next.
    tenth: Cell<u32>,
}

impl Pause for Telling<'_> {
    fn pause(&self, proof: Option<WorkDone>) -> ControlFlow<()> {
        self.slices.pause(proof)
    }
}

impl Watched for Telling<'_> {
    fn accepted(&self) {
        self.slices.accepted();
    }

    fn begin(&self) {
        self.tenth.set(1);
        self.slices.begin();
    }

    fn sweeps_done(&self, done: u32, total: u32) {
        self.slices.sweeps_done(done, total);
        if u64::from(done) * 10 < u64::from(total) * u64::from(self.tenth.get()) {
            return;
        }
        self.tenth.set(self.tenth.get().wrapping_add(1));
        if let Some(link) = self.link.take() {
            let reply = Reply::Working { done, total };
            let number = self.number;
            // Nobody needs it.
            let _ = link.send(&DriveMessage::Answer(Answer { number, reply }));
            self.link.set(Some(link));
        }
    }
}
