//! The plug pulled at a drawn moment of a push, on the emulated AST1030 with its flash memory in a
//! file. Is the board ever out of service?
//!
//! A cell is a board and five plugs: each push is of a bundle with the next counter, and ends after
//! a drawn number of frames, a drawn time later, with the emulator's death. After it the board
//! must start with the old bundle or, if the push had come to its end, the new one, and drive;
//! and the next push must succeed.

use std::error::Error as StdError;
use std::io;
use std::thread;
use std::time::Duration;

use hambo_base::Error;
use hambo_base::study::rows::Table;
use hambo_base::study::{Row, Study, Summary};
use hambo_device::remote::Pushed;
use hambo_report::figure::{GOOD, StripFigure};

use crate::fixture::Draw;
use crate::wire::{Wired, bytes, drive, point};

/// Boards.
const CELLS: usize = 20;
/// Plugs of each.
const PLUGS: u32 = 5;

/// The study.
pub struct Unplugged;

impl Study for Unplugged {
    fn name(&self) -> &'static str {
        "unplugged"
    }

    fn columns(&self) -> &'static [&'static str] {
        &[
            "cell", "plug", "frames", "before", "after", "resumed", "end",
        ]
    }

    fn cells(&self) -> usize {
        CELLS
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        let rows = plugs(cell).map_err(|error| io::Error::other(error.to_string()));
        Ok(rows?)
    }

    fn summary(&self, table: &Table) -> Summary {
        summary(table)
    }
}

fn plugs(cell: usize) -> Result<Vec<Row>, Box<dyn StdError>> {
    let mut draw = Draw::new(0x9106 + cell as u64);
    let folder = std::env::temp_dir().join(format!("hambo-plug-{cell}-{}", std::process::id()));
    let mut wired = Wired::new(&folder, 1)?;
    let mut board = wired.start()?;
    wired.push(&board, &bytes(&point(1))?)?;
    let mut rows = Vec::new();
    for (counter, plug) in (1..).zip(0..PLUGS) {
        let next = bytes(&point(counter + 1))?;
        // A greeting, the pieces, and the check.
        let frames = 1 + draw.below(next.len().div_ceil(256) + 2);
        wired.pull_the_plug(board, &next, frames)?;
        thread::sleep(Duration::from_millis(draw.below(3) as u64));
        board = wired.start()?;
        let drives = drive(&mut board, 3).is_ok();
        board.stop()?;
        let here = wired.hello(&board)?;
        let after = here.active.map_or(0, |active| active.counter);
        let (resumed, pushed) = wired.push(&board, &next)?;
        let is_active = match pushed {
            Pushed::Active => true,
            Pushed::Judged(judged) => judged.active == Some(counter + 1),
        };
        let kept = after == counter || after == counter + 1;
        rows.push(vec![
            cell.to_string(),
            plug.to_string(),
            frames.to_string(),
            counter.to_string(),
            after.to_string(),
            resumed.map_or_else(String::new, |from| from.to_string()),
            end(drives, kept, is_active).to_owned(),
        ]);
    }
    drop(board);
    std::fs::remove_dir_all(folder)?;
    Ok(rows)
}

fn end(drives: bool, kept: bool, is_active: bool) -> &'static str {
    match (drives, kept, is_active) {
        (true, true, true) => "in service",
        (false, ..) => "does not drive",
        (_, false, _) => "another bundle",
        (.., false) => "takes no bundle",
    }
}

fn summary(table: &Table) -> Summary {
    let plugs = table.rows().count();
    let well = table.rows().filter(|row| row.text("end") == "in service");
    let well = well.count();
    let share = 100.0 * (plugs - well) as f64 / plugs.max(1) as f64;
    let figure = StripFigure {
        title: "A plug that is pulled in the middle of a push",
        subtitle: "Boards that were out of service",
        range: (0.0, 6.0),
        rows: &["AST1030"],
        marks: &[(0.0, "none"), (5.0, "5 %")],
        legend: &[(GOOD, "two places for bundles")],
        caption: "per cent of the plugs",
        dots: vec![(0, share, GOOD)],
    };
    Summary {
        text: format!("| plugs | in service |\n|---|---|\n| {plugs} | {well} |\n"),
        svg: figure.to_svg(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_that_lost_something_is_not_in_service() {
        assert_eq!(end(true, true, true), "in service");
        for lost in [
            (false, true, true),
            (true, false, true),
            (true, true, false),
        ] {
            assert_ne!(end(lost.0, lost.1, lost.2), "in service");
        }
    }
}
