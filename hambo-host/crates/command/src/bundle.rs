//! `hambo bundle verify`: who signed a bundle or a floor.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use hambo_base::Error;
use hambo_console::number::whole;
use hambo_core::image::{Bundle, Role};
use hambo_task::image::AlignedBytes;
use hambo_task::signing::{PublicKey, role_of, verify};

use super::exit_code::REJECT;
use super::key::digits;

#[derive(Subcommand)]
pub enum BundleCommand {
    /// Whether a bundle or a floor is signed with a key, and intact.
    ///
    /// Exit code 0: it is; 1: it is not, and must not be used.
    ///
    /// Example: hambo bundle verify image.hmb --key controllers.pub
    Verify(VerifyArguments),
}

/// What `hambo bundle verify` takes.
#[derive(Args)]
pub struct VerifyArguments {
    /// The bundle, or a floor.
    bundle: PathBuf,
    /// The public key (NAME.pub of `hambo key new`).
    #[arg(long)]
    key: PathBuf,
    /// The least counter: a bundle with a smaller one is an old one.
    #[arg(long, value_parser = whole::<u32>)]
    counter: Option<u32>,
    /// One JSON object instead of the text.
    #[arg(long)]
    json: bool,
}

/// Verifies; returns the exit code.
///
/// # Errors
/// If a file cannot be read, or the key is none.
pub fn run(command: &BundleCommand, out: &mut impl Write) -> Result<u8, Error> {
    let BundleCommand::Verify(arguments) = command;
    let key = PublicKey::read(&arguments.key)?;
    let bytes = AlignedBytes::read(&arguments.bundle)?;
    let role = role_of(bytes.as_bytes());
    if arguments.counter.is_some() && role == Role::Floor {
        return Err(Error::Usage(format!(
            "--counter: {} is a floor, which has a least counter and none of its own\n\
             help: leave --counter out",
            arguments.bundle.display()
        )));
    }
    let refused = match verify(&bytes, &key) {
        Err(error) => Some(error.to_string()),
        Ok(()) => arguments.too_old(&bytes)?,
    };
    let name = arguments.bundle.display();
    let kind = match role {
        Role::Controllers => "bundle",
        Role::Floor => "floor",
    };
    let about = match role {
        Role::Controllers if refused.is_none() => Some(Bundle::parse(bytes.as_bytes())?),
        _ => None,
    };
    if arguments.json {
        let object = serde_json::json!({
            "file": name.to_string(),
            "kind": kind,
            "key": digits(key.as_bytes()),
            "verified": refused.is_none(),
            "refused": refused,
            "counter": about.as_ref().map(Bundle::counter),
            "robot": about.as_ref().map(Bundle::robot),
            "board": about.as_ref().map(Bundle::board),
        });
        writeln!(out, "{object}")?;
    } else if let Some(why) = &refused {
        writeln!(out, "refused: {name}: {why}")?;
    } else {
        writeln!(
            out,
            "verified: {name}, a {kind} signed with {}",
            arguments.key.display()
        )?;
        if let Some(bundle) = &about {
            writeln!(
                out,
                "robot {} on {}, counter {}",
                bundle.robot(),
                bundle.board(),
                bundle.counter()
            )?;
        }
    }
    Ok(if refused.is_some() { REJECT } else { 0 })
}

impl VerifyArguments {
    /// Why a verified bundle is too old, if it is.
    fn too_old(&self, bytes: &AlignedBytes) -> Result<Option<String>, Error> {
        let Some(least) = self.counter else {
            return Ok(None);
        };
        let found = Bundle::parse(bytes.as_bytes())?.counter();
        Ok((found < least).then(|| {
            format!(
                "its counter is {found}, and {least} is the least: it is an old one\n\
                 help: export it again with a larger --counter"
            )
        }))
    }
}
