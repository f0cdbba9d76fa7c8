//! A line that damages what it carries, in both directions, by a seed.

use std::io;
use std::time::Duration;

use super::super::Wire;
use super::board::{Board, Draw};

/// What may happen to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One to three bits flip.
    Flip,
    /// A byte is lost.
    Byte,
    /// The frame is lost.
    Frame,
    /// It comes twice.
    Twice,
    /// Its end is lost.
    Cut,
    /// Other bytes come before and behind it.
    Garbage,
    /// The line has one level for a while.
    Stuck,
    /// It comes after others that were sent later.
    Late,
    /// The board starts again before it has all of it.
    Reset,
}

impl Kind {
    pub const ALL: [Self; 9] = [
        Self::Flip,
        Self::Byte,
        Self::Frame,
        Self::Twice,
        Self::Cut,
        Self::Garbage,
        Self::Stuck,
        Self::Late,
        Self::Reset,
    ];
}

/// The line, with the board at its other end.
pub struct FaultyLine {
    board: Option<Board>,
    draw: Draw,
    /// Faults in a thousand frames.
    rate: usize,
    /// Faults that are left; after them the line is sound.
    left: usize,
    /// Frames for which the line is still stuck.
    stuck: usize,
    /// Frames that come later, and after how many others.
    late: [Vec<(usize, Vec<u8>)>; 2],
    incoming: Vec<u8>,
    /// How often what happened.
    pub counts: [usize; Kind::ALL.len()],
}

/// Beyond this rate nothing at all comes through.
const DEAD: usize = 1000;

impl FaultyLine {
    pub fn new(draw: Draw, rate: usize, left: usize) -> Self {
        Self {
            board: None,
            draw,
            rate,
            left,
            stuck: 0,
            late: [Vec::new(), Vec::new()],
            incoming: Vec::new(),
            counts: [0; Kind::ALL.len()],
        }
    }

    /// Without a fault.
    pub fn clean() -> Self {
        Self::new(Draw::new(0), 0, 0)
    }

    pub fn attach(&mut self, board: Board) {
        self.board = Some(board);
    }

    /// Bytes that come to the host from elsewhere.
    pub fn overhear(&mut self, bytes: &[u8]) {
        self.incoming.extend(bytes);
    }

    pub fn detach(&mut self) -> Board {
        self.board.take().unwrap()
    }

    /// What arrives of a frame. `up` is from the board to the host.
    fn carry(&mut self, frame: &[u8], up: bool) -> Vec<u8> {
        let mut arrived = Vec::new();
        // What was late is due.
        for (wait, late) in std::mem::take(&mut self.late[usize::from(up)]) {
            match wait.checked_sub(1) {
                Some(wait) => self.late[usize::from(up)].push((wait, late)),
                None => arrived.extend(late),
            }
        }
        if self.rate >= DEAD {
            let level = if self.rate == DEAD { 0 } else { 0xff };
            return vec![level; frame.len()];
        }
        if self.stuck > 0 {
            self.stuck -= 1;
            let level = if self.stuck.is_multiple_of(2) {
                0
            } else {
                0xff
            };
            arrived.extend(vec![level; frame.len()]);
            return arrived;
        }
        if self.left == 0 || self.draw.below(DEAD) >= self.rate {
            arrived.extend(frame);
            return arrived;
        }
        self.left -= 1;
        let number = self.draw.below(Kind::ALL.len());
        self.counts[number] += 1;
        let place = self.draw.below(frame.len());
        match Kind::ALL[number] {
            Kind::Flip => {
                let mut bytes = frame.to_vec();
                for _ in 0..1 + self.draw.below(3) {
                    let place = self.draw.below(frame.len());
                    bytes[place] ^= 1 << self.draw.below(8);
                }
                arrived.extend(bytes);
            }
            Kind::Byte => {
                arrived.extend(&frame[..place]);
                arrived.extend(&frame[place + 1..]);
            }
            Kind::Frame => {}
            Kind::Twice => {
                arrived.extend(frame);
                arrived.extend(frame);
            }
            Kind::Cut => arrived.extend(&frame[..place]),
            Kind::Garbage => {
                for _ in 0..2 {
                    let count = self.draw.below(400);
                    arrived.extend((0..count).map(|_| self.draw.next() as u8));
                    if arrived.len() < 400 {
                        arrived.extend(frame);
                    }
                }
            }
            Kind::Stuck => self.stuck = 1 + self.draw.below(8),
            Kind::Late => {
                let wait = 1 + self.draw.below(12);
                self.late[usize::from(up)].push((wait, frame.to_vec()));
            }
            Kind::Reset => {
                if let Some(board) = &mut self.board {
                    if !up {
                        board.hear(&frame[..place]);
                    }
                    board.restart();
                }
            }
        }
        arrived
    }
}

impl Wire for FaultyLine {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let arrived = self.carry(bytes, false);
        let said = match &mut self.board {
            Some(board) => board.hear(&arrived),
            None => Vec::new(),
        };
        for frame in said {
            let arrived = self.carry(&frame, true);
            self.incoming.extend(arrived);
        }
        Ok(())
    }

    /// In pieces of some bytes, as they come; silence takes no time.
    fn receive(&mut self, _limit: Duration) -> io::Result<Vec<u8>> {
        let count = self.incoming.len().min(1 + self.draw.below(40));
        Ok(self.incoming.drain(..count).collect())
    }
}
