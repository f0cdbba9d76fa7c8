//! The steps of an update, from a greeting to the active bundle.

use core::ops::Range;

use embedded_storage::nor_flash::NorFlash;
use sha2::{Digest, Sha256};

use crate::gate::Verdict;
use crate::image::Name;
use crate::image::container::VERSION;
use crate::link::update::{
    ActiveBundle, Answer, Ask, Found, Hash, Here, Judged, Objection, PROTOCOL, Reply, Request,
};
use crate::slots::{Active, Begun, SlotError, Slots};

/// What a device says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// The board.
    pub board: Name,
    /// The longest bundle that it can check and drive.
    pub capacity: u32,
    /// What came of the bundle that was found at the start.
    pub found: Found,
}

/// What a request leads to.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// This is sent, and nothing else follows.
    Answer(Answer),
    /// The bundle in this range of flash is to be checked, and then [`Desk::judged`] called.
    Check(Range<u32>),
    /// This is sent, and then the device starts again.
    Restart(Answer),
}

/// What a check came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdicts {
    /// Of the check.
    pub found: Found,
    /// The bundle's counter; none if it could not be read.
    pub counter: Option<u32>,
}

/// A check that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Asked {
    number: u32,
    hash: Hash,
}

/// Answers what a host asks of two places for bundles.
#[derive(Debug)]
pub struct Desk<F> {
    slots: Slots<F>,
    about: About,
    /// The check that goes on.
    asked: Option<Asked>,
    /// The last check, and what was answered: a host that did not hear it asks again.
    last: Option<(Asked, Reply)>,
}

impl<F: NorFlash> Desk<F> {
    /// Nothing was asked yet.
    pub fn new(slots: Slots<F>, about: About) -> Self {
        Self {
            slots,
            about,
            asked: None,
            last: None,
        }
    }

    /// The places.
    pub fn slots(&mut self) -> &mut Slots<F> {
        &mut self.slots
    }

    /// The memory alone.
    pub fn into_slots(self) -> Slots<F> {
        self.slots
    }

    /// What a request leads to. A check that went on is forgotten.
    pub fn ask(&mut self, ask: &Ask) -> Next {
        let number = ask.number;
        self.asked = None;
        let reply = match &ask.request {
            Request::Hello => self.hello(),
            Request::Begin { length, hash } => self.begin(*length, *hash),
            Request::Chunk { offset, bytes } => self.chunk(*offset, bytes),
            Request::Check { hash } => match self.check(Asked {
                number,
                hash: *hash,
            }) {
                Ok(range) => return Next::Check(range),
                Err(reply) => Ok(reply),
            },
            Request::Restart => {
                return Next::Restart(Answer {
                    number,
                    reply: Reply::Restarting,
                });
            }
        };
        let reply = reply.unwrap_or_else(Reply::Refused);
        Next::Answer(Answer { number, reply })
    }

    fn hello(&mut self) -> Result<Reply, Objection> {
        let active = self.slots.active().map_err(|error| self.objection(error))?;
        Ok(Reply::Here(Here {
            protocol: PROTOCOL,
            format: VERSION,
            board: self.about.board.clone(),
            capacity: self.about.capacity,
            active: active.map(active_bundle),
            found: self.about.found,
        }))
    }

    fn begin(&mut self, length: u32, hash: Hash) -> Result<Reply, Objection> {
        if length > self.about.capacity {
            return Err(self.objection(SlotError::<F::Error>::Length));
        }
        match self.slots.begin(length, hash) {
            Ok(Begun::Already) => Ok(Reply::Active),
            Ok(Begun::At(from)) => Ok(Reply::Send { from }),
            Err(error) => Err(self.objection(error)),
        }
    }

    fn chunk(&mut self, offset: u32, bytes: &[u8]) -> Result<Reply, Objection> {
        match self.slots.write(offset, bytes) {
            Ok(from) => Ok(Reply::Send { from }),
            Err(error) => Err(self.objection(error)),
        }
    }

