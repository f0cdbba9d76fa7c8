//! `hambo device check`: what the firmware says of a bundle.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use hambo_core::gate::Verdict;
use hambo_core::image::Part;
use hambo_core::link::device::{BoardStatus, Decision, Refusal};
use hambo_core::link::handover::Doubt;

use crate::exit_code::{ABSTAIN, REJECT};
use hambo_base::Error;
use hambo_base::refused::{part_name, problem_text, shortfall_text};
use hambo_check::number::Number;
use hambo_console::number::whole;
use hambo_device::Qemu;

/// What `hambo device check` takes.
#[derive(Args)]
pub struct CheckOnDevice {
    /// The bundle of `hambo export`.
    image: PathBuf,
    /// The firmware's ELF file, as `cargo xtask firmware` prints it; it runs under QEMU.
    #[arg(long)]
    firmware: PathBuf,
    /// The robot's floor (`hambo floor`). Without one the emulated robot takes the bundle at
    /// its word.
    #[arg(long)]
    floor: Option<PathBuf>,
    /// The verifier's ELF file, where the firmware is one that starts after it.
    #[arg(long)]
    verifier: Option<PathBuf>,
    /// Seconds that QEMU may take.
    #[arg(long, default_value_t = 600, value_parser = whole::<u64>)]
    firmware_timeout: u64,
    /// One JSON object instead of the text.
    #[arg(long)]
    json: bool,
}

/// Runs the gate and prints what it says; returns the exit code.
///
/// # Errors
/// If an input is bad, or the device fails.
pub fn run(arguments: &CheckOnDevice, out: &mut impl Write) -> Result<u8, Error> {
    let mut qemu = Qemu::new(&arguments.firmware)
        .with_timeout(Duration::from_secs(arguments.firmware_timeout));
    qemu.floor.clone_from(&arguments.floor);
    qemu.verifier.clone_from(&arguments.verifier);
    let report = qemu.run(&arguments.image)?;
    let result = &report.result;
    let refusal = result.verdict.err().map(refusal_text);
    if arguments.json {
        let object = serde_json::json!({
            "image": arguments.image,
            "floor": arguments.floor,
            "verdict": result.decision(),
            "refusal": refusal,
            "bound": Number::from(result.bound),
            "bound_bits": format!("{:08x}", result.bound.to_bits()),
            "digest": format!("{:08x}", result.digest),
            "threshold": result.threshold,
            "output_enabled": result.output_enabled,
            "instructions": result.usage.work.count(),
            "ram_bytes": result.usage.workspace_bytes,
            "flash_bytes": report.flash_bytes,
            "stack_high_water": result.usage.stack_high_water,
            "longest_slice": result.usage.longest_slice,
            "reset": result.usage.board.reset.name(),
            "brown_out_level": result.usage.board.brown_out_level,
            "read_out_protected": result.usage.board.read_out_protected,
        });
        writeln!(out, "{object}")?;
        return Ok(exit_code(result.verdict));
    }
    if arguments.floor.is_none() {
        writeln!(out, "no --floor: the bundle is its own judge")?;
    }
    match refusal {
        Some(text) => writeln!(out, "refused: {text}")?,
        None => writeln!(
            out,
            "{}: lower bound {:.3} (bits {:08x}, digest {:08x})",
            result.decision(),
            Number::from(result.bound),
            result.bound.to_bits(),
            result.digest
        )?,
    }
    for reason in &result.reasons {
        writeln!(out, "because {reason:?}")?;
    }
    let line = if result.output_enabled { "high" } else { "low" };
    writeln!(
        out,
        "output pin {line}; {} {}, longest slice {}, {} bytes of stack",
        result.usage.work.count(),
        result.usage.work.unit(),
        result.usage.longest_slice,
        result.usage.stack_high_water
    )?;
    writeln!(out, "board: {}", board_text(result.usage.board))?;
    Ok(exit_code(result.verdict))
}

/// What a board says of itself. What it does not tell is left out.
fn board_text(board: BoardStatus) -> String {
    let mut text = format!("last reset {}", board.reset.name());
    match board.brown_out_level {
        Some(0) => text.push_str(", brown-out reset off"),
        Some(level) => text.push_str(&format!(", brown-out reset at level {level} of 3")),
        None => {}
    }
    match board.read_out_protected {
        Some(true) => text.push_str(", flash protected against reading"),
        Some(false) => text.push_str(", flash open to a debugger"),
        None => {}
    }
    text
}

pub(super) fn exit_code(verdict: Decision) -> u8 {
    match verdict {
        Ok(Verdict::Deploy) => 0,
        Ok(Verdict::Reject) | Err(_) => REJECT,
        Ok(Verdict::Abstain) => ABSTAIN,
    }
}

/// Why no check ran, or why a passed one opened nothing.
pub(super) fn refusal_text(refusal: Refusal) -> String {
    match refusal {
        Refusal::Image(error) => {
            let (part, problem) = (part_name(&error.part), problem_text(&error.problem));
            format!("the {part} part: {problem}; export it again")
        }
        Refusal::Floor(shortfall) => shortfall_text(&shortfall),
        Refusal::Fallback => "the fallback controller does not pass".into(),
        Refusal::Capacity(error) => format!(
            "it needs {} rows of memory, {} are there: shorten the horizon or shrink the model",
            error.needed, error.available
        ),
        Refusal::WorkspaceTaken => "a check ran before and holds the memory: reset".into(),
        Refusal::Changed => "the bundle in flash is no longer the one that was checked".into(),
        Refusal::Unverified(part, doubt) => {
            let what = match part {
                Part::Floor => "floor",
                _ => "bundle",
            };
            format!("the {what} is not verified: {}", doubt_text(doubt))
        }
    }
}

/// Why what lies in flash counts as unsigned, and what to do.
fn doubt_text(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::NoVerifier => "no verifier ran before the gate: write both programs into flash",
        Doubt::NoKeys => {
            "the verifier was built without keys: name them in HAMBO_CONTROLLERS_KEY and \
             HAMBO_FLOOR_KEY and build it again"
        }
        Doubt::Unsigned => "it has no signature that can be read: sign it with --sign",
        Doubt::OtherKey => "it is signed with a key that the verifier does not know",
        Doubt::Wrong => "its signature is not that of its bytes: do not use it",
        Doubt::Changed => "it was verified, and what lies in flash now is something else",
    }
}
