//! The core's tests under Miri.

use crate::command::CommandLine;

/// The core forbids `unsafe`, so Miri looks at what leans on that of other crates: bytes that
/// are read as numbers, and vectors. It knows no assembly, which `libm` uses for square roots
/// otherwise.
pub fn line() -> CommandLine {
    CommandLine::new(
        "cargo +nightly miri test -p hambo-core --lib --features libm/force-soft-floats \
         -- image:: numeric::",
    )
}
