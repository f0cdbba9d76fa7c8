//! What a host asks of a device that holds bundles, and what it answers: how a new controller
//! comes over the wire.
//!
//! | host asks | device answers |
//! |---|---|
//! | [`Request::Hello`] | [`Reply::Here`]: versions, capacity, what is active |
//! | [`Request::Begin`] with length and hash | [`Reply::Send`]: bytes from here on; [`Reply::Active`]: it drives already |
//! | [`Request::Chunk`] | [`Reply::Send`]: the next bytes from here on |
//! | [`Request::Check`] with the hash | [`Reply::Working`], again and again, then [`Reply::Judged`] |
//! | [`Request::Restart`] | [`Reply::Restarting`], and then it starts again |
//!
//! Every answer carries the number of what it answers, and every request may be asked again under
//! its number: it then does nothing twice. So a host that hears nothing in time asks again, and
//! that is all that it takes on a line that loses, doubles or damages frames.
//!
//! Nothing here moves the outputs. A device that drives answers [`Objection::Driving`]; one that
//! does not has its outputs off, and a new bundle drives after a restart, when it has passed its
//! check once more.

use heapless::Vec;
use serde::{Deserialize, Serialize};

use super::device::Decision;
use crate::image::Name;

/// The version of this protocol.
pub const PROTOCOL: u16 = 1;

/// The bytes of a bundle in one message; every offset is a multiple of it.
pub const CHUNK: usize = 256;

/// SHA-256.
pub type Hash = [u8; 32];

/// Something that a host asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Another one for each request; the same if it is asked again.
    pub number: u32,
    /// What.
    pub request: Request,
}

/// What a host asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time, and the usual one is the large one"
)]
pub enum Request {
    /// Who is there?
    Hello,
    /// A bundle is to be written, or to be gone on with.
    Begin {
        /// Its bytes, with its signature.
        length: u32,
        /// SHA-256 of them.
        hash: Hash,
    },
    /// Bytes of the bundle that was begun.
    Chunk {
        /// Where they belong.
        offset: u32,
        /// [`CHUNK`] of them, or the last ones.
        bytes: Vec<u8, CHUNK>,
    },
    /// Check the bundle that was written, and make it active if it passes.
    Check {
        /// Which one.
        hash: Hash,
    },
    /// Start again, with the bundle that is active.
    Restart,
}

/// What a device answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// That of the request.
    pub number: u32,
    /// What.
    pub reply: Reply,
}

/// What came of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Reply {
    /// Who is there.
    Here(Here),
    /// Bytes from here on are awaited; at the bundle's length all are there.
    Send {
        /// Where the next ones belong.
        from: u32,
    },
    /// This very bundle is active.
    Active,
    /// The check goes on.
    Working {
        /// Sweeps so far.
        done: u32,
        /// All of them.
        total: u32,
    },
    /// What came of the check.
    Judged(Judged),
    /// The device starts again.
    Restarting,
    /// It is not done.
    Refused(Objection),
}

/// Who is there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Here {
    /// [`PROTOCOL`].
    pub protocol: u16,
    /// The version of bundles that it reads.
    pub format: u16,
    /// The board.
    pub board: Name,
    /// The longest bundle that it takes.
    pub capacity: u32,
    /// The bundle that is active; none before the first one that came over the wire.
    pub active: Option<ActiveBundle>,
    /// What came of the bundle that was found at the start.
    pub found: Found,
}

/// The bundle that is active.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveBundle {
    /// Its bytes.
    pub length: u32,
    /// Its counter: a new one must have a larger one.
    pub counter: u32,
    /// SHA-256 of its bytes.
    pub hash: Hash,
}

/// What came of a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The decision.
    pub verdict: Decision,
    /// The lower bound of the return; NaN without a check.
    pub bound: f32,
    /// One number for all estimates, see [`Outcome::digest`](crate::check::Outcome::digest).
    pub digest: u32,
}

/// What came of the check of a bundle that was written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Of the check.
    pub found: Found,
    /// The counter with which it is active from now on; none if it is not.
    pub active: Option<u32>,
}

/// Why something is not done. In every case the active bundle is the one that it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Objection {
    /// A controller drives: stop it first.
    Driving,
    /// The bundle is empty, or longer than this.
    Length {
        /// What there is room for.
        capacity: u32,
    },
    /// No bundle was begun, or another one: begin.
    NotBegun,
    /// The bytes do not lie where bytes of the bundle do.
    Offset,
    /// What was written is not the bundle that was begun: begin again, it is written anew.
    Hash,
    /// The counter is not larger than that of the active bundle.
    Counter {
        /// The least that is taken.
        least: u64,
    },
    /// Flash does not keep what is written, or does not answer.
    Flash,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::device::Refusal;
    use crate::link::drive::{DriveMessage, RobotMessage};
    use crate::link::frame::{FrameReader, encode};
    use crate::numeric::CapacityError;

    /// The longest messages, and what a reader makes of their frames.
    #[test]
    fn the_longest_messages_fit_a_frame() {
        for byte in [0, 0x55, 0xff] {
            let chunk = RobotMessage::Ask(Ask {
                number: u32::MAX,
                request: Request::Chunk {
                    offset: u32::MAX,
                    bytes: Vec::from_array([byte; CHUNK]),
                },
            });
            let frame = encode(&chunk).unwrap();
            let mut reader = FrameReader::default();
            let found = frame.iter().find_map(|byte| reader.push(*byte));
            assert_eq!(found, Some(chunk));
        }
        let capacity = CapacityError {
            needed: usize::MAX,
            available: usize::MAX,
        };
        let here = DriveMessage::Answer(Answer {
            number: u32::MAX,
            reply: Reply::Here(Here {
                protocol: u16::MAX,
                format: u16::MAX,
                board: Name::try_from("123456789012345678901234").unwrap(),
                capacity: u32::MAX,
                active: Some(ActiveBundle {
                    length: u32::MAX,
                    counter: u32::MAX,
                    hash: [0xff; 32],
                }),
                found: Found {
                    verdict: Err(Refusal::Capacity(capacity)),
                    bound: -1.0,
                    digest: u32::MAX,
                },
            }),
        });
        let frame = encode(&here).unwrap();
        let mut reader = FrameReader::default();
        let found = frame.iter().find_map(|byte| reader.push(*byte));
        assert_eq!(found, Some(here));
    }
}
