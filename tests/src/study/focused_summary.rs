//! What the rows of the coverage study say of a focused search, beside those of an even one.

use std::collections::BTreeMap;

use hambo_base::study::rows::{Record, Table};

/// A share of the spread by which two bounds, means or margins are apart.
pub const FAR: f64 = 0.02;

/// How many are below and above 0 by more than [`FAR`].
#[must_use]
pub fn apart(differences: &[f64]) -> [usize; 2] {
    let count = |sign: f64| differences.iter().filter(|x| sign * **x > FAR).count();
    [count(-1.0), count(1.0)]
}

/// Bounds of a focused search beside those of an even one, in the cells where both claim
/// something.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// How far the focused bound lies above the even one, over the spread.
    pub differences: Vec<f64>,
    /// Cells that the even search deploys and the focused one does not.
    pub no_longer_deployed: usize,
    /// The other way round.
    pub newly_deployed: usize,
}

impl Beside {
    /// Of the rows of both.
    #[must_use]
    pub fn of(focused: &Table, even: &Table) -> Self {
        let even: BTreeMap<&str, Record<'_>> =
            even.rows().map(|row| (row.text("cell"), row)).collect();
        let verdict = |row: &Record<'_>| row.text("verdict").to_owned();
        let claims = |row: &Record<'_>| matches!(verdict(row).as_str(), "deploy" | "reject");
        let deploys = |row: &Record<'_>| verdict(row) == "deploy";
        let mut beside = Self {
            differences: Vec::new(),
            no_longer_deployed: 0,
            newly_deployed: 0,
        };
        for row in focused.rows() {
            let Some(even) = even.get(row.text("cell")) else {
                continue;
            };
            if claims(&row) && claims(even) {
                let difference = row.number("bound") - even.number("bound");
                beside.differences.push(difference / row.number("spread"));
            }
            beside.no_longer_deployed += usize::from(deploys(even) && !deploys(&row));
            beside.newly_deployed += usize::from(deploys(&row) && !deploys(even));
        }
        beside
    }

    /// A line of the summary.
    #[must_use]
    pub fn text(&self) -> String {
        let [lower, higher] = apart(&self.differences);
        let most = self.differences.iter().copied().fold(0.0, f64::max);
        format!(
            "beside the even search, {} cells where both claim something: the bound is lower by \
             more than {} % of the spread in {lower}, higher by more than that in {higher}, by at \
             most {:.1} %\n- deployed by the even search alone {}, by the focused one alone {}\n",
            self.differences.len(),
            100.0 * FAR,
            100.0 * most,
            self.no_longer_deployed,
            self.newly_deployed,
        )
    }
}
