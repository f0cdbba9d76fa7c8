//! The board: the core's own steps over a flash memory in RAM, and a check that only reads what the
//! bundle says of itself.

use std::convert::Infallible;

use embedded_storage::nor_flash::{ErrorType, NorFlash, ReadNorFlash};
use hambo_core::gate::Verdict;
use hambo_core::image::Name;
use hambo_core::link::drive::{DriveMessage, RobotMessage};
use hambo_core::link::frame::{FrameReader, encode};
use hambo_core::link::update::{Answer, Found, Reply};
use hambo_core::slots::{Layout, Place, Slots};
use hambo_core::update::{About, Desk, Next, Verdicts};

const SECTOR: usize = 512;
/// The longest bundle.
pub const CAPACITY: usize = 10 * SECTOR;
const PLACE: usize = CAPACITY + SECTOR;

/// Numbers that follow from a seed.
#[derive(Clone, Debug)]
pub struct Draw(u64);

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Bytes that this board's check decides on.
pub fn bundle(verdict: Verdict, counter: u32, length: usize, seed: u64) -> Vec<u8> {
    let mut draw = Draw::new(seed);
    let mut bytes = vec![verdict as u8];
    bytes.extend(counter.to_le_bytes());
    // Some pieces are as blank as flash.
    bytes.extend((5..length).map(|place| match place / 256 % 4 {
        2 => 0xff,
        _ => draw.next() as u8,
    }));
    bytes
}

#[derive(Debug)]
struct Ram(Vec<u8>);

impl ErrorType for Ram {
    type Error = Infallible;
}

impl ReadNorFlash for Ram {
    const READ_SIZE: usize = 4;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Infallible> {
        let start = offset as usize;
        bytes.copy_from_slice(&self.0[start..start + bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.0.len()
    }
}

impl NorFlash for Ram {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Infallible> {
        self.0[from as usize..to as usize].fill(0xff);
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Infallible> {
        for (place, byte) in (offset as usize..).zip(bytes) {
            self.0[place] &= byte;
        }
        Ok(())
    }
}

/// A board that does not drive.
pub struct Board {
    desk: Option<Desk<Ram>>,
    reader: FrameReader,
    /// Whether what became active was always what the check had just deployed.
    pub never_activated_unchecked: bool,
    /// Checks so far.
    pub checks: usize,
}

impl Board {
    pub fn new() -> Self {
        let place = |start: usize| Place {
            bundle: start as u32..(start + CAPACITY) as u32,
            records: (start + CAPACITY) as u32..(start + PLACE) as u32,
        };
        let layout = Layout::new::<Ram>(place(0), place(PLACE), 2 * PLACE).unwrap();
        let slots = Slots::new(Ram(vec![0xff; 2 * PLACE]), layout).unwrap();
        Self {
            desk: Some(Desk::new(slots, about())),
            reader: FrameReader::default(),
            never_activated_unchecked: true,
            checks: 0,
        }
    }

    /// Power goes and comes: only flash is left.
    pub fn restart(&mut self) {
        let slots = self.desk.take().unwrap().into_slots();
        self.desk = Some(Desk::new(slots, about()));
        self.reader = FrameReader::default();
    }

    /// The active bundle.
    pub fn active(&mut self) -> Option<Vec<u8>> {
        let slots = self.desk.as_mut().unwrap().slots();
        let active = slots.active().unwrap()?;
        let start = slots.range(active.slot).start;
        Some(read(slots, start..start + active.length))
    }

    /// What it answers to these bytes.
    pub fn hear(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut said = Vec::new();
        for byte in bytes {
            let Some(RobotMessage::Ask(ask)) = self.reader.push(*byte) else {
                continue;
            };
            let desk = self.desk.as_mut().unwrap();
            match desk.ask(&ask) {
                Next::Answer(answer) => said.push(frame(answer)),
                Next::Restart(answer) => {
                    said.push(frame(answer));
                    self.restart();
                }
                Next::Check(range) => {
                    self.checks += 1;
                    let bytes = read(desk.slots(), range);
                    let counter = u32::from_le_bytes(*bytes[1..].first_chunk().unwrap());
                    if let Err(objection) = desk.ensure_counter(counter) {
                        said.extend(desk.refuse(objection).map(frame));
                        continue;
                    }
                    for done in 1..3 {
                        let (number, reply) = (ask.number, Reply::Working { done, total: 2 });
                        said.push(frame(Answer { number, reply }));
                    }
                    let deploys = bytes[0] == Verdict::Deploy as u8;
                    let verdict = if deploys {
                        Verdict::Deploy
                    } else {
                        Verdict::Reject
                    };
                    let verdicts = Verdicts {
                        found: found(verdict),
                        counter: Some(counter),
                    };
                    let answer = desk.judged(&bytes, verdicts).unwrap();
                    said.push(frame(answer));
                    let active = self.active();
                    self.never_activated_unchecked &= deploys || active.as_ref() != Some(&bytes);
                }
            }
        }
        said
    }
}

fn found(verdict: Verdict) -> Found {
    Found {
        verdict: Ok(verdict),
        bound: -1.0,
        digest: 3,
    }
}

fn about() -> About {
    About {
        board: Name::try_from("a board").unwrap(),
        capacity: CAPACITY as u32,
        found: found(Verdict::Deploy),
    }
}

fn read(slots: &mut Slots<Ram>, range: std::ops::Range<u32>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for start in range.clone().step_by(256) {
        let mut piece = [0; 256];
        let count = ((range.end - start) as usize).min(256);
        slots.read(start, &mut piece[..count]).unwrap();
        bytes.extend(&piece[..count]);
    }
    bytes
}

fn frame(answer: Answer) -> Vec<u8> {
    encode(&DriveMessage::Answer(answer)).unwrap().to_vec()
}
