//! Where the rows of a log stand in its files, so that a message can name file and row.

use std::path::PathBuf;

/// One file of a log.
#[derive(Clone, Debug)]
pub(crate) struct FileRows {
    pub(crate) file: PathBuf,
    pub(crate) rows: usize,
    /// Whether each row is a line, after one line of header.
    pub(crate) lines: bool,
    /// What the file lacks to tell where an episode ends.
    pub(crate) unmarked: Option<String>,
}

/// Where rows come from. Tables and logs that differ only here are equal.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    pub(crate) files: Vec<FileRows>,
    /// The row of the files, all counted together, for each row of the log; `None` if they are the
    /// same.
    pub(crate) rows: Option<Vec<u32>>,
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Origin {
    /// File and line of a row, or its number from 1.
    #[must_use]
    pub fn place(&self, row: usize) -> String {
        let row = match &self.rows {
            Some(rows) => rows.get(row).map_or(row, |row| *row as usize),
            None => row,
        };
        let mut left = row;
        for file in &self.files {
            if left < file.rows {
                return format!("{}, {}", file.file.display(), file.place(left));
            }
            left -= file.rows;
        }
        format!("the log, row {}", row + 1)
    }
}

impl FileRows {
    fn place(&self, row: usize) -> String {
        if self.lines {
            format!("line {}", row + 2)
        } else {
            format!("row {}", row + 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_named_by_its_file_and_line() {
        let file = |name: &str, rows, lines| FileRows {
            file: PathBuf::from(name),
            rows,
            lines,
            unmarked: None,
        };
        let mut origin = Origin {
            files: vec![file("a.csv", 3, true), file("b.npz", 2, false)],
            rows: None,
        };
        assert_eq!(origin.place(0), "a.csv, line 2");
        assert_eq!(origin.place(3), "b.npz, row 1");
        assert_eq!(origin.place(9), "the log, row 10");
        // Without the last row of each episode.
        origin.rows = Some(vec![0, 1, 4]);
        assert_eq!(origin.place(2), "b.npz, row 2");
    }
}
