//! The emulated board, its robot and its debugger.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hambo_core::drive::Mode;
use hambo_core::link::drive::{
    Acted, Begin, CandidateResult, Claim, DriveMessage, Nonce, Numbers, Ready, RobotMessage,
    SensorSample, Token,
};
use hambo_core::link::frame;
use hambo_core::link::frame::FrameReader;
use hambo_device::intel_hex;
use hambo_device::remote::StreamLine;

use super::qmp::Qmp;
use crate::glitch::gdb::{Gdb, PC, SP, Stop};
use crate::glitch::program::{Program, Symbol};
use crate::glitch::timeline::address_of;
use crate::glitch::victim::work_of;
use crate::glitch::{attack, snapshots};

/// A start, an answer and a reset take a fraction of it, also on a busy computer.
const LIMIT: Duration = Duration::from_secs(60);

/// How often a board that runs is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// A processor that works executes more in a tenth of a second, also on a busy computer.
const IDLE: u64 = 1_000_000;

/// `b .`: an instruction that jumps to itself.
const HANG: [u8; 2] = [0xfe, 0xe7];
/// `str r1, [r0]`.
const STORE: [u8; 2] = [0x01, 0x60];
/// `bx lr`: a function that does nothing.
const RETURN: [u8; 2] = [0x70, 0x47];

/// The register of where a function returns to.
const LINK: u8 = 14;

/// The function that sends a byte.
const SEND: &str = "9send_byte17h";

/// The register that says whether a byte has come in.
const UART5_LINE_STATUS: u32 = 0x7e78_4014;

/// Of a loop that lives elsewhere.
const NONCE: Nonce = *b"never used twice";

/// Bytes of the flash memory.
const FLASH: usize = 4 << 20;

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// What is seen of the board at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Instructions since the emulator's start; one takes a nanosecond.
    pub instructions: u64,
    /// The level of the output-enable line.
    pub pin: bool,
    /// Resets so far.
    pub resets: usize,
    /// Those of a watchdog.
    pub watchdog_resets: usize,
}

/// What a board's memory holds beside its firmware.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'c> {
    /// The bundle that is checked and drives.
    pub bundle: &'c [u8],
    /// The robot's floor.
    pub floor: &'c [u8],
    /// A bundle that is checked meanwhile; empty for none.
    pub candidate: &'c [u8],
}

/// What came of a stop that was sent while the board sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopInReply {
    /// Bytes of the stop that still lay in the line when the next one came.
    pub lost: usize,
    /// How the drive ended.
    pub mode: Mode,
    /// Periods of the drive.
    pub periods: u32,
    /// Whether the reply came whole, once.
    pub whole: bool,
}

/// What came of a sample.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "one at a time, and the usual one is the large one"
)]
pub enum Heard {
    /// A period.
    Acted(Acted),
    /// The drive is over without an answer, in this mode.
    Ended(Mode),
    /// The board has started again.
    Restarted,
}

/// An emulated AST1030 with the gate, a bundle and a floor.
pub struct Board {
    folder: PathBuf,
    child: Child,
    gdb: Gdb,
    qmp: Qmp,
    program: Program,
    robot: TcpStream,
    reader: FrameReader,
    /// What came of the candidate.
    pub candidate: Option<CandidateResult>,
    /// What moves the point in every period beside its action.
    pub drift: f32,
    /// Where the point is.
    position: f32,
    tick: u32,
    /// Where point and robot were when the board's state was kept, by its name.
    kept: BTreeMap<usize, (u32, f32)>,
    /// Whether the control loop lives with the robot, and the gate only guards the line.
    pub elsewhere: bool,
}

impl Board {
    /// The board before its first instruction. Its watchdog resets it, or does `none` of it.
    ///
    /// # Errors
    /// If the emulator cannot be started.
    pub fn new(firmware: &Path, contents: Contents<'_>, watchdog: &str) -> io::Result<Self> {
        Self::with_flash(firmware, contents, watchdog, None)
    }

