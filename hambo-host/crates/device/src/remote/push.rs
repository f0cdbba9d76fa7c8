//! A bundle, from its first byte to what the board says of it.

use hambo_core::link::update::{CHUNK, Hash, Judged, Reply, Request};
use sha2::{Digest, Sha256};

use super::asking::{Remote, begins_again};
use super::error::RemoteError;
use super::wire::Wire;

/// How often a bundle is begun before the line counts as unusable.
const ATTEMPTS: u32 = 12;

/// What came of a bundle that was sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pushed {
    /// It is active already: nothing was sent.
    Active,
    /// The board has checked it.
    Judged(Judged),
}

/// How far a push is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The board has this many bytes from an earlier attempt.
    Resumed(u32),
    /// The board has this many bytes of all.
    Sent {
        /// So far.
        done: u32,
        /// All of them.
        total: u32,
    },
    /// The board checks; sweeps so far, of all.
    Checked {
        /// So far.
        done: u32,
        /// All of them.
        total: u32,
    },
}

impl<W: Wire> Remote<W> {
    /// Sends a bundle, from where an earlier attempt ended, and lets the board check it. One that
    /// passes is active from then on, and drives after a restart.
    ///
    /// # Errors
    /// If the board refuses it before a check, or nobody answers.
    pub fn push(
        &mut self,
        bundle: &[u8],
        watch: &mut dyn FnMut(Step),
    ) -> Result<Pushed, RemoteError> {
        let hash: Hash = Sha256::digest(bundle).into();
        let length = u32::try_from(bundle.len()).unwrap_or(u32::MAX);
        for _ in 0..ATTEMPTS {
            match self.ask(Request::Begin { length, hash }, &mut |_, _| {})? {
                Reply::Active => return Ok(Pushed::Active),
                Reply::Send { from } => {
                    if from > 0 {
                        watch(Step::Resumed(from));
                    }
                    if !self.send_from(from, bundle, watch)? {
                        continue;
                    }
                }
                Reply::Refused(why) if !begins_again(why) => {
                    return Err(RemoteError::Refused { why });
                }
                _ => continue,
            }
            let mut checked = |done, total| watch(Step::Checked { done, total });
            match self.ask(Request::Check { hash }, &mut checked)? {
                Reply::Active => return Ok(Pushed::Active),
                Reply::Judged(judged) => return Ok(Pushed::Judged(judged)),
                Reply::Refused(why) if !begins_again(why) => {
                    return Err(RemoteError::Refused { why });
                }
                _ => {}
            }
        }
        Err(RemoteError::Damaged)
    }

    /// Sends what the board does not have. `false` if it is to be begun again.
    fn send_from(
        &mut self,
        from: u32,
        bundle: &[u8],
        watch: &mut dyn FnMut(Step),
    ) -> Result<bool, RemoteError> {
        let total = u32::try_from(bundle.len()).unwrap_or(u32::MAX);
        // Going back, to the beginning of a sector that is written anew, happens once in a while.
        let limit = 4 * (bundle.len() / CHUNK + 16);
        let mut offset = from;
        for _ in 0..limit {
            if offset == total {
                return Ok(true);
            }
            let start = offset as usize;
            let end = (start + CHUNK).min(bundle.len());
            let bytes = bundle.get(start..end).and_then(|chunk| {
                let chunk = heapless::Vec::from_slice(chunk);
                chunk.ok().filter(|_| start.is_multiple_of(CHUNK))
            });
            let Some(bytes) = bytes else {
                return Ok(false);
            };
            match self.ask(Request::Chunk { offset, bytes }, &mut |_, _| {})? {
                Reply::Send { from } => {
                    offset = from;
                    watch(Step::Sent {
                        done: offset,
                        total,
                    });
                }
                Reply::Refused(why) if !begins_again(why) => {
                    return Err(RemoteError::Refused { why });
                }
                _ => return Ok(false),
            }
        }
        Ok(false)
    }
}
