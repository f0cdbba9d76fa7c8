//! What the pages say of the rows in `studies/`.

use super::kept::{Kept, csv};
use super::markdown::{grouped, table, tables_of};
use super::parts::Parts;
use crate::study::assumption::{ASSUMPTIONS, Assumption};
use crate::study::broken::{Broken, LOGS};
use crate::study::broken_summary::Counts as BrokenCounts;
use crate::study::coverage::{Coverage, EXPLORED, UNEXPLORED};
use crate::study::coverage_summary::{Counts, deployed_by_both, explored};
use crate::study::drive_flips::{DriveFlips, End};
use crate::study::focused_summary::{Beside, apart};
use crate::study::glitches::Glitches;
use crate::study::kept::kept;
use crate::study::known_summary::Counts as KnownCounts;
use crate::study::monitored_summary::Counts as MonitoredCounts;
use crate::study::named;
use crate::study::statistics::Count;
use hambo_base::study::rows::Record;

pub(super) fn add(parts: &mut Parts) -> Result<(), String> {
    coverage(parts)?;
    let before = csv("studies/before.csv")?;
    let before = |study: &str, case: &str| {
        let mut rows = before.iter();
        let found = rows.find(|row| row["study"] == study && row["case"] == case);
        found.ok_or(format!("studies/before.csv has no {study},{case}"))
    };
    broken(parts)?;
    glitches(parts, &before)?;
    flips(parts, &before)?;
    for (name, tables) in [
        ("backtest", &["backtest", "backtest-own"][..]),
        ("known", &["known"]),
        ("monitor", &["monitor"]),
        ("sampling", &["sampling"]),
    ] {
        let study = named(name).ok_or(format!("there is no study {name}"))?;
        let text = study.summary(&kept(study)?).text;
        for (name, text) in tables.iter().zip(tables_of(&text)) {
            parts.add(name, text);
        }
        let rows = kept(study)?;
        match name {
            "known" => {
                let halved = KnownCounts::of(&rows, None).halved;
                parts.add("known-not-halved", of(halved.of - halved.hits, halved.of));
            }
            "monitor" => {
                let as_logged = |row: &Record<'_>| row.text("condition") == "as logged";
                let Count { hits, of: all } = MonitoredCounts::of(&rows, as_logged).stopped;
                parts.add("monitor-as-logged", of(hits, all));
            }
            _ => {}
        }
    }
    Ok(())
}

fn of(hits: usize, all: usize) -> String {
    format!("{} of {}", grouped(hits as f64), grouped(all as f64))
}

