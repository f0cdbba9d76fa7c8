//! Asks until it is answered.

use std::collections::VecDeque;
use std::time::Duration;

use hambo_core::link::drive::{DriveMessage, RobotMessage};
use hambo_core::link::frame::{FrameReader, encode};
use hambo_core::link::update::{Answer, Ask, Here, Objection, PROTOCOL, Reply, Request};

use super::error::RemoteError;
use super::wire::Wire;

/// Bytes without an answer after which it is asked again, as after silence.
const NOISE: usize = 4096;

/// A board that works says so at every tenth of its work: it is given this many times longer.
const WORKING: u32 = 40;

/// A board that is slow is asked again later and later, up to this many times the first pause:
/// what is asked twice is answered twice, and a board that does not keep up would fall behind for
/// good.
const SLOWEST: u32 = 16;

/// How long a board is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// After this time without an answer it is asked again.
    pub answer: Duration,
    /// So many times in a row.
    pub tries: u32,
}

impl Patience {
    /// Half a second for the first answer, later longer, and so many times that it comes to
    /// `limit`.
    #[must_use]
    pub fn of(limit: Duration) -> Self {
        let answer = Duration::from_millis(500);
        let mut patience = Self { answer, tries: 1 };
        while patience.waited() < limit {
            patience.tries += 1;
        }
        patience
    }

    /// For how long it is waited after a try, the first of which is 0, by a host that waits
    /// `pace` times longer than at first.
    pub(super) fn after(&self, tries: u32, pace: u32) -> Duration {
        let longer = pace.saturating_mul(1 << tries.min(8)).min(SLOWEST);
        self.answer * longer
    }

    /// Until nobody is waited for any more.
    pub(super) fn waited(&self) -> Duration {
        (0..self.tries).map(|tries| self.after(tries, 1)).sum()
    }
}

/// A board at the other end of a line.
pub struct Remote<W> {
    wire: W,
    reader: FrameReader,
    waiting: VecDeque<DriveMessage>,
    /// That of the last request.
    number: u32,
    patience: Patience,
    /// How many times longer than at first it is waited: as long as the board took last.
    pace: u32,
}

impl<W: Wire> Remote<W> {
    /// Over this line. `first` is a number that no host before it is likely to have come to,
    /// so that a late answer to somebody else is not taken for one's own.
    pub fn new(wire: W, first: u32, patience: Patience) -> Self {
        Self {
            wire,
            reader: FrameReader::default(),
            waiting: VecDeque::new(),
            number: first,
            patience,
            pace: 1,
        }
    }

    /// The line.
    pub fn into_wire(self) -> W {
        self.wire
    }

    /// Who is there, and what it holds.
    ///
    /// # Errors
    /// If nobody answers, or in another protocol.
    pub fn hello(&mut self) -> Result<Here, RemoteError> {
        match self.ask(Request::Hello, &mut |_, _| {})? {
            Reply::Here(here) if here.protocol == PROTOCOL => Ok(here),
            Reply::Here(here) => Err(RemoteError::Protocol {
                theirs: here.protocol,
            }),
            Reply::Refused(why) => Err(RemoteError::Refused { why }),
            _ => Err(RemoteError::Damaged),
        }
    }

    /// Lets the board start again, with the bundle that is active. It may have done so before its
    /// answer arrives: then it greets.
    ///
    /// # Errors
    /// If nobody answers.
    pub fn restart(&mut self) -> Result<(), RemoteError> {
        self.number = self.number.wrapping_add(1);
        let number = self.number;
        for tries in 0..self.patience.tries {
            self.say(number, &Request::Restart)?;
            while let Some(message) = self.hear(self.patience.after(tries, self.pace))? {
                match message {
                    DriveMessage::Hello => return Ok(()),
                    DriveMessage::Answer(Answer {
                        number: of,
                        reply: Reply::Restarting,
                    }) if of == number => return Ok(()),
                    DriveMessage::Answer(Answer {
                        number: of,
                        reply: Reply::Refused(why),
                    }) if of == number => return Err(RemoteError::Refused { why }),
                    _ => {}
                }
            }
        }
        Err(self.silent())
    }

    /// What is answered to a request, which is sent again as long as nothing is. `working` hears
    /// how far the board is.
    ///
    /// # Errors
    /// If nobody answers.
    pub(super) fn ask(
        &mut self,
        request: Request,
        working: &mut dyn FnMut(u32, u32),
    ) -> Result<Reply, RemoteError> {
        self.number = self.number.wrapping_add(1);
        let number = self.number;
        let mut tries = 0;
        while tries < self.patience.tries {
            self.say(number, &request)?;
            let mut limit = self.patience.after(tries, self.pace);
            tries += 1;
            while let Some(message) = self.hear(limit)? {
                match message {
                    DriveMessage::Answer(answer) if answer.number == number => match answer.reply {
                        Reply::Working { done, total } => {
                            working(done, total);
                            tries = 0;
                            limit = self.patience.answer * WORKING;
                        }
                        reply if answers(&request, &reply) => {
                            // The next one may take as long, and rather less.
                            let longer = self.pace.saturating_mul(1 << (tries.max(1) - 1).min(8));
                            self.pace = (longer / 2).clamp(1, SLOWEST);
                            return Ok(reply);
                        }
                        _ => {}
                    },
                    _ => {}
                }
            }
        }
        Err(self.silent())
    }

    fn silent(&self) -> RemoteError {
        RemoteError::Silent {
            waited: self.patience.waited(),
        }
    }

    fn say(&mut self, number: u32, request: &Request) -> Result<(), RemoteError> {
        let ask = Ask {
            number,
            request: request.clone(),
        };
        let frame = encode(&RobotMessage::Ask(ask)).ok_or(RemoteError::Damaged)?;
        let sent = self.wire.send(&frame);
        sent.map_err(|source| RemoteError::Line { source })
    }

    /// The next message. None if there is none in time, or only noise.
    fn hear(&mut self, limit: Duration) -> Result<Option<DriveMessage>, RemoteError> {
        let mut noise = 0;
        while self.waiting.is_empty() && noise < NOISE {
            let bytes = self.wire.receive(limit);
            let bytes = bytes.map_err(|source| RemoteError::Line { source })?;
            if bytes.is_empty() {
                break;
            }
            noise += bytes.len();
            let messages = bytes.iter().filter_map(|byte| self.reader.push(*byte));
            self.waiting.extend(messages);
        }
        Ok(self.waiting.pop_front())
    }
}

/// Whether a request has such an answer.
fn answers(request: &Request, reply: &Reply) -> bool {
    let refused = matches!(reply, Reply::Refused(_));
    refused
        || match request {
            Request::Hello => matches!(reply, Reply::Here(_)),
            Request::Begin { .. } => matches!(reply, Reply::Send { .. } | Reply::Active),
            Request::Chunk { .. } => matches!(reply, Reply::Send { .. }),
            Request::Check { .. } => matches!(reply, Reply::Judged(_) | Reply::Active),
            Request::Restart => matches!(reply, Reply::Restarting),
        }
}

/// Whether a bundle that is begun again may be taken after this.
pub(super) fn begins_again(why: Objection) -> bool {
    matches!(
        why,
        Objection::NotBegun | Objection::Hash | Objection::Offset
    )
}
