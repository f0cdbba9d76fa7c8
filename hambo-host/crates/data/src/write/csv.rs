//! Writing a log as CSV with a header; every number in the shortest form that reads back as the
//! same bits.

use std::io::{self, BufWriter, Write};

use super::columns::{Part, columns};
use crate::table::{Numbers, Table};

pub(super) fn write_csv(out: impl Write, table: &Table) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let columns = columns(table);
    let header = columns.iter().map(|column| &column.name);
    csv::Writer::from_writer(&mut out).write_record(header.map(String::as_str))?;
    let mut line = Vec::new();
    for row in 0..table.rows() {
        line.clear();
        for column in &columns {
            match &column.part {
                Part::Numbers(block, index) => {
                    let number = block.at(row, *index);
                    match block.numbers() {
                        Numbers::Single(_) => write!(line, "{},", number as f32)?,
                        Numbers::Double(_) => write!(line, "{number},")?,
                    }
                }
                Part::Flags(flags) => {
                    let flag = flags.get(row).copied().unwrap_or(false);
                    write!(line, "{},", u8::from(flag))?;
                }
                Part::Integers(numbers) => {
                    let number = numbers.get(row).copied().unwrap_or(f64::NAN);
                    write!(line, "{number},")?;
                }
            }
        }
        line.pop();
        line.push(b'\n');
        out.write_all(&line)?;
    }
    out.flush()
}
