//! A victim: the firmware with an image on an emulated board, stopped and disturbed by a
//! debugger.
//!
//! The board can be put back into an earlier state, which takes a millisecond where a new start
//! takes a quarter of a second. For that the call that ends the emulator is caught: a run ends
//! before it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hambo_core::link::device::{DeviceMessage, FrameError};

use super::gdb::{Gdb, PC, Stop};
use super::program::Program;
use super::{pin, snapshots};
use crate::watchdog::Qmp;

/// `bkpt 0xAB`: a call of the host.
const HOST_CALL: u16 = 0xBEAB;
/// The numbers of the calls that end a program.
const EXITS: [u32; 2] = [0x18, 0x20];
/// The reason of an end without a fault.
const APPLICATION_EXIT: u32 = 0x2_0026;
/// A run that has not ended after this time of a processor hangs; an undisturbed one takes a tenth
/// of a second.
const LIMIT: Duration = Duration::from_secs(4);
/// So does one that has not ended after this time on the clock.
const REST: Duration = Duration::from_secs(60);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// A start takes a fraction of it, also on a busy computer.
const START_LIMIT: Duration = Duration::from_secs(30);

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The firmware said that it succeeded: every verdict but a refused image.
    Success,
    /// The firmware said that it failed: a refused image or a fault.
    Failure,
    /// It neither ended nor halted.
    Hang,
    /// The emulator itself ended: a fault within a fault, or a reset.
    Died,
    /// The run never came to the moment of the glitch.
    Unreached,
}

impl End {
    /// As the rows call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Hang => "hang",
            Self::Died => "died",
            Self::Unreached => "unreached",
        }
    }
}

/// What was seen of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Whether the output-enable line was ever high.
    pub pin: bool,
    /// How it ended.
    pub end: End,
    /// The verdict of the closing message, `contradiction`, or nothing without a message.
    pub verdict: &'static str,
    /// The bits of the message's bound.
    pub bound: Option<u32>,
}

/// How a debugger and a file of the firmware make a victim.
#[derive(Clone, Debug)]
pub struct Bench {
    /// The firmware's file.
    pub firmware: PathBuf,
    /// Its symbols.
    pub program: Program,
    /// Where the image lies.
    pub model_start: u32,
    /// Where the robot's floor lies, if the firmware knows one.
    pub floor_start: Option<u32>,
    /// A program that starts before the firmware.
    pub verifier: Option<PathBuf>,
    /// Where the firmware may call the host to end the run.
    pub(super) host_calls: BTreeSet<u32>,
}

/// The emulator's words for a file at an address.
fn loader(file: &Path, address: u32) -> io::Result<String> {
    let path = file.to_str().ok_or_else(|| io::Error::other("a path"))?;
    let path = path.replace(',', ",,");
    Ok(format!("loader,file={path},addr={address:#x},force-raw=on"))
}

/// The firmware on an emulated board.
pub struct Victim {
    bench: Bench,
    image: PathBuf,
    folder: Folder,
    child: Child,
    /// The stub of the debugger.
    pub gdb: Gdb,
    /// Where the host was called for anything but an end, and where for an end.
    pub(super) other_calls: BTreeSet<u32>,
    pub(super) exit_calls: BTreeSet<u32>,
    saved: BTreeSet<usize>,
    /// The moment of the one state that is kept beside those of the timeline.
    pub(super) nearer: Option<usize>,
    read: [u64; 2],
}

impl Bench {
    /// Reads a firmware.
    ///
    /// # Errors
    /// If the file is none.
    pub fn new(firmware: &Path) -> io::Result<Self> {
        let program = Program::parse(&fs::read(firmware)?).map_err(io::Error::other)?;
        let model_start = program.label("_model_start");
        let floor_start = program.label("_floor_start");
        Ok(Self {
            firmware: firmware.to_path_buf(),
            host_calls: program.places_of(HOST_CALL).into_iter().collect(),
            program,
            floor_start,
            verifier: None,
            model_start: model_start.ok_or_else(|| io::Error::other("no `_model_start`"))?,
        })
    }

    /// The emulator as the host starts it, without a debugger.
    ///
    /// # Errors
    /// If a path is no text.
    pub fn emulator(&self, image: &Path) -> io::Result<Command> {
        let mut command = Command::new("qemu-system-arm");
        command
            .args(["-M", "netduinoplus2", "-nographic", "-no-reboot"])
            .args(["-monitor", "none", "-serial", "none"])
            .args(["-semihosting-config", "enable=on,target=native"])
            // One instruction per nanosecond. A board that stands still must not wait for the
            // computer's clock, or the time it reads is another one in every run.
            .args(["-icount", "shift=0,sleep=off"])
            .arg("-kernel")
            .arg(&self.firmware)
            .args(["-device", &loader(image, self.model_start)?])
            .stdin(Stdio::null());
        if let Some(verifier) = &self.verifier {
            let path = verifier
                .to_str()
                .ok_or_else(|| io::Error::other("a path"))?;
            command.args(["-device", &format!("loader,file={path}")]);
        }
        if let Some(start) = self.floor_start {
            command.args(["-device", &loader(&image.with_extension("floor"), start)?]);
        }
        Ok(command)
    }

