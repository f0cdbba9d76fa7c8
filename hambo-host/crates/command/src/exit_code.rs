//! Exit codes of `hambo`; 0 is success or deploy.

use hambo_check::Verdict;

/// Exit code of what must not be deployed.
pub(crate) const REJECT: u8 = 1;
/// Exit code of what the evidence cannot decide.
pub(crate) const ABSTAIN: u8 = 3;
/// Exit code for bad usage and bad input.
pub(crate) const BAD_INPUT: u8 = 2;
/// The reader of the output has gone, as with `| head`; as if by the signal for it.
pub(crate) const NOT_READ: u8 = 141;

/// What a program is told of a verdict.
pub(crate) fn exit_code(verdict: Option<Verdict>) -> u8 {
    match verdict {
        None | Some(Verdict::Deploy) => 0,
        Some(Verdict::Reject) => REJECT,
        Some(Verdict::Abstain) => ABSTAIN,
    }
}
