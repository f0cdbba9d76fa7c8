//! A victim that is set back to one moment again and again, to be disturbed there each time.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::attack;
use super::images::Flash;
use super::victim::{Bench, End, Seen, Victim};

/// The name of the one state that is kept.
const KEPT: usize = 0;

static COUNT: AtomicUsize = AtomicUsize::new(0);

/// A bundle and its floor in a folder that goes away: an emulator that starts again reads them.
struct Files(PathBuf);

impl Files {
    fn new(flash: &Flash) -> io::Result<Self> {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hambo-stand-{}-{number}", std::process::id());
        let files = Self(std::env::temp_dir().join(name));
        fs::create_dir_all(&files.0)?;
        fs::write(files.image(), &flash.bytes)?;
        fs::write(files.image().with_extension("floor"), &flash.floor)?;
        Ok(files)
    }

    fn image(&self) -> PathBuf {
        self.0.join("image.hmb")
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A board at the first instruction of a function.
pub struct Stand {
    /// The board.
    pub victim: Victim,
    /// What is seen of a run from there that nobody disturbs.
    pub usual: Seen,
    _files: Files,
}

impl Stand {
    /// Runs an image to a function, which is a pattern of symbols, and keeps the board's state.
    ///
    /// # Errors
    /// If there is no such function, or the run never calls it.
    pub fn new(bench: &Bench, flash: &Flash, function: &str) -> io::Result<Self> {
        let other = |text: &str| io::Error::other(format!("{text} `{function}`"));
        let mut found = bench.program.matching(function);
        let symbol = found.next().ok_or_else(|| other("no function"))?;
        Self::at(bench, flash, symbol.address)?.ok_or_else(|| other("the run never calls"))
    }

    /// The same for an address. `None` if the run never comes there.
    ///
    /// # Errors
    /// If the emulator cannot be talked to.
    pub fn at(bench: &Bench, flash: &Flash, address: u32) -> io::Result<Option<Self>> {
        let files = Files::new(flash)?;
        let mut victim = bench.victim(&files.image())?;
        // The run that is kept has opened the host's files.
        if !victim.run_to(address)? {
            return Ok(None);
        }
        victim.save(KEPT)?;
        let usual = victim.finish()?;
        Ok(Some(Self {
            victim,
            usual,
            _files: files,
        }))
    }

    /// Disturbs the board at the kept moment and runs it to its end. `None` if the disturbance
    /// was not possible, such as at an instruction that is never reached.
    ///
    /// A run may close the host's files, which no earlier state opens again. So one without a
    /// closing message counts only if an undisturbed one behind it has its message.
    ///
    /// # Errors
    /// If the emulator cannot be talked to.
    pub fn run(
        &mut self,
        disturb: impl Fn(&mut Victim) -> io::Result<bool>,
    ) -> io::Result<Option<Seen>> {
        let seen = self.once(&disturb)?;
        let silent = seen.as_ref().is_some_and(|seen| seen.verdict.is_empty());
        if silent && self.once(&|_| Ok(true))?.as_ref() != Some(&self.usual) {
            self.victim.restart_with_files()?;
            return self.once(&disturb);
        }
        Ok(seen)
    }

    fn once(
        &mut self,
        disturb: &impl Fn(&mut Victim) -> io::Result<bool>,
    ) -> io::Result<Option<Seen>> {
        self.victim.load(KEPT)?;
        if !disturb(&mut self.victim)? {
            return Ok(None);
        }
        self.victim.finish().map(Some)
    }
}

/// Goes on behind the instruction at an address, at its `number`-th execution from 1 on.
/// False if the run does not come there that often.
///
/// # Errors
/// If the emulator cannot be talked to.
pub fn skip_at(victim: &mut Victim, address: u32, number: usize) -> io::Result<bool> {
    for _ in 0..number {
        if !victim.run_to(address)? {
            return Ok(false);
        }
    }
    attack::skip(&mut victim.gdb)?;
    Ok(true)
}

/// Two words that a static of the firmware holds: an address and a number of bytes.
///
/// # Errors
/// If there is no such static.
pub fn place(victim: &mut Victim, bench: &Bench, name: &str) -> io::Result<(u32, u32)> {
    let symbol = bench.program.matching(name).next();
    let symbol = symbol.ok_or_else(|| io::Error::other(format!("no static `{name}`")))?;
    let bytes = victim.gdb.memory(symbol.address, 8)?;
    let word = |at: usize| {
        bytes[at..at + 4]
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u32::from(*byte))
    };
    Ok((word(0), word(4)))
}

/// Whether a run's end is that of the run that nobody disturbed.
#[must_use]
pub fn is_same(seen: &Seen, usual: &Seen) -> bool {
    seen.end != End::Hang && seen == usual
}
