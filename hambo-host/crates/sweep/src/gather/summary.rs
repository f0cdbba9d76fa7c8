//! Several bounds in one: over seeds, over models.

use crate::row::{Checked, Found, Row};

/// What several checks of one controller come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Several {
    pub bounds: Vec<f64>,
    pub neutrals: Vec<f64>,
    pub deploy: usize,
    pub reject: usize,
    pub abstain: usize,
    pub failed: usize,
    /// Whether any of them had a threshold.
    pub judged: bool,
}

impl Several {
    pub fn add(&mut self, row: &Row) {
        match &row.found {
            Found::Checked(checked) => self.add_check(checked),
            Found::Failed(_) => self.failed += 1,
            Found::Fitted(_) => {}
        }
    }

    fn add_check(&mut self, checked: &Checked) {
        self.bounds.push(checked.bound.0);
        self.neutrals.push(checked.neutral.0);
        self.judged |= checked.threshold.is_some();
        match checked.verdict.as_deref() {
            Some("deploy") => self.deploy += 1,
            Some("reject") => self.reject += 1,
            Some("abstain") => self.abstain += 1,
            _ => {}
        }
    }

    pub fn checks(&self) -> usize {
        self.bounds.len()
    }
}

/// The lower of the two in the middle: a bound that one of the checks had. What is no number lies
/// below every number.
pub(super) fn median(values: &[f64]) -> f64 {
    let ordered = ordered(values);
    let middle = ordered.len().saturating_sub(1) / 2;
    ordered.get(middle).copied().unwrap_or(f64::NAN)
}

/// The least and the greatest; what is no number lies below every number.
pub(super) fn ends(values: &[f64]) -> [f64; 2] {
    let ordered = ordered(values);
    [ordered.first(), ordered.last()].map(|end| end.copied().unwrap_or(f64::NAN))
}

fn ordered(values: &[f64]) -> Vec<f64> {
    let mut ordered = values.to_vec();
    ordered.sort_by(|one, other| by_value(*one, *other));
    ordered
}

/// The order of bounds: what is no number comes first.
pub(super) fn by_value(one: f64, other: f64) -> std::cmp::Ordering {
    let rank = |value: f64| {
        if value.is_nan() {
            f64::NEG_INFINITY
        } else {
            value
        }
    };
    let same = rank(one).total_cmp(&rank(other));
    same.then_with(|| other.is_nan().cmp(&one.is_nan()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_is_no_number_is_the_lowest() {
        assert_eq!(median(&[3.0, -1.0, 2.0, 9.0]), 2.0);
        assert_eq!(median(&[5.0]), 5.0);
        assert!(median(&[]).is_nan() && median(&[f64::NAN, f64::NAN, 1.0]).is_nan());
        let [least, greatest] = ends(&[1.0, f64::NAN, -2.0]);
        assert!(least.is_nan() && greatest == 1.0);
    }
}