fn coverage(parts: &mut Parts) -> Result<(), String> {
    let (even, focused) = (kept(&Coverage::EVEN)?, kept(&Coverage::FOCUSED)?);
    let ([logs, unexplored], [focused_logs, focused_unexplored]) =
        (explored(&even), explored(&focused));
    let all: Vec<Record<'_>> = even.rows().collect();
    let process = "Gaussian processes of 100 points, some of these logs";
    let line = |(name, rows, prefix): (&str, &[Record<'_>], &str)| {
        let counts = Counts::of(rows, prefix);
        let Count { hits, of: all } = counts.constraint_violations;
        let abstained = counts.deployed.of - counts.deployed.hits - counts.rejected.hits;
        [
            name.to_owned(),
            counts.violations.text(),
            of(hits, all),
            format!("{:.1} %", 100.0 * counts.median_gap),
            of(counts.deployed.hits, counts.deployed.of),
            abstained.to_string(),
        ]
    };
    let lines = [
        ("networks, logs with exploration", &logs[..], ""),
        ("networks, logs without", &unexplored, ""),
        (
            "the same logs and networks, focused search",
            &focused_logs,
            "",
        ),
        (
            "the same without exploration, focused search",
            &focused_unexplored,
            "",
        ),
        (process, &all, "gp_"),
    ];
    let header = [
        "",
        "bounds above the truth",
        "constraints' bounds above it",
        "truth less bound, median of the spread",
        "deployed",
        "abstain",
    ];
    parts.add("coverage", table(header, &lines.map(line)));
    for (name, rows) in [("coverage-cells", &even), ("focused-cells", &focused)] {
        parts.add(name, of(rows.rows().count(), EXPLORED + UNEXPLORED));
    }
    let both = deployed_by_both(&logs);
    parts.add("coverage-both", of(both.hits, both.of));
    let beside = Beside::of(&focused, &even);
    let [lower, higher] = apart(&beside.differences);
    let most = beside.differences.iter().copied().fold(0.0, f64::max);
    for (name, count) in [
        ("focused-both", beside.differences.len()),
        ("focused-lower", lower),
        ("focused-higher", higher),
        ("focused-lost", beside.no_longer_deployed),
        ("focused-won", beside.newly_deployed),
    ] {
        parts.add(name, count);
    }
    parts.add("focused-most", format!("{:.0} %", 100.0 * most));
    Ok(())
}

/// Looks up a case of an older program.
type Before<'b> = dyn Fn(&str, &str) -> Result<&'b Kept, String> + 'b;

fn broken(parts: &mut Parts) -> Result<(), String> {
    let rows = kept(&Broken)?;
    let line = |assumption: Assumption| {
        let counts = BrokenCounts::of(&rows, assumption);
        let Count { hits, of: all } = counts.wrong_logs;
        let wrong_logs = if counts.too_many() {
            format!("**{}**", of(hits, all))
        } else {
            of(hits, all)
        };
        [
            format!("{}{}", assumption.name(), assumption.whether_seen()),
            wrong_logs,
            of(counts.wrong.hits, counts.wrong.of),
            of(counts.refused.hits, counts.refused.of),
            of(counts.unfit.hits, counts.unfit.of),
        ]
    };
    let header = [
        "broken",
        "logs with a wrong deploy",
        "wrong deploys",
        "refused good ones",
        "unfit evidence",
    ];
    parts.add("broken", table(header, &ASSUMPTIONS.map(line)));
    let logs = BrokenCounts::of(&rows, Assumption::Nothing).wrong_logs.of;
    parts.add("broken-logs", of(logs, LOGS));
    Ok(())
}

/// What the pages call a glitch, and how its rows' part and image begin.
const GLITCHES: [(&str, &[&str]); 8] = [
    (
        "skipped instruction: reject",
        &["skip first,reject", "skip last,reject"],
    ),
    (
        "skipped instruction: abstain",
        &["skip first,abstain", "skip last,abstain"],
    ),
    (
        "skipped instruction: refused",
        &["skip first,refused", "skip last,refused"],
    ),
    ("skipped instruction inside the hash", &["skip in hash"]),
    ("another verdict code", &["code", "refusal"]),
    (
        "flash rewritten: a deploy before its decision",
        &["flash,deploy"],
    ),
    (
        "flash rewritten: a reject that would then pass",
        &["flash,reject"],
    ),
    ("flipped bit of RAM", &["ram"]),
];

fn glitches(parts: &mut Parts, before: &Before<'_>) -> Result<(), String> {
    let rows = kept(&Glitches)?;
    let mut lines = Vec::new();
    for (name, kinds) in GLITCHES {
        let old = before("glitches", name)?;
        let mine = |row: &Record<'_>| {
            let kind = format!("{},{}", row.text("part"), row.text("image"));
            kinds.iter().any(|start| kind.starts_with(start))
        };
        let now = Count::of(rows.rows().filter(mine).map(|row| row.yes("pin")));
        lines.push([
            name.to_owned(),
            grouped(old["runs"].parse().unwrap_or(f64::NAN)),
            old["first"].clone(),
            grouped(now.of as f64),
            now.hits.to_string(),
        ]);
    }
    let header = ["glitch", "runs before", "pin high", "runs now", "pin high"];
    parts.add("glitches", table(header, &lines));
    Ok(())
}

fn flips(parts: &mut Parts, before: &Before<'_>) -> Result<(), String> {
    let rows = kept(&DriveFlips)?;
    let mut lines = Vec::new();
    for scene in ["before the trip", "with the fallback"] {
        let old = before("drive_flips", scene)?;
        let of_scene = || rows.rows().filter(|row| row.text("scene") == scene);
        let ended = |end: End| {
            let count = of_scene()
                .filter(|row| row.text("end") == end.name())
                .count();
            count.to_string()
        };
        let [noticed, reset, same, earlier, goes_on] = End::ALL.map(ended);
        let runs = of_scene().count().to_string();
        let goes_on = format!("{} · {goes_on}", old["first"]);
        lines.push([
            scene.to_owned(),
            runs,
            noticed,
            reset,
            same,
            earlier,
            goes_on,
        ]);
    }
    let header = [
        "flip",
        "runs",
        "noticed by the checksum",
        "reset",
        "no effect",
        "ends earlier",
        "goes on: before · now",
    ];
    parts.add("drive-flips", table(header, &lines));
    Ok(())
}
