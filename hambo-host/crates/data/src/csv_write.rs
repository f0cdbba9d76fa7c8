//! Writing a log as CSV with a header; every number in the shortest form that
//! reads back as the same bits.

use std::io::{self, BufWriter, Write};

use super::{Block, Numbers, Table};

/// Writes states, actions, `next.NAME`, reward, terminal, timeout and episode,
/// as far as the table has them.
pub(super) fn write_csv(out: impl Write, table: &Table) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, out);
    let next: Vec<String> = table
        .names
        .states
        .iter()
        .map(|n| format!("next.{n}"))
        .collect();
    let mut header: Vec<&str> = Vec::new();
    header.extend(table.names.states.iter().map(String::as_str));
    header.extend(table.names.actions.iter().map(String::as_str));
    if table.next_states.is_some() {
        header.extend(next.iter().map(String::as_str));
    }
    let more = [
        ("reward", table.rewards.is_some()),
        ("terminal", table.terminals.is_some()),
        ("timeout", table.timeouts.is_some()),
        ("episode", table.episodes.is_some()),
    ];
    header.extend(
        more.iter()
            .filter(|(_, there)| *there)
            .map(|(name, _)| *name),
    );
    csv::Writer::from_writer(&mut out).write_record(&header)?;
    let blocks = [
        Some(&table.states),
        Some(&table.actions),
        table.next_states.as_ref(),
        table.rewards.as_ref(),
    ];
    let flags = [table.terminals.as_ref(), table.timeouts.as_ref()];
    let mut line = Vec::new();
    for row in 0..table.rows() {
        line.clear();
        for block in blocks.into_iter().flatten() {
            write_row(&mut line, block, row)?;
        }
        for flags in flags.into_iter().flatten() {
            let flag = flags.get(row).copied().unwrap_or(false);
            line.extend([if flag { b'1' } else { b'0' }, b',']);
        }
        if let Some(episode) = table.episodes.as_ref().and_then(|all| all.get(row)) {
            write!(line, "{episode},")?;
        }
        line.pop();
        line.push(b'\n');
        out.write_all(&line)?;
    }
    out.flush()
}

fn write_row(line: &mut Vec<u8>, block: &Block, row: usize) -> io::Result<()> {
    let range = row * block.columns()..(row + 1) * block.columns();
    match block.numbers() {
        Numbers::Single(numbers) => {
            for number in numbers.get(range).unwrap_or_default() {
                write!(line, "{number},")?;
            }
        }
        Numbers::Double(numbers) => {
            for number in numbers.get(range).unwrap_or_default() {
                write!(line, "{number},")?;
            }
        }
    }
    Ok(())
}