    /// A victim that stands before its first instruction.
    ///
    /// # Errors
    /// If the emulator cannot be started.
    pub fn victim(&self, image: &Path) -> io::Result<Victim> {
        let folder = Folder::new()?;
        fs::write(folder.0.join("disk"), snapshots::empty_disk())?;
        let (child, gdb) = start(self, image, &folder)?;
        let mut victim = Victim {
            bench: self.clone(),
            image: image.to_path_buf(),
            folder,
            child,
            gdb,
            other_calls: BTreeSet::new(),
            exit_calls: BTreeSet::new(),
            saved: BTreeSet::new(),
            nearer: None,
            read: [0; 2],
        };
        victim.catch_host_calls()?;
        Ok(victim)
    }
}

impl Victim {
    /// Starts anew after the emulator ended. States that were saved are still there.
    ///
    /// # Errors
    /// If the emulator cannot be started.
    pub fn restart(&mut self) -> io::Result<()> {
        self.stop();
        (self.child, self.gdb) = start(&self.bench, &self.image, &self.folder)?;
        self.read = [0; 2];
        self.catch_host_calls()
    }

    /// Starts anew and runs once undisturbed: that opens the host's files, which a saved state
    /// believes to be open.
    ///
    /// # Errors
    /// If the emulator cannot be started.
    pub fn restart_with_files(&mut self) -> io::Result<()> {
        self.restart()?;
        self.proceed(None, START_LIMIT)?;
        self.news(0)?;
        self.news(1)?;
        Ok(())
    }

    /// Instructions since the start of the emulator.
    ///
    /// # Errors
    /// If the emulator does not answer.
    pub fn instructions(&self) -> io::Result<u64> {
        Qmp::new(UnixStream::connect(self.folder.0.join("qmp"))?)?.instructions()
    }

    /// Keeps the board's state under a number.
    ///
    /// # Errors
    /// If the emulator cannot.
    pub fn save(&mut self, number: usize) -> io::Result<()> {
        self.order(&format!("savevm s{number}"))?;
        self.saved.insert(number);
        Ok(())
    }

    /// Whether there is a state of a number.
    #[must_use]
    pub fn has(&self, number: usize) -> bool {
        self.saved.contains(&number)
    }

    /// Goes back to a state, and forgets what was seen since.
    ///
    /// # Errors
    /// If there is no such state.
    pub fn load(&mut self, number: usize) -> io::Result<()> {
        self.order(&format!("loadvm s{number}"))?;
        self.news(0)?;
        self.news(1)?;
        Ok(())
    }

