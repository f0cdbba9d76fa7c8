//! Exit codes of `hambo`; 0 is success or deploy.

/// Exit code of what must not be deployed.
pub(crate) const REJECT: u8 = 1;
/// Exit code of what the evidence cannot decide.
pub(crate) const ABSTAIN: u8 = 3;
/// Exit code for bad usage and bad input.
pub(crate) const BAD_INPUT: u8 = 2;
/// The reader of the output has gone, as with `| head`; as if by the signal for it.
pub(crate) const NOT_READ: u8 = 141;
