//! `hambo device push`: a new controller for a board at the other end of a line.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use hambo_base::Error;
use hambo_base::observer::{Observer, Progress};
use hambo_check::number::Number;
use hambo_console::line::Line;
use hambo_core::image::Bundle;
use hambo_core::link::update::Judged;
use hambo_device::remote::{Pushed, Step};
use hambo_task::image::AlignedBytes;

use super::check::{exit_code, refusal_text};
use super::line::LineArguments;
use crate::exit_code::REJECT;

/// What `hambo device push` takes.
#[derive(Args)]
pub struct PushArguments {
    /// The bundle of `hambo export`.
    image: PathBuf,
    #[command(flatten)]
    line: LineArguments,
    /// Let the board start again afterwards, so that a bundle that passed drives.
    #[arg(long)]
    restart: bool,
    /// One JSON object instead of the text.
    #[arg(long)]
    json: bool,
}

/// Sends a bundle and prints what the board says of it; returns the exit code.
///
/// # Errors
/// If the bundle is bad, the board refuses it before a check, or nobody answers.
pub fn run(arguments: &PushArguments, out: &mut impl Write) -> Result<u8, Error> {
    let bundle = AlignedBytes::read(&arguments.image)?;
    // What no board would take is not sent.
    let counter = Bundle::parse_prefix(bundle.as_bytes())?.counter();
    let mut connected = arguments.line.open()?;
    let mut resumed = None;
    // Ctrl-C ends it at once: the next push goes on where this one was.
    let mut line = Line::begin_without_handler();
    let pushed = connected.remote.push(bundle.as_bytes(), &mut |step| {
        let (what, done, total) = match step {
            Step::Resumed(from) => {
                resumed = Some(from);
                return;
            }
            Step::Sent { done, total } => ("bytes sent", done, total),
            Step::Checked { done, total } => ("sweeps of the board's check", done, total),
        };
        let _ = line.progress(Progress {
            done: done as usize,
            planned: total as usize,
            message: what.to_owned(),
        });
    });
    line.finish();
    let pushed = pushed?;
    if arguments.restart {
        connected.remote.restart()?;
    }
    let judged = match pushed {
        Pushed::Active => None,
        Pushed::Judged(judged) => Some(judged),
    };
    if arguments.json {
        let object = serde_json::json!({
            "image": arguments.image,
            "bytes": bundle.as_bytes().len(),
            "counter": counter,
            "resumed_from": resumed,
            "verdict": judged.map(|judged| decision(&judged)),
            "refusal": judged.and_then(|judged| judged.found.verdict.err()).map(refusal_text),
            "bound": judged.map(|judged| Number::from(judged.found.bound)),
            "bound_bits": judged.map(|judged| format!("{:08x}", judged.found.bound.to_bits())),
            "digest": judged.map(|judged| format!("{:08x}", judged.found.digest)),
            "active": judged.is_none_or(|judged| judged.active.is_some()),
            "restarted": arguments.restart,
        });
        writeln!(out, "{object}")?;
    } else {
        if let Some(from) = resumed {
            writeln!(out, "went on after {from} bytes of an earlier push")?;
        }
        match judged {
            None => writeln!(out, "this very bundle is active already")?,
            Some(judged) => print(&judged, out)?,
        }
        let active = judged.is_none_or(|judged| judged.active.is_some());
        match (active, arguments.restart) {
            (true, false) => writeln!(out, "it drives after the next start of the board")?,
            (true, true) => writeln!(out, "the board starts again with it")?,
            (false, _) => writeln!(out, "the bundle that was active still is")?,
        }
    }
    Ok(match judged {
        None => 0,
        Some(judged) => match (exit_code(judged.found.verdict), judged.active) {
            (0, None) => REJECT,
            (code, _) => code,
        },
    })
}

fn decision(judged: &Judged) -> &'static str {
    judged
        .found
        .verdict
        .map_or("refused", |verdict| verdict.name())
}

fn print(judged: &Judged, out: &mut impl Write) -> Result<(), Error> {
    match judged.found.verdict {
        Err(refusal) => writeln!(out, "refused: {}", refusal_text(refusal))?,
        Ok(verdict) => writeln!(
            out,
            "{}: lower bound {:.3} (bits {:08x}, digest {:08x})",
            verdict.name(),
            Number::from(judged.found.bound),
            judged.found.bound.to_bits(),
            judged.found.digest
        )?,
    }
    if let Some(counter) = judged.active {
        writeln!(out, "active, with counter {counter}")?;
    }
    Ok(())
}
