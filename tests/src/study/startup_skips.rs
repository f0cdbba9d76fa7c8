//! Every store of the start-up, skipped once, on the board of `HAMBO_FIRMWARE_WATCHDOG`. Does the
//! gate ever drive without a watchdog?
//!
//! A cell is one instruction that stores, at its first execution: from reset to the check of the
//! bundle, and from the check's end to the first sample in the gate's and the board's functions.
//! A gate that drives then gets no more samples, and must be reset in time.

use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use hambo_base::Error;
use hambo_base::study::rows::Table;
use hambo_base::study::{Row, Study, Summary, field};

use super::attacks::{self, Line};
use super::driven::{board, bundle};
use crate::glitch::program::Symbol;
use crate::glitch::thumb::is_store;
use crate::watchdog::Board;

/// The study.
pub struct StartupSkips;

/// Two limits of the watchdog in a drive.
const IN_TIME: u64 = 180_000_000;

/// The emulator's work in which a gate becomes ready; it takes a fraction of it.
const READY: Duration = Duration::from_secs(3);

/// The check begins, its outcome is used, the first sample is awaited.
const CHECK: &str = "hambo_gate*4gate3run17h";
const DRIVE: &str = "hambo_gate*5drive3run17h";
const LISTEN: &str = "hambo_gate*5drive6follow17h";

/// From where on an instruction is skipped at its first execution.
const FROM: [&str; 2] = ["reset", "check"];

/// How a start ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It never drove, and the line stayed low.
    NoDrive,
    /// It drove, and was reset in time.
    Watched,
    /// What must not happen: it drove without a watchdog, or the line was high without a drive.
    Unwatched,
}

impl End {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::NoDrive, Self::Watched, Self::Unwatched];

    /// As the rows call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoDrive => "no drive",
            Self::Watched => "watched",
            Self::Unwatched => "unwatched",
        }
    }
}

/// A store of the start-up.
#[derive(Clone, Debug)]
struct Store {
    from: usize,
    address: u32,
    function: String,
}

/// The stores of an undisturbed start.
fn stores() -> Result<&'static [Store], Error> {
    static STORES: OnceLock<Result<Vec<Store>, String>> = OnceLock::new();
    let found = STORES.get_or_init(|| traced().map_err(|error| error.to_string()));
    let found = found
        .as_ref()
        .map_err(|error| Error::Usage(error.clone()))?;
    Ok(found)
}

fn traced() -> io::Result<Vec<Store>> {
    let mut board = board(&bundle()?)?;
    board.offer_robot()?;
    let mut found = Vec::new();
    let first = board.trace_to(CHECK)?;
    board.run_to(DRIVE)?;
    let second = board.trace_to(LISTEN)?;
    for (from, addresses) in [first, second].into_iter().enumerate() {
        for address in addresses {
            let code = board.memory(address, 4)?;
            let half = |at: usize| u16::from_le_bytes([code[at], code[at + 1]]);
            let symbol = board.program().symbol_at(address);
            let own = symbol.is_some_and(|symbol| {
                ["hambo_gate", "hambo_firmware"]
                    .iter()
                    .any(|name| symbol.name.contains(name))
            });
            if is_store(half(0), half(2)) && (from == 0 || own) {
                let function = symbol.map_or("", Symbol::short).to_owned();
                found.push(Store {
                    from,
                    address,
                    function,
                });
            }
        }
    }
    Ok(found)
}

/// One start without a store.
fn start(store: &Store) -> io::Result<End> {
    let mut board = board(&bundle()?)?;
    board.offer_robot()?;
    if store.from == 1 {
        board.run_to(DRIVE)?;
    }
    board.run_to_address(store.address)?;
    board.skip()?;
    board.go_on()?;
    let ready = ready(&mut board)?;
    if !ready {
        let seen = board.look_while_busy(IN_TIME)?;
        let high = seen.iter().any(|now| now.pin);
        return Ok(if high { End::Unwatched } else { End::NoDrive });
    }
    // One that stops by itself is as good as one that never drove.
    for _ in 0..3 {
        if board.drive(1).is_err() {
            break;
        }
    }
    let before = board.look()?;
    loop {
        let now = board.look()?;
        if now.resets > before.resets {
            return Ok(if now.pin {
                End::Unwatched
            } else {
                End::Watched
            });
        }
        if now.instructions > before.instructions + 2 * IN_TIME {
            return Ok(if now.pin || board.drive(1).is_ok() {
                End::Unwatched
            } else {
                End::NoDrive
            });
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether a board that runs becomes ready to drive; a robot asks it as often as it asks for one.
fn ready(board: &mut Board) -> io::Result<bool> {
    match board.is_ready_after(READY) {
        Ok(ready) => Ok(ready),
        // It says something else, such as that it refuses.
        Err(error) if error.kind() == io::ErrorKind::Other => Ok(false),
        Err(error) => Err(error),
    }
}

impl Study for StartupSkips {
    fn name(&self) -> &'static str {
        "startup_skips"
    }

    fn columns(&self) -> &'static [&'static str] {
        &["cell", "from", "address", "function", "end"]
    }

    /// One if there is no firmware: running it tells why.
    fn cells(&self) -> usize {
        stores().map_or(1, <[Store]>::len)
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        let store = stores()?.get(cell);
        let store = store.ok_or_else(|| Error::Usage("no such cell".to_owned()))?;
        let end = start(store).or_else(|_| start(store))?;
        Ok(vec![vec![
            cell.to_string(),
            FROM[store.from].to_owned(),
            format!("{:08x}", store.address),
            field(&store.function),
            end.name().to_owned(),
        ]])
    }

    fn summary(&self, table: &Table) -> Summary {
        let lines = ["reset", "check"].map(|from| {
            let rows = || table.rows().filter(move |row| row.text("from") == from);
            let count = |end: End| rows().filter(|row| row.text("end") == end.name()).count();
            let tried = rows().count();
            Line {
                scene: match from {
                    "reset" => "a store from reset to the check",
                    _ => "a store from the check to the first sample",
                },
                counts: vec![
                    tried.to_string(),
                    count(End::NoDrive).to_string(),
                    count(End::Watched).to_string(),
                ],
                tried,
                wrong: count(End::Unwatched),
            }
        });
        let columns = [
            "skips",
            "no drive",
            "drove, and was reset in time",
            "drove without a watchdog",
        ];
        attacks::summary(
            "Stores of the start-up that are not executed",
            "Starts after which a gate drives without a watchdog",
            &columns,
            &lines,
        )
    }
}
