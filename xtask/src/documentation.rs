//! The core's documentation.

use crate::command::{CommandLine, Problem};
use crate::project::Project;

/// The name of the step.
pub const NAME: &str = "documentation of the core";

impl Project {
    /// Builds the core's documentation; a link that leads nowhere is an error.
    pub fn ensure_documentation(&self) -> Result<(), Problem> {
        let line = CommandLine::new("cargo doc --release --no-deps -p hambo-core");
        self.run(line.with("RUSTDOCFLAGS", "-D warnings"))
    }
}