    /// The same with its flash memory, which holds what came over the wire, in a file. Without
    /// one it is blank, and forgotten at the end.
    ///
    /// # Errors
    /// If the emulator cannot be started.
    pub fn with_flash(
        firmware: &Path,
        contents: Contents<'_>,
        watchdog: &str,
        flash: Option<&Path>,
    ) -> io::Result<Self> {
        let program = Program::parse(&fs::read(firmware)?).map_err(io::Error::other)?;
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hambo-watchdog-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder)?;
        let at = |name: &str| folder.join(name);
        let mut loaders = Vec::new();
        for (name, label, bytes) in [
            ("bundle.hex", "_model_start", contents.bundle),
            ("floor.hex", "_floor_start", contents.floor),
            ("candidate.hex", "_candidate_start", contents.candidate),
        ] {
            let address = program.label(label);
            let address = address.ok_or_else(|| io::Error::other(format!("no `{label}`")))?;
            fs::write(at(name), intel_hex(address, bytes))?;
            loaders.push("-device".to_owned());
            loaders.push(format!("loader,file={}", at(name).display()));
        }
        if let Some(flash) = flash {
            if !flash.exists() {
                fs::write(flash, vec![0xff; FLASH])?;
            }
            loaders.push("-drive".to_owned());
            loaders.push(format!("file={},if=mtd,format=raw", flash.display()));
        }
        fs::write(at("disk"), snapshots::empty_disk())?;
        let disk = format!(
            "if=none,format=qcow2,cache=unsafe,file={}",
            at("disk").display()
        );
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let socket = |name: &str| format!("unix:{},server=on,wait=off", at(name).display());
        let mut child = Command::new("qemu-system-arm")
            .args(["-M", "ast1030-evb", "-nographic", "-monitor", "none", "-S"])
            // One instruction per nanosecond of the board's time.
            .args(["-icount", "shift=0"])
            // It holds nothing but the board's kept states.
            .args(["-drive", &disk])
            .args(["-action", &format!("watchdog={watchdog}")])
            .args(["-gdb", &socket("gdb"), "-qmp", &socket("qmp")])
            .arg("-chardev")
            .arg(format!(
                "socket,id=robot,host=127.0.0.1,port={port},nodelay=on"
            ))
            .args(["-serial", "chardev:robot"])
            .arg("-kernel")
            .arg(firmware)
            .args(loaders)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        let robot = accept(&listener, &mut child)?;
        Ok(Self {
            gdb: Gdb::new(connect(&at("gdb"))?)?,
            qmp: Qmp::new(connect(&at("qmp"))?)?,
            folder,
            child,
            program,
            robot,
            reader: FrameReader::default(),
            candidate: None,
            drift: 0.0,
            position: 1.0,
            tick: 0,
            kept: BTreeMap::new(),
            elsewhere: false,
        })
    }

    /// Lets it run on.
    ///
    /// # Errors
    /// If the debugger is gone.
    pub fn go_on(&mut self) -> io::Result<()> {
        match self.gdb.proceed(Duration::from_millis(1))? {
            Stop::Running => Ok(()),
            stop => Err(io::Error::other(format!("{stop:?} at once"))),
        }
    }

    /// Halts it where it is.
    ///
    /// # Errors
    /// If the debugger is gone.
    pub fn halt(&mut self) -> io::Result<()> {
        match self.gdb.interrupt(LIMIT)? {
            Stop::Halted => Ok(()),
            stop => Err(io::Error::other(format!("{stop:?} instead of halted"))),
        }
    }

    /// Keeps the halted board's state under a number, and where its robot is.
    ///
    /// # Errors
    /// If the emulator cannot.
    pub fn save(&mut self, number: usize) -> io::Result<()> {
        self.order(&format!("savevm s{number}"))?;
        self.kept.insert(number, (self.tick, self.position));
        Ok(())
    }

    /// Brings board and robot back to a kept state, halted. What was said since is lost.
    ///
    /// # Errors
    /// If there is no such state.
    pub fn load(&mut self, number: usize) -> io::Result<()> {
        let kept = self.kept.get(&number).copied();
        (self.tick, self.position) = kept.ok_or_else(|| io::Error::other("no such state"))?;
        self.order(&format!("loadvm s{number}"))?;
        self.robot.set_nonblocking(true)?;
        let mut lost = [0; 256];
        while self.robot.read(&mut lost).is_ok_and(|count| count > 0) {}
        self.robot.set_nonblocking(false)?;
        self.reader = FrameReader::default();
        Ok(())
    }

    /// A line for the emulator's monitor, which says something only if it fails.
    fn order(&mut self, line: &str) -> io::Result<()> {
        let said = self.gdb.monitor(line)?;
        match said.trim() {
            "" => Ok(()),
            said => Err(io::Error::other(format!("{line}: {said}"))),
        }
    }

    /// Writes bytes to memory, flash as well as RAM.
    ///
    /// # Errors
    /// If the debugger is gone.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> io::Result<()> {
        self.gdb.set_memory(address, bytes)
    }

    /// Goes on behind the next instruction, which is not executed.
    ///
    /// # Errors
    /// If the debugger is gone.
    pub fn skip(&mut self) -> io::Result<()> {
        attack::skip(&mut self.gdb)
    }

    /// The firmware's symbols and code.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Tells the gate that a robot is there, before or while it checks.
    ///
    /// # Errors
    /// If the line is gone.
    pub fn offer_robot(&mut self) -> io::Result<()> {
        let begin = Begin {
            measured: 1,
            seed: 0,
            elsewhere: self.elsewhere.then_some(NONCE),
        };
        self.say(&RobotMessage::Begin(begin))
    }

    /// Its serial line, for a host that brings new controllers.
    ///
    /// # Errors
    /// If it is gone.
    pub fn line(&self) -> io::Result<StreamLine> {
        StreamLine::new(self.robot.try_clone()?)
    }

    /// From now on it is the robot's again: whoever had it may have read a part of a frame.
    ///
    /// # Errors
    /// If it is gone.
    pub fn take_line_back(&mut self) -> io::Result<()> {
        self.reader = FrameReader::default();
        self.robot.set_read_timeout(Some(LIMIT))
    }

    /// Ends a drive.
    ///
    /// # Errors
    /// If the gate does not answer.
    pub fn stop(&mut self) -> io::Result<Mode> {
        self.say(&RobotMessage::Stop)?;
        loop {
            match self.hear()? {
                DriveMessage::Kept(_) | DriveMessage::Acted(_) => {}
                DriveMessage::Ended(summary) => return Ok(summary.mode),
                other => return Err(io::Error::other(format!("{other:?}"))),
            }
        }
    }

    /// Plays the robot until the gate is ready to drive.
    ///
    /// # Errors
    /// If it does not come to that.
    pub fn wait_until_ready(&mut self) -> io::Result<Ready> {
        loop {
            match self.hear()? {
                DriveMessage::Hello => self.offer_robot()?,
                DriveMessage::Ready(ready) => {
                    self.tick = 0;
                    return Ok(ready);
                }
                other => return Err(io::Error::other(format!("{other:?}"))),
            }
        }
    }

    /// Drives `periods` periods; returns the line's level after each.
    ///
    /// # Errors
    /// If the gate does not answer.
    pub fn drive(&mut self, periods: u32) -> io::Result<Vec<bool>> {
        let mut levels = Vec::new();
        for _ in 0..periods {
            match self.period()? {
                Heard::Acted(acted) if !acted.mode.is_stopped() => {}
                other => return Err(io::Error::other(format!("{other:?}"))),
            }
            levels.push(self.qmp.pin()?);
        }
        Ok(levels)
    }

    /// One period: what came of a sample.
    ///
    /// # Errors
    /// If the line is gone.
    pub fn period(&mut self) -> io::Result<Heard> {
        self.send_sample()?;
        self.hear_period()
    }

    /// What came of the sample that was sent last.
    fn hear_period(&mut self) -> io::Result<Heard> {
        loop {
            match self.hear()? {
                DriveMessage::Acted(acted) => {
                    self.position += acted.action.first().copied().unwrap_or(0.0) + self.drift;
                    return Ok(Heard::Acted(acted));
                }
                DriveMessage::Hello => return Ok(Heard::Restarted),
                DriveMessage::Kept(_) => {}
                DriveMessage::Ended(summary) => return Ok(Heard::Ended(summary.mode)),
                other => return Err(io::Error::other(format!("{other:?}"))),
            }
        }
    }

    /// One period of a halted board, which halts again before the instruction at an address: no
    /// time of the board passes meanwhile. One that does not come there has restarted, or hangs.
    ///
    /// # Errors
    /// If the line is gone.
    pub fn period_to(&mut self, address: u32) -> io::Result<Heard> {
        self.send_sample()?;
        // It may stand there already.
        self.gdb.step(LIMIT)?;
        self.gdb.set_breakpoint(address)?;
        let begin = Instant::now();
        let (resets, _) = self.qmp.resets()?;
        let mut stop = self.gdb.proceed(LOOK)?;
        // A board that does not come there is reset by its watchdog.
        while stop == Stop::Running && self.qmp.resets()?.0 == resets && begin.elapsed() < LIMIT {
            stop = self.gdb.wait(LOOK)?;
        }
        if stop == Stop::Running {
            self.gdb.interrupt(LIMIT)?;
        }
        self.gdb.clear_breakpoint(address)?;
        if stop == Stop::Halted {
            return self.hear_period();
        }
        // What it said before it came to rest, if anything.
        self.robot
            .set_read_timeout(Some(Duration::from_millis(100)))?;
        let heard = self.hear_period();
        self.robot.set_read_timeout(Some(LIMIT))?;
        match heard {
            Err(error) if is_silence(&error) => Ok(Heard::Restarted),
            heard => heard,
        }
    }

    /// Where a static of the firmware says that something lies: address and bytes.
    ///
    /// # Errors
    /// If there is no static of this name, or the debugger is gone.
    pub fn place(&mut self, name: &str) -> io::Result<(u32, u32)> {
        let address = self.function(name)?.address;
        let words = self.gdb.memory(address, 8)?;
        let (words, _) = words.as_chunks();
        match words {
            [address, length] => Ok((u32::from_le_bytes(*address), u32::from_le_bytes(*length))),
            _ => Err(io::Error::other(format!("`{name}` has no two words"))),
        }
    }

    /// Where a label of the firmware's memory lies.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn label(&self, name: &str) -> io::Result<u32> {
        let address = self.program.label(name);
        address.ok_or_else(|| io::Error::other(format!("no `{name}`")))
    }

    /// Bytes of memory.
    ///
    /// # Errors
    /// If the debugger is gone.
    pub fn memory(&mut self, address: u32, length: u32) -> io::Result<Vec<u8>> {
        self.gdb.memory(address, length as usize)
    }

    /// Where the point is.
    #[must_use]
    pub fn position(&self) -> f32 {
        self.position
    }

    /// Whether the gate says within this time that it is ready to drive. A robot is there.
    ///
    /// # Errors
    /// If the line is gone, or the gate says something else.
    pub fn is_ready_within(&mut self, limit: Duration) -> io::Result<bool> {
        self.robot.set_read_timeout(Some(limit))?;
        let heard = self.wait_until_ready();
        self.robot.set_read_timeout(Some(LIMIT))?;
        match heard {
            Ok(_) => Ok(true),
            Err(error) if is_silence(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether the gate becomes ready before the emulator has worked for this long, or has rested
    /// for ten times as long. A robot is there.
    ///
    /// # Errors
    /// If the line is gone, or the gate says something else.
    pub fn is_ready_after(&mut self, work: Duration) -> io::Result<bool> {
        let (begin, before) = (Instant::now(), work_of(&self.child));
        loop {
            if self.is_ready_within(10 * LOOK)? {
                return Ok(true);
            }
            let worked = work_of(&self.child).zip(before);
            let worked = worked.map(|(now, before)| now.saturating_sub(before));
            if worked.is_some_and(|worked| worked >= work) || begin.elapsed() >= 10 * work {
                return Ok(false);
            }
        }
    }

    /// Flips one bit of memory.
    ///
    /// # Errors
    /// If the debugger is gone.
    pub fn flip(&mut self, address: u32, bit: u32) -> io::Result<()> {
        let byte = self.gdb.memory(address, 1)?;
        let byte = byte.first().copied().unwrap_or(0);
        self.gdb.set_memory(address, &[byte ^ 1 << bit])
    }

    /// A period of a loop that lives elsewhere: it presents a token and applies this share of
    /// the state as its action. Whether the line has an edge.
    ///
    /// # Errors
    /// If the line is gone.
    pub fn claim(&mut self, token: Token, gain: f32) -> io::Result<bool> {
        let before = self.qmp.pin()?;
        let action = gain * self.position;
        let numbers = Numbers::from_slice(&[self.position, action]);
        let claim = Claim {
            token,
            tick: self.tick,
            numbers: numbers.map_err(|_| io::Error::other("too many numbers"))?,
            is_fresh: true,
        };
        self.tick += 1;
        self.say(&RobotMessage::Claim(claim))?;
        let acted = matches!(self.hear()?, DriveMessage::Acted(acted) if !acted.mode.is_stopped());
        self.position += action;
        Ok(acted && self.qmp.pin()? != before)
    }

    /// What the sensors say in the next period.
    ///
    /// # Errors
    /// If the line is gone.
    pub fn send_sample(&mut self) -> io::Result<()> {
        let state = Numbers::from_slice(&[self.position]);
        let sample = SensorSample {
            tick: self.tick,
            state: state.map_err(|_| io::Error::other("too many numbers"))?,
            is_fresh: true,
        };
        self.tick += 1;
        self.say(&RobotMessage::Sample(sample))
    }

    /// A period in whose reply a stop comes in: its first byte when the reply's byte `place` goes
    /// out, and a byte more with each byte of the reply, for both have one speed.
    ///
    /// # Errors
    /// If the board does not answer.
    pub fn stop_in_reply(&mut self, place: usize) -> io::Result<StopInReply> {
        self.halt()?;
        self.send_sample()?;
        for sent in 0..=place {
            self.run_to_next(SEND, sent > 0)?;
        }
        let stop = frame::encode(&RobotMessage::Stop);
        let stop = stop.ok_or_else(|| io::Error::other("too long"))?;
        let mut lost = 0;
        for (number, byte) in stop.iter().enumerate() {
            if number > 0 {
                self.run_to_next(SEND, true)?;
                lost += usize::from(self.byte_waits()?);
            }
            self.robot.write_all(&[*byte])?;
            let begin = Instant::now();
            while !self.byte_waits()? {
                if begin.elapsed() > LIMIT {
                    return Err(io::Error::other("the line takes no byte"));
                }
                thread::sleep(Duration::from_millis(1));
            }
        }
        self.go_on()?;
        let mut said = Vec::new();
        loop {
            match self.hear()? {
                DriveMessage::Acted(acted) => said.push(acted),
                DriveMessage::Kept(_) => {}
                DriveMessage::Ended(summary) => {
                    let (mode, periods) = (summary.mode, summary.ticks);
                    let whole = said.len() == 1;
                    return Ok(StopInReply {
                        lost,
                        mode,
                        periods,
                        whole,
                    });
                }
                other => {
                    let at = format!("a stop at byte {place}, {lost} of its bytes late");
                    return Err(io::Error::other(format!("{other:?} after {at}: {said:?}")));
                }
            }
        }
    }

    /// Whether a byte lies in the serial line that the program has not taken: on a chip without a
    /// buffer the next one would be lost.
    fn byte_waits(&mut self) -> io::Result<bool> {
        let status = self.gdb.memory(UART5_LINE_STATUS, 4)?;
        Ok(status.first().is_some_and(|byte| byte & 1 != 0))
    }

    /// What is seen now.
    ///
    /// # Errors
    /// If the emulator is gone.
    pub fn look(&mut self) -> io::Result<Moment> {
        let (resets, watchdog_resets) = self.qmp.resets()?;
        Ok(Moment {
            instructions: self.qmp.instructions()?,
            pin: self.qmp.pin()?,
            resets,
            watchdog_resets,
        })
    }

    /// Looks again and again until a condition holds; all that was seen.
    ///
    /// # Errors
    /// If it never does.
    pub fn look_until(&mut self, holds: impl Fn(&Moment) -> bool) -> io::Result<Vec<Moment>> {
        let begin = Instant::now();
        let mut seen = Vec::new();
        loop {
            let moment = self.look()?;
            seen.push(moment);
            if holds(&moment) {
                return Ok(seen);
            }
            if begin.elapsed() > LIMIT {
                return Err(io::Error::other(format!("still {moment:?}")));
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Looks again and again until `instructions` more are executed, or the processor has
    /// nothing to do but wait.
    ///
    /// # Errors
    /// If the emulator is gone.
    pub fn look_while_busy(&mut self, instructions: u64) -> io::Result<Vec<Moment>> {
        let mut seen = vec![self.look()?];
        loop {
            thread::sleep(Duration::from_millis(100));
            let (before, now) = (seen[seen.len() - 1], self.look()?);
            seen.push(now);
            let is_idle = now.instructions - before.instructions < IDLE;
            if is_idle || now.instructions - seen[0].instructions > instructions {
                return Ok(seen);
            }
        }
    }

    /// Makes the instruction at which the processor halts jump to itself.
    ///
    /// # Errors
    /// If the debugger is gone.
    pub fn hang_here(&mut self) -> io::Result<()> {
        let pc = self.gdb.register(PC)?;
        self.gdb.set_memory(pc, &HANG)
    }

    /// Lets the halted processor store a word, as a register's new value.
    ///
    /// # Errors
    /// If the debugger is gone.
    pub fn store(&mut self, address: u32, value: u32) -> io::Result<()> {
        let pc = self.gdb.register(PC)?;
        let kept = [self.gdb.register(0)?, self.gdb.register(1)?];
        let code = self.gdb.memory(pc, 2)?;
        self.gdb.set_register(0, address)?;
        self.gdb.set_register(1, value)?;
        self.gdb.set_memory(pc, &STORE)?;
        self.gdb.step(LIMIT)?;
        self.gdb.set_memory(pc, &code)?;
        self.gdb.set_register(0, kept[0])?;
        self.gdb.set_register(1, kept[1])?;
        self.gdb.set_register(PC, pc)
    }

    /// Makes a function jump to itself from its first instruction on.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn hang_in(&mut self, function: &str) -> io::Result<()> {
        let address = self.function(function)?.address;
        self.gdb.set_memory(address, &HANG)
    }

    /// Makes a function return at once.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn empty(&mut self, function: &str) -> io::Result<()> {
        let address = self.function(function)?.address;
        self.gdb.set_memory(address, &RETURN)
    }

    /// Sets the stack pointer to this many bytes above the end of the stack.
    ///
    /// # Errors
    /// If the debugger is gone.
    pub fn exhaust_stack(&mut self, left: u32) -> io::Result<()> {
        let end = self.program.label("_stack_end");
        let end = end.ok_or_else(|| io::Error::other("no `_stack_end`"))?;
        self.gdb.set_register(SP, end + left)
    }

    /// Sets the program counter to an address that holds nothing.
    ///
    /// # Errors
    /// If the debugger is gone.
    pub fn derail(&mut self) -> io::Result<()> {
        self.gdb.set_register(PC, 0x6000_0000)
    }

    /// Runs until a function is called.
    ///
    /// # Errors
    /// If it never is.
    pub fn run_to(&mut self, function: &str) -> io::Result<()> {
        let address = self.function(function)?.address;
        self.run_to_address(address)
    }

    /// Runs until the instruction at an address is next.
    ///
    /// # Errors
    /// If it never is.
    pub fn run_to_address(&mut self, address: u32) -> io::Result<()> {
        self.gdb.set_breakpoint(address)?;
        let stop = self.gdb.proceed(LIMIT)?;
        self.gdb.clear_breakpoint(address)?;
        match stop {
            Stop::Halted => Ok(()),
            stop => Err(io::Error::other(format!("{stop:?} before {address:08x}"))),
        }
    }

    /// Runs to a function; the addresses of the instructions on the way, each once, in their
    /// order.
    ///
    /// # Errors
    /// If it is never called.
    pub fn trace_to(&mut self, function: &str) -> io::Result<Vec<u32>> {
        let path = self.folder.join("trace");
        let _ = fs::remove_file(&path);
        self.order(&format!("logfile {}", path.display()))?;
        self.order("singlestep on")?;
        self.order("log exec,nochain")?;
        self.run_to(function)?;
        self.order("log none")?;
        self.order("singlestep off")?;
        let mut seen = BTreeSet::new();
        let text = fs::read_to_string(&path)?;
        let addresses = text.lines().filter_map(address_of);
        Ok(addresses.filter(|address| seen.insert(*address)).collect())
    }

    /// Runs until a function is called; from its first instruction on, if it has been, until it is
    /// called again.
    fn run_to_next(&mut self, function: &str, is_there: bool) -> io::Result<()> {
        if is_there {
            // A breakpoint at the first instruction would halt at once.
            self.gdb.step(LIMIT)?;
        }
        self.run_to(function)
    }

    /// Runs until a function is called and has returned: how many instructions that took.
    ///
    /// # Errors
    /// If it never does.
    pub fn instructions_of(&mut self, function: &str) -> io::Result<u64> {
        self.run_to(function)?;
        let begin = self.qmp.instructions()?;
        let back = self.gdb.register(LINK)? & !1;
        self.gdb.set_breakpoint(back)?;
        let stop = self.gdb.proceed(LIMIT)?;
        self.gdb.clear_breakpoint(back)?;
        match stop {
            Stop::Halted => Ok(self.qmp.instructions()? - begin),
            stop => Err(io::Error::other(format!("{stop:?} in {function}"))),
        }
    }

    fn function<'b>(&'b self, name: &'b str) -> io::Result<&'b Symbol> {
        let mut found = self.program.matching(name);
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one),
            (None, _) => Err(io::Error::other(format!("no function `{name}`"))),
            (Some(_), Some(_)) => Err(io::Error::other(format!("several functions `{name}`"))),
        }
    }

    fn say(&mut self, message: &RobotMessage) -> io::Result<()> {
        let frame = frame::encode(message).ok_or_else(|| io::Error::other("too long"))?;
        self.robot.write_all(&frame)
    }

    fn hear(&mut self) -> io::Result<DriveMessage> {
        loop {
            let mut byte = [0];
            self.robot.read_exact(&mut byte)?;
            match self.reader.push(byte[0]) {
                Some(DriveMessage::Candidate(result)) => self.candidate = Some(result),
                // To a host that asked twice, and has gone since.
                Some(DriveMessage::Answer(_)) => {}
                Some(message) => return Ok(message),
                None => {}
            }
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Whether nothing was said in time.
fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// The emulator's end of the robot's line.
fn accept(listener: &TcpListener, child: &mut Child) -> io::Result<TcpStream> {
    listener.set_nonblocking(true)?;
    let begin = Instant::now();
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(LIMIT))?;
                return Ok(stream);
            }
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            Err(error) if begin.elapsed() > LIMIT => return Err(error),
            Err(_) => {}
        }
        if let Some(status) = child.try_wait()? {
            return Err(io::Error::other(format!("the emulator ended: {status}")));
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// A socket that the emulator is about to open.
fn connect(path: &Path) -> io::Result<UnixStream> {
    let begin = Instant::now();
    loop {
        match UnixStream::connect(path) {
            Ok(stream) => return Ok(stream),
            Err(error) if begin.elapsed() > LIMIT => return Err(error),
            Err(_) => thread::sleep(Duration::from_millis(2)),
        }
    }
}
