//! `hambo device status`: what a board at the other end of a line holds.

use std::io::Write;

use clap::Args;
use hambo_base::Error;
use hambo_check::number::Number;
use hambo_core::link::update::Hash;

use super::check::refusal_text;
use super::line::LineArguments;

/// What `hambo device status` takes.
#[derive(Args)]
pub struct StatusArguments {
    #[command(flatten)]
    line: LineArguments,
    /// One JSON object instead of the text.
    #[arg(long)]
    json: bool,
}

/// Prints what the board holds; returns the exit code.
///
/// # Errors
/// If nobody answers, or a controller drives.
pub fn run(arguments: &StatusArguments, out: &mut impl Write) -> Result<u8, Error> {
    let here = arguments.line.open()?.remote.hello()?;
    let found = here.found;
    if arguments.json {
        let object = serde_json::json!({
            "board": here.board.as_str(),
            "protocol": here.protocol,
            "bundle_format": here.format,
            "capacity": here.capacity,
            "active": here.active.map(|active| serde_json::json!({
                "counter": active.counter,
                "bytes": active.length,
                "hash": hexadecimal(&active.hash),
            })),
            "verdict": found.verdict.map_or("refused", |verdict| verdict.name()),
            "refusal": found.verdict.err().map(refusal_text),
            "bound": Number::from(found.bound),
            "bound_bits": format!("{:08x}", found.bound.to_bits()),
            "digest": format!("{:08x}", found.digest),
        });
        writeln!(out, "{object}")?;
        return Ok(0);
    }
    writeln!(
        out,
        "{}: bundles of format {}, up to {} bytes; protocol {}",
        here.board, here.format, here.capacity, here.protocol
    )?;
    match here.active {
        Some(active) => writeln!(
            out,
            "active: counter {}, {} bytes, hash {}",
            active.counter,
            active.length,
            hexadecimal(&active.hash)
        )?,
        None => writeln!(out, "active: none that came over the wire")?,
    }
    match found.verdict {
        Ok(verdict) => writeln!(
            out,
            "at its start: {}, lower bound {:.3}",
            verdict.name(),
            Number::from(found.bound)
        )?,
        Err(refusal) => writeln!(out, "at its start: refused: {}", refusal_text(refusal))?,
    }
    Ok(0)
}

fn hexadecimal(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
