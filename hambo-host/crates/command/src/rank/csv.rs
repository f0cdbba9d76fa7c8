//! A ranking as a table for programs.

use hambo_base::Error;
use hambo_check::Verdict;
use hambo_check::ranking::table::Ranking;

/// One row for each controller, the one to try first at the top.
pub(super) fn csv(ranking: &Ranking) -> Result<String, Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let failed = |error: csv::Error| std::io::Error::other(error);
    let bounds = ranking.variants.iter();
    let bounds = bounds.flat_map(|variant| [variant.clone(), format!("{variant}_bits")]);
    let before = ["controller", "verdict", "best_place", "worst_place"];
    let after = ["mean_model", "greatest_estimate", "why", "not_settled_with"];
    let heads = before.into_iter().map(str::to_owned);
    let heads = heads.chain(bounds).chain(after.map(str::to_owned));
    writer.write_record(heads).map_err(failed)?;
    for one in &ranking.controllers {
        let [best, worst] = one.places.map(|place| place.to_string());
        let verdict = one.verdict.map_or("none", Verdict::name);
        let mut row = vec![one.name.clone(), verdict.to_owned(), best, worst];
        for bound in &one.bounds {
            row.extend([bound.lower.to_string(), bound.bits.clone()]);
        }
        let open: Vec<&str> = ranking.open_with(&one.name).collect();
        row.extend([
            one.neutral.to_string(),
            one.greatest.to_string(),
            one.why.clone(),
            open.join(";"),
        ]);
        writer.write_record(row).map_err(failed)?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
