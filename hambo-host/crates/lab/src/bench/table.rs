//! What was measured, for people and for programs.

use serde::Serialize;

/// One contest on one number of threads.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BenchRow {
    /// What was done, in plain words.
    pub name: &'static str,
    /// Whose time ours is held against.
    pub peer: &'static str,
    /// Threads of each side.
    pub threads: usize,
    /// Our least time.
    pub ours_ms: f64,
    /// The peer's least time.
    pub peer_ms: f64,
    /// Median over the rounds of our time over the peer's.
    pub ratio: f64,
    /// Our least time over the peer's least.
    pub best_ratio: f64,
    /// What the ratio may be.
    pub limit: Option<f64>,
    /// Whether it is; without a limit it may be anything.
    pub ok: bool,
}

impl BenchRow {
    /// From pairs of our time and the peer's, in milliseconds.
    pub(super) fn new(
        name: &'static str,
        peer: &'static str,
        threads: usize,
        limit: Option<f64>,
        pairs: &[(f64, f64)],
    ) -> Self {
        let least = |times: &mut dyn Iterator<Item = f64>| times.fold(f64::INFINITY, f64::min);
        let ours_ms = least(&mut pairs.iter().map(|pair| pair.0));
        let peer_ms = least(&mut pairs.iter().map(|pair| pair.1));
        let mut ratios: Vec<f64> = pairs.iter().map(|(ours, theirs)| ours / theirs).collect();
        ratios.sort_by(f64::total_cmp);
        let middle = |at: usize| ratios.get(at).copied().unwrap_or(f64::NAN);
        let ratio = 0.5 * (middle(ratios.len().saturating_sub(1) / 2) + middle(ratios.len() / 2));
        Self {
            name,
            peer,
            threads,
            ours_ms,
            peer_ms,
            ratio,
            best_ratio: ours_ms / peer_ms,
            limit,
            ok: limit.map_or(ratio.is_finite(), |limit| ratio <= limit),
        }
    }
}

/// A table for people.
#[must_use]
pub fn table(rows: &[BenchRow]) -> String {
    let width = rows.iter().map(|row| row.name.chars().count()).max();
    let width = width.unwrap_or(0);
    let mut text = format!(
        "{:width$}  threads    ours ms    peer ms  peer     ratio  of the best  limit\n",
        "our time over the peer's"
    );
    for row in rows {
        text += &format!(
            "{:width$}  {:>7}  {:>9.2}  {:>9.2}  {:<7}  {:>5.2}  {:>11.2}  {:>5}  {}\n",
            row.name,
            row.threads,
            row.ours_ms,
            row.peer_ms,
            row.peer,
            row.ratio,
            row.best_ratio,
            row.limit.map_or("none".into(), |x| format!("{x:.2}")),
            if row.ok { "ok" } else { "too slow" }
        );
    }
    text
}

/// One object for programs.
#[must_use]
pub fn json(rows: &[BenchRow]) -> String {
    serde_json::json!({ "rows": rows }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_decides() {
        let pairs = [(1.0, 2.0), (3.0, 2.0), (1.6, 2.0)];
        let row = BenchRow::new("work", "peer", 2, Some(0.8), &pairs);
        assert_eq!((row.ours_ms, row.peer_ms), (1.0, 2.0));
        assert_eq!((row.ratio, row.best_ratio), (0.8, 0.5));
        assert!(row.ok);
        let even = BenchRow::new("work", "peer", 2, Some(0.8), &pairs[..2]);
        assert_eq!((even.ratio, even.ok), (1.0, false));
        assert!(!BenchRow::new("work", "peer", 2, Some(0.8), &[]).ok);
    }

    #[test]
    fn one_object_and_one_line_for_each_row() -> serde_json::Result<()> {
        let row = BenchRow::new("work", "peer", 1, Some(1.0), &[(1.0, 2.0)]);
        let rows = [row.clone(), row];
        let object: serde_json::Value = serde_json::from_str(&json(&rows))?;
        assert_eq!(object["rows"][1]["ratio"], 0.5);
        assert_eq!(table(&rows).lines().count(), 3);
        Ok(())
    }
}
