//! Targets of builds for other machines than this one.

/// 64-bit ARM; it links without a C compiler.
pub const ARM64: &str = "aarch64-unknown-linux-musl";
/// Runs a program of [`ARM64`].
pub const ARM64_QEMU: &str = "qemu-aarch64";
/// Linked statically, so that it runs on any Linux of this processor.
pub const STATIC: &str = "x86_64-unknown-linux-musl";
