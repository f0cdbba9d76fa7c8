//! Works off a study, or says what its rows say; for `cargo xtask study`.
//!
//! `cargo run --release -p hambo-tests --example study -- coverage --summary`

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use hambo_base::study::Study;
use hambo_base::study::run::{Plan, run, summary};
use hambo_tests::study::{glitches, named};

const USAGE: &str = "\
Usage: study NAME [--cells N] [--every N] [--minutes M] [--threads N] [--summary]

  NAME         coverage, focused, broken, backtest, known, monitor, glitches, drive_flips or sampling; the rows go to studies/NAME.csv
  --cells N    only the first N cells
  --every N    only cells whose number N divides: a part that is like the whole
  --minutes M  begin no cell after M minutes; the next call goes on
  --threads N  cells side by side; without it as many as there are cores
  --summary    count and draw what the file holds";

/// Beyond this number of cells, progress is printed about this number of times.
const MANY: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let study: &dyn Study = words.next().as_deref().and_then(named).ok_or(USAGE)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut plan = Plan {
        cells: None,
        every: 1,
        time: None,
        threads: cores,
    };
    let mut summarise = false;
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(USAGE);
        match word.as_str() {
            "--cells" => plan.cells = Some(value()?.parse()?),
            "--every" => plan.every = value()?.parse()?,
            "--minutes" => {
                plan.time = Some(Duration::from_secs_f64(60.0 * value()?.parse::<f64>()?));
            }
            "--threads" => plan.threads = value()?.parse()?,
            "--summary" => summarise = true,
            _ => return Err(USAGE.into()),
        }
    }
    let folder = Path::new("studies");
    if summarise {
        println!("{}", summary(study, folder)?.text);
        return Ok(());
    }
    let ran = run(study, folder, &plan, &|done, of| {
        if of < MANY || done % (of / MANY) == 0 {
            eprintln!("{}: {done} of {of} cells", study.name());
        }
        ControlFlow::Continue(())
    });
    glitches::release();
    Ok(ran?)
}