    /// Where the bundle lies that is to be checked, or what is answered without a check.
    fn check(&mut self, asked: Asked) -> Result<Range<u32>, Reply> {
        if let Some((last, reply)) = &self.last
            && *last == asked
        {
            return Err(reply.clone());
        }
        match self.checkable(asked) {
            Ok(Some(range)) => {
                self.asked = Some(asked);
                Ok(range)
            }
            Ok(None) => Err(Reply::Active),
            Err(objection) => Err(Reply::Refused(objection)),
        }
    }

    /// None if this very bundle is active.
    fn checkable(&mut self, asked: Asked) -> Result<Option<Range<u32>>, Objection> {
        let active = self.slots.active().map_err(|error| self.objection(error))?;
        if active.is_some_and(|active| active.hash == asked.hash) {
            return Ok(None);
        }
        let begun = self.slots.in_writing();
        let (_, hash) = begun.map_err(|error| self.objection(error))?;
        if hash != asked.hash {
            return Err(Objection::NotBegun);
        }
        match self.slots.written_whole() {
            Ok((_, range)) => Ok(Some(range)),
            Err(SlotError::Hash) => {
                // Whatever they are, nobody goes on with these bytes.
                let _ = self.slots.abandon();
                Err(Objection::Hash)
            }
            Err(error) => Err(self.objection(error)),
        }
    }

    /// What is answered after the check of `bytes`, which were read from the range that
    /// [`ask`](Self::ask) gave. A bundle that deploys becomes active, if these bytes are the ones
    /// that were begun and its counter is larger than that of the active one. None if no check
    /// was asked for.
    pub fn judged(&mut self, bytes: &[u8], verdicts: Verdicts) -> Option<Answer> {
        let asked = self.asked.take()?;
        let reply = match self.activate(asked, bytes, verdicts) {
            Ok(active) => Reply::Judged(Judged {
                found: verdicts.found,
                active,
            }),
            Err(objection) => Reply::Refused(objection),
        };
        self.last = Some((asked, reply.clone()));
        let number = asked.number;
        Some(Answer { number, reply })
    }

    /// The counter with which the bundle is active.
    fn activate(
        &mut self,
        asked: Asked,
        bytes: &[u8],
        verdicts: Verdicts,
    ) -> Result<Option<u32>, Objection> {
        let (Ok(Verdict::Deploy), Some(counter)) = (verdicts.found.verdict, verdicts.counter)
        else {
            return Ok(None);
        };
        let begun = self.slots.in_writing();
        let (_, begun) = begun.map_err(|error| self.objection(error))?;
        let checked: Hash = Sha256::digest(bytes).into();
        if checked != asked.hash || begun != asked.hash {
            return Err(Objection::Hash);
        }
        match self.slots.activate(counter) {
            Ok(active) => Ok(Some(active.counter)),
            Err(error) => Err(self.objection(error)),
        }
    }

    /// What is wrong with this counter, which is looked at before the check.
    ///
    /// # Errors
    /// If it is not larger than that of the active bundle, or flash fails.
    pub fn ensure_counter(&mut self, counter: u32) -> Result<(), Objection> {
        match self.slots.least_counter() {
            Ok(least) if u64::from(counter) < least => Err(Objection::Counter { least }),
            Ok(_) => Ok(()),
            Err(error) => Err(self.objection(error)),
        }
    }

    /// What is answered instead of a check. None if no check was asked for.
    pub fn refuse(&mut self, objection: Objection) -> Option<Answer> {
        let Asked { number, .. } = self.asked.take()?;
        let reply = Reply::Refused(objection);
        Some(Answer { number, reply })
    }

    /// The number of the check that goes on.
    pub fn checking(&self) -> Option<u32> {
        self.asked.map(|asked| asked.number)
    }

    fn objection<E>(&self, error: SlotError<E>) -> Objection {
        match error {
            SlotError::Length => Objection::Length {
                capacity: self.about.capacity,
            },
            SlotError::NotBegun | SlotError::Records => Objection::NotBegun,
            SlotError::Offset => Objection::Offset,
            SlotError::Hash => Objection::Hash,
            SlotError::Counter { least } => Objection::Counter { least },
            SlotError::Flash(_) | SlotError::Layout | SlotError::Worn => Objection::Flash,
        }
    }
}

fn active_bundle(active: Active) -> ActiveBundle {
    ActiveBundle {
        length: active.length,
        counter: active.counter,
        hash: active.hash,
    }
}
