//! A ranking for people.

use std::io::Write;
use std::path::Path;

use crate::check::claim::claim;
use crate::check::text;
use hambo_base::Error;
use hambo_check::Verdict;
use hambo_check::ranking::judge_all::Judged;
use hambo_check::ranking::table::{ColumnBound, Ranking};

/// Names that one line gives; the others are counted.
const MOST_NAMES: usize = 5;

/// The table, what to try first and what not at all, and whose order is open: at most nine lines
/// beside the rows.
pub(super) fn write(
    ranking: &Ranking,
    judged: &[Judged],
    out: &mut impl Write,
) -> Result<(), Error> {
    let threshold = ranking
        .threshold
        .map_or("none".to_owned(), |x| x.to_string());
    writeln!(
        out,
        "{}: {} over {} steps, delta {}, threshold {threshold}; {} decides\n",
        ranking.task,
        several(ranking.controllers.len()),
        ranking.horizon,
        ranking.delta,
        ranking.variants.first().map_or("", String::as_str)
    )?;
    write_table(ranking, out)?;
    let with = |wanted: fn(Option<Verdict>) -> bool| -> Vec<&str> {
        let with = ranking.controllers.iter().filter(|one| wanted(one.verdict));
        with.map(|one| one.name.as_str()).collect()
    };
    let good = with(|verdict| matches!(verdict, None | Some(Verdict::Deploy)));
    let bad = with(|verdict| verdict == Some(Verdict::Reject));
    let open = with(|verdict| verdict == Some(Verdict::Abstain));
    match good.first() {
        Some(first) => writeln!(out, "\ntry first: {first}")?,
        None => writeln!(out, "\ntry first: none of them")?,
    }
    for (what, names) in [("not at all", bad), ("not by this evidence", open)] {
        if !names.is_empty() {
            writeln!(out, "{what}: {}", few(&names, ", "))?;
        }
    }
    let pairs = ranking.unsettled.iter();
    let pairs: Vec<String> = pairs.map(|pair| pair.join(" and ")).collect();
    let pairs: Vec<&str> = pairs.iter().map(String::as_str).collect();
    if pairs.is_empty() {
        writeln!(out, "the evidence settles the order of every pair")?;
    } else {
        writeln!(out, "order not settled: {}", few(&pairs, "; "))?;
    }
    if let Some(first) = judged.first() {
        let result = &first.outcome.result;
        if let Some(logged) = &result.evidence.logged_return {
            writeln!(out, "{}", logged.sentence())?;
        }
        writeln!(out, "{}", claim(&result.setting, judged.len()))?;
    }
    Ok(())
}

fn write_table(ranking: &Ranking, out: &mut impl Write) -> Result<(), Error> {
    let letters = ranking
        .controllers
        .iter()
        .map(|one| one.name.chars().count());
    let width = letters.max().unwrap_or(0).max(10);
    write!(
        out,
        "{:8} {:width$}  {:8}",
        "place", "controller", "verdict"
    )?;
    for variant in &ranking.variants {
        write!(out, " {variant:>12}")?;
    }
    writeln!(out, " {:>12}  why", "mean model")?;
    for one in &ranking.controllers {
        let verdict = one.verdict.map_or("none", Verdict::name);
        let style = one.verdict.map(text::style).unwrap_or_default();
        let name = &one.name;
        let place = one.place();
        write!(out, "{place:8} {name:width$}  {style}{verdict:8}{style:#}")?;
        for bound in &one.bounds {
            write!(out, " {:>12}", shown(bound))?;
        }
        writeln!(out, " {:>12.3}  {}", one.neutral, one.why)?;
    }
    Ok(())
}

/// A bound that nobody may rely on stands in brackets.
fn shown(bound: &ColumnBound) -> String {
    match bound.verdict {
        Some(Verdict::Abstain) => format!("({:.3})", bound.lower),
        _ => format!("{:.3}", bound.lower),
    }
}

/// So many controllers, in words.
pub(super) fn several(count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} controller{plural}")
}

/// The first of them, and how many there are more.
fn few(names: &[&str], between: &str) -> String {
    let shown = names.get(..MOST_NAMES).unwrap_or(names).join(between);
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown}{between}and {more} more"),
    }
}

/// When an order is settled, every open pair, and the whole check of each controller.
pub(super) fn write_details(
    ranking: &Ranking,
    judged: &[Judged],
    out: &mut impl Write,
) -> Result<(), Error> {
    writeln!(out, "\n{}", ranking.rule)?;
    for [one, other] in &ranking.unsettled {
        writeln!(out, "order not settled: {one} and {other}")?;
    }
    for one in judged {
        writeln!(out, "\n== {}", one.name)?;
        text::write(&one.outcome, Path::new(&one.name), true, out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::few;

    #[test]
    fn a_line_gives_five_names_and_counts_the_others() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        assert_eq!(few(&names, ", "), "a, b, c, d, e, and 2 more");
        assert_eq!(few(&names[..5], "; "), "a; b; c; d; e");
    }
}
