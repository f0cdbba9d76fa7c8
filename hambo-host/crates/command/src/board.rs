//! The boards and what they have for an image.

use hambo_base::Error;
use hambo_learn::gaussian_process::DeviceRoom;

/// A board that the firmware runs on.
pub struct Board {
    pub name: &'static str,
    /// Flash for an image: MODEL in memory.x.
    pub image_bytes: usize,
    /// Memory for a check: the firmware's workspace.
    pub workspace_bytes: usize,
    /// STACK in memory.x.
    pub stack_bytes: usize,
}

const BOARDS: [Board; 1] = [Board {
    name: "stm32f405",
    image_bytes: 512 * 1024,
    workspace_bytes: 64 * 1024,
    stack_bytes: 60 * 1024,
}];

/// Flash that task, policy and adversaries may take of an image.
const OTHER_PARTS: usize = 32 * 1024;
/// Memory that a check may take beside a prediction.
const OTHER_ROWS: usize = 16 * 1024;

impl Board {
    /// What is there for the points of Gaussian processes.
    pub fn room_for_points(&self) -> DeviceRoom {
        DeviceRoom {
            flash_bytes: self.image_bytes - OTHER_PARTS,
            scratch_bytes: self.workspace_bytes - OTHER_ROWS,
        }
    }

    /// The board of a name.
    ///
    /// # Errors
    /// If there is none; the message names those there are.
    pub fn named(name: &str) -> Result<&'static Self, Error> {
        let found = BOARDS.iter().find(|board| board.name == name);
        found.ok_or_else(|| {
            let known: Vec<&str> = BOARDS.iter().map(|board| board.name).collect();
            Error::Usage(format!(
                "there is no board `{name}`; known: {}",
                known.join(", ")
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those of memory.x and of the firmware.
    #[test]
    fn boards_are_as_the_firmware_has_them() {
        let board = &BOARDS[0];
        let memory = include_str!("../../../../memory.x");
        let kilobytes = |bytes: usize| format!("LENGTH = {}K", bytes / 1024);
        let line = |region: &str| {
            let found = memory.lines().find(|line| line.trim().starts_with(region));
            found.unwrap_or_default()
        };
        assert!(line("MODEL").ends_with(&kilobytes(board.image_bytes)));
        assert!(line("STACK").ends_with(&kilobytes(board.stack_bytes)));
        let workspace = include_str!("../../../../hambo-firmware/src/workspace.rs");
        let rows = board.workspace_bytes / 16;
        assert!(workspace.contains(&format!("const ROWS: usize = {rows};")));
    }
}
