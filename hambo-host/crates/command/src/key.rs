//! `hambo key`: keys that sign bundles and floors.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use hambo_base::Error;
use hambo_core::image::Role;
use hambo_task::signing::{SecretKey, role_name};

#[derive(Subcommand)]
pub enum KeyCommand {
    /// A new key: NAME.key signs and is secret, NAME.pub verifies.
    ///
    /// Neither file may be there. Keep NAME.key where only those who may sign can read it.
    ///
    /// Example: hambo key new controllers
    New(NewArguments),
}

/// What `hambo key new` takes.
#[derive(Args)]
pub struct NewArguments {
    /// The files' name without its ending.
    name: PathBuf,
    /// A key for a robot's floor; without it, one for controllers' bundles.
    #[arg(long)]
    floor: bool,
}

/// Writes a key.
///
/// # Errors
/// If one is there or cannot be written.
pub fn run(command: &KeyCommand, out: &mut impl Write) -> Result<(), Error> {
    let KeyCommand::New(arguments) = command;
    let role = if arguments.floor {
        Role::Floor
    } else {
        Role::Controllers
    };
    let [secret, public] = SecretKey::random(role)?.write(&arguments.name)?;
    writeln!(out, "saved {}: it signs; keep it secret", secret.display())?;
    writeln!(out, "saved {}: it verifies", public.display())?;
    Ok(())
}

/// Reads the key that `--sign` names, which must be for such files.
///
/// # Errors
/// If it cannot be read, or is for others.
pub(crate) fn signing_key(path: Option<&Path>, role: Role) -> Result<Option<SecretKey>, Error> {
    let Some(path) = path else {
        return Ok(None);
    };
    let key = SecretKey::read(path)?;
    if key.role() == role {
        return Ok(Some(key));
    }
    let flag = match role {
        Role::Controllers => "",
        Role::Floor => " --floor",
    };
    Err(Error::Usage(format!(
        "--sign: {} is a key for {}, not for {}\nhelp: `hambo key new{flag}` makes one",
        path.display(),
        role_name(key.role()),
        role_name(role)
    )))
}

/// A public key as digits.
pub(crate) fn digits(key: &[u8; 32]) -> String {
    key.iter().map(|byte| format!("{byte:02x}")).collect()
}
