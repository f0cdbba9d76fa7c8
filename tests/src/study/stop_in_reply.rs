//! A stop that comes in while the board sends its reply, on the emulated board of
//! `HAMBO_FIRMWARE_WATCHDOG`. Is it ever lost?
//!
//! The emulated line holds a byte back until the one before it was taken; that of a chip drops
//! it. So the stop comes in byte for byte with the reply, as on a line with one speed, and a byte
//! that still waits when the next one comes counts as lost. A cell is a board that drives and is
//! stopped ten times, each time from a drawn byte of a reply on.

use std::io;

use hambo_base::Error;
use hambo_base::study::rows::Table;
use hambo_base::study::{Row, Study, Summary};
use hambo_core::drive::{Mode, Stop};
use hambo_core::link::drive::DriveMessage;
use hambo_core::link::frame;
use hambo_report::figure::{GOOD, StripFigure};

use super::drive_flips::board;
use crate::fixture::Draw;
use crate::watchdog::{Heard, StopInReply as Came};

/// Boards.
const CELLS: usize = 20;
/// Stops of each.
const STOPS: usize = 10;

/// Bytes of a stop's frame.
const STOP: usize = 8;

/// The study.
pub struct StopInReply;

impl Study for StopInReply {
    fn name(&self) -> &'static str {
        "stop_in_reply"
    }

    fn columns(&self) -> &'static [&'static str] {
        &["cell", "period", "place", "lost", "end"]
    }

    fn cells(&self) -> usize {
        CELLS
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, Error> {
        Ok(stops(cell)?)
    }

    fn summary(&self, table: &Table) -> Summary {
        summary(table)
    }
}

fn stops(cell: usize) -> io::Result<Vec<Row>> {
    let mut draw = Draw::new(0x5709 + cell as u64);
    let mut board = board(true)?;
    let mut rows = Vec::new();
    for stop in 0..STOPS {
        if stop > 0 {
            // The watchdog has started it again.
            board.wait_until_ready()?;
        }
        let period = 1 + draw.below(3) as u32;
        let mut length = 0;
        for _ in 0..period {
            match board.period()? {
                Heard::Acted(acted) => {
                    let frame = frame::encode(&DriveMessage::Acted(acted));
                    length = frame.map_or(0, |frame| frame.len());
                }
                other => return Err(io::Error::other(format!("{other:?} before the stop"))),
            }
        }
        // The reply may be shorter by a few bytes, and the stop ends with it at the latest.
        let last = length.saturating_sub(STOP + 4);
        let place = draw.below(last.max(1));
        let came = board.stop_in_reply(place)?;
        rows.push(vec![
            cell.to_string(),
            period.to_string(),
            place.to_string(),
            came.lost.to_string(),
            end(came, period).to_owned(),
        ]);
    }
    Ok(rows)
}

/// A stop is honoured if the drive ends with it, after a whole reply and no further period.
fn end(came: Came, period: u32) -> &'static str {
    let asked = came.mode == Mode::Stopped(Stop::Asked) && came.periods == period + 1;
    match (came.lost, asked && came.whole) {
        (0, true) => "honoured",
        (0, false) => "not honoured",
        _ => "lost",
    }
}

fn summary(table: &Table) -> Summary {
    let stops = table.rows().count();
    let honoured = table.rows().filter(|row| row.text("end") == "honoured");
    let honoured = honoured.count();
    let share = 100.0 * (stops - honoured) as f64 / stops.max(1) as f64;
    let figure = StripFigure {
        title: "A stop while a reply is sent",
        subtitle: "Stops that were lost",
        range: (0.0, 6.0),
        rows: &["ring"],
        marks: &[(0.0, "none"), (5.0, "5 %")],
        legend: &[(GOOD, "with the ring")],
        caption: "per cent of the stops",
        dots: vec![(0, share, GOOD)],
    };
    Summary {
        text: format!("| stops | honoured |\n|---|---|\n| {stops} | {honoured} |\n"),
        svg: figure.to_svg(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_that_is_lost_or_late_is_not_honoured() {
        let came = Came {
            lost: 0,
            mode: Mode::Stopped(Stop::Asked),
            periods: 3,
            whole: true,
        };
        assert_eq!(end(came, 2), "honoured");
        assert_eq!(end(came, 1), "not honoured");
        assert_eq!(
            end(
                Came {
                    whole: false,
                    ..came
                },
                2
            ),
            "not honoured"
        );
        assert_eq!(end(Came { lost: 1, ..came }, 2), "lost");
        let mode = Mode::Stopped(Stop::Sensor);
        assert_eq!(end(Came { mode, ..came }, 2), "not honoured");
    }
}