    /// Runs to the next execution of an address. False if the run ends before.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn run_to(&mut self, address: u32) -> io::Result<bool> {
        if self.gdb.register(PC)? == address {
            self.gdb.step(LIMIT)?;
            if self.gdb.register(PC)? == address {
                return Ok(true);
            }
        }
        let is_host_call = self.bench.host_calls.contains(&address);
        if !is_host_call {
            self.gdb.set_breakpoint(address)?;
        }
        let stopped = self.proceed(Some(address), START_LIMIT)?;
        if !is_host_call {
            self.gdb.clear_breakpoint(address)?;
        }
        Ok(stopped.is_none())
    }

    /// Executes `count` instructions.
    ///
    /// # Errors
    /// If the emulator ends.
    pub fn steps(&mut self, count: usize) -> io::Result<()> {
        for _ in 0..count {
            if self.gdb.step(LIMIT)? != Stop::Halted {
                return Err(io::Error::other("the emulator ended"));
            }
        }
        Ok(())
    }

    /// Runs to the next stop that is no call of the host: a watchpoint. None at the run's end.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn run_to_stop(&mut self) -> io::Result<Option<u32>> {
        match self.proceed(None, START_LIMIT)? {
            None => self.gdb.register(PC).map(Some),
            Some(_) => Ok(None),
        }
    }

    /// Runs to the end and tells what was seen since the state was loaded.
    ///
    /// # Errors
    /// If the emulator cannot be talked to.
    pub fn finish(&mut self) -> io::Result<Seen> {
        let end = match self.proceed(None, LIMIT) {
            Ok(Some(end)) => end,
            Ok(None) => End::Hang,
            Err(_) => End::Died,
        };
        if end == End::Died {
            let _ = self.child.wait();
        }
        let log = self.news(0)?;
        let (verdict, bound) = closing(&self.news(1)?);
        let seen = Seen {
            pin: pin::driven_high(&String::from_utf8_lossy(&log)),
            end,
            verdict,
            bound,
        };
        if end == End::Died {
            self.restart_with_files()?;
        }
        Ok(seen)
    }

    /// Runs until it ends, or stops anywhere but at a call of the host that it goes on after.
    fn proceed(&mut self, target: Option<u32>, limit: Duration) -> io::Result<Option<End>> {
        let begin = (Instant::now(), work_of(&self.child));
        loop {
            let mut stop = self.gdb.proceed(LOOK)?;
            while stop == Stop::Running && !self.has_spent(limit, begin) {
                stop = self.gdb.wait(LOOK)?;
            }
            match stop {
                Stop::Gone => return Ok(Some(End::Died)),
                Stop::Running => {
                    return match self.gdb.interrupt(START_LIMIT)? {
                        Stop::Halted => Ok(Some(End::Hang)),
                        _ => Ok(Some(End::Died)),
                    };
                }
                Stop::Halted => {}
            }
            let pc = self.gdb.register(PC)?;
            if target == Some(pc) || !self.bench.host_calls.contains(&pc) {
                return Ok(None);
            }
            if EXITS.contains(&self.gdb.register(0)?) {
                self.exit_calls.insert(pc);
                return Ok(Some(match self.gdb.register(1)? {
                    APPLICATION_EXIT => End::Success,
                    _ => End::Failure,
                }));
            }
            self.other_calls.insert(pc);
            if self.gdb.step(LIMIT)? != Stop::Halted {
                return Ok(Some(End::Died));
            }
        }
    }

    /// Whether the emulator has worked this long since a moment; where nobody tells how long it
    /// worked, or for an emulator that rests, by the clock.
    fn has_spent(&self, limit: Duration, (begin, before): (Instant, Option<Duration>)) -> bool {
        let worked = work_of(&self.child).zip(before);
        match worked.map(|(now, before)| now.saturating_sub(before)) {
            Some(worked) => worked >= limit || begin.elapsed() >= REST,
            None => begin.elapsed() >= limit,
        }
    }

    fn catch_host_calls(&mut self) -> io::Result<()> {
        for address in &self.bench.host_calls {
            self.gdb.set_breakpoint(*address)?;
        }
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

    /// What the log (0) or the device's output (1) says since the last call.
    fn news(&mut self, which: usize) -> io::Result<Vec<u8>> {
        let mut file = File::open(self.folder.0.join(["log", "output"][which]))?;
        file.seek(SeekFrom::Start(self.read[which]))?;
        let mut bytes = Vec::new();
        self.read[which] += file.read_to_end(&mut bytes)? as u64;
        Ok(bytes)
    }

    fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        self.stop();
    }
}

/// How long an emulator has had a processor: on a busy computer less than the clock says. `None`
/// where nobody tells.
#[must_use]
pub fn work_of(emulator: &Child) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", emulator.id())).ok()?;
    // Behind the name, which may hold anything, from the third field on; the 14th and the 15th
    // count hundredths of a second.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis(10 * (user + system)))
}

/// Starts the emulator in front of the first instruction.
fn start(bench: &Bench, image: &Path, folder: &Folder) -> io::Result<(Child, Gdb)> {
    let at = |name: &str| folder.0.join(name);
    let socket = at("gdb");
    let _ = fs::remove_file(&socket);
    let _ = fs::remove_file(at("qmp"));
    let mut command = bench.emulator(image)?;
    let disk = format!(
        "if=none,format=qcow2,cache=unsafe,file={}",
        at("disk").display()
    );
    let unix = |path: &Path| format!("unix:{},server=on,wait=off", path.display());
    let child = command
        .args(["-S", "-gdb", &unix(&socket), "-drive", &disk])
        .args(["-qmp", &unix(&at("qmp"))])
        .args(["-d", "unimp", "-D"])
        .arg(at("log"))
        .stdout(File::create(at("output"))?)
        .stderr(Stdio::null())
        .spawn()?;
    let begin = Instant::now();
    let stream = loop {
        match UnixStream::connect(&socket) {
            Ok(stream) => break stream,
            Err(error) if begin.elapsed() > START_LIMIT => return Err(error),
            Err(_) => thread::sleep(Duration::from_millis(2)),
        }
    };
    Ok((child, Gdb::new(stream)?))
}

/// The verdict and the bound of the last message of an output.
fn closing(output: &[u8]) -> (&'static str, Option<u32>) {
    let mut found = ("", None);
    for frame in output.split(|byte| *byte == 0) {
        match DeviceMessage::from_frame(&mut frame.to_vec()) {
            Ok(DeviceMessage::Result(result)) => {
                found = (result.decision(), Some(result.bound.to_bits()));
            }
            Err(FrameError::Contradiction) => found = ("contradiction", None),
            _ => {}
        }
    }
    found
}

/// A folder that goes away.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hambo-victim-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
