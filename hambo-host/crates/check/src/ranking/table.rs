//! The ranking: one row for each controller, and the pairs that are not settled. The object of
//! `hambo rank --json`, and what text, CSV and page show.

use hambo_core::gate::Verdict;
use serde::{Deserialize, Serialize};

use super::judge_all::Judged;
use super::order::order;
use super::places::{Interval, places, unsettled};
use super::why::why;
use crate::number::Number;
use crate::outcome::result::{CheckResult, verdict_word};

/// When the order of two controllers is settled, and what that means.
pub const RULE: &str = "the order of two controllers is settled where the lower bound of one lies \
    above every estimate of the other's return, that of the mean model among them: the one is \
    better in the worst case than the other is expected to be. An estimate bounds nothing from \
    above, so the other may still do better than that. What abstains is settled against none";

/// Several controllers, the one to try first at the top.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ranking {
    /// The task's name.
    pub task: String,
    pub horizon: u32,
    /// The probability with which any of the bounds that decide may fail.
    pub delta: Number,
    /// How many controllers share it.
    pub sharing: usize,
    /// What the bounds had to reach.
    pub threshold: Option<Number>,
    /// The variants of the columns; the first decides.
    pub variants: Vec<String>,
    pub controllers: Vec<RankedController>,
    /// Pairs of names whose order the evidence does not settle.
    pub unsettled: Vec<[String; 2]>,
    /// When a pair is settled.
    pub rule: String,
}

/// A row of the ranking.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedController {
    pub name: String,
    /// The best and the worst place, by return, that the evidence leaves open.
    pub places: [usize; 2],
    #[serde(with = "verdict_word")]
    pub verdict: Option<Verdict>,
    /// The lower bound that decides.
    pub bound: Number,
    /// Its bits as an f32.
    pub bound_bits: String,
    /// What the mean model expects.
    pub neutral: Number,
    /// The greatest of all estimates.
    pub greatest: Number,
    /// The lower bound by every variant, in the order of the columns.
    pub bounds: Vec<ColumnBound>,
    /// In a few words.
    pub why: String,
    /// Why it is not `deploy`, in sentences.
    pub reasons: Vec<String>,
}

/// The lower bound by one variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColumnBound {
    pub variant: String,
    pub lower: Number,
    /// Its bits as an f32.
    pub bits: String,
    /// The verdict if this variant decided.
    #[serde(with = "verdict_word")]
    pub verdict: Option<Verdict>,
}

impl Ranking {
    /// Of controllers that were judged together; `None` of none. They are put in order.
    pub fn of(judged: &mut [Judged]) -> Option<Self> {
        judged.sort_by(|one, other| {
            let by_result = order(&one.outcome.result, &other.outcome.result);
            by_result.then_with(|| one.name.cmp(&other.name))
        });
        let first = judged.first()?;
        let setting = &first.outcome.result.setting;
        let intervals: Vec<Interval> = judged.iter().map(interval).collect();
        let name = |place: usize| judged.get(place).map(|one| one.name.clone());
        let pairs = unsettled(&intervals).into_iter();
        let pairs = pairs.filter_map(|[one, other]| Some([name(one)?, name(other)?]));
        let rows = judged.iter().zip(&intervals).zip(places(&intervals));
        Some(Self {
            task: setting.task.clone(),
            horizon: setting.horizon,
            delta: setting.delta,
            sharing: setting.controllers,
            threshold: first.outcome.result.decision.threshold,
            variants: results(first).map(variant).collect(),
            unsettled: pairs.collect(),
            rule: RULE.to_owned(),
            controllers: rows
                .map(|((judged, interval), places)| RankedController::of(judged, interval, places))
                .collect(),
        })
    }

    /// Those with which the order of one is not settled.
    pub fn open_with<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.unsettled
            .iter()
            .filter_map(move |[one, other]| match name {
                _ if one == name => Some(other.as_str()),
                _ if other == name => Some(one.as_str()),
                _ => None,
            })
    }
}

impl RankedController {
    fn of(judged: &Judged, interval: &Interval, places: [usize; 2]) -> Self {
        let result = &judged.outcome.result;
        let decision = &result.decision;
        let bounds = results(judged).map(|result| ColumnBound {
            variant: variant(result),
            lower: result.decision.bound,
            bits: result.decision.bound_bits.clone(),
            verdict: result.decision.verdict,
        });
        Self {
            name: judged.name.clone(),
            places,
            verdict: decision.verdict,
            bound: decision.bound,
            bound_bits: decision.bound_bits.clone(),
            neutral: decision.neutral,
            greatest: Number(interval.high),
            bounds: bounds.collect(),
            why: why(result),
            reasons: decision.reasons.clone(),
        }
    }

    /// The open places in words: `2`, or `2 to 4`.
    #[must_use]
    pub fn place(&self) -> String {
        let [best, worst] = self.places;
        if best == worst {
            best.to_string()
        } else {
            format!("{best} to {worst}")
        }
    }
}

/// The checks of one controller, that which decides first.
fn results(judged: &Judged) -> impl Iterator<Item = &CheckResult> {
    std::iter::once(&judged.outcome.result).chain(&judged.others)
}

/// The one variant of a check.
fn variant(result: &CheckResult) -> String {
    result.setting.variants.first().cloned().unwrap_or_default()
}

/// From the lower bound to the greatest estimate of any of its checks.
fn interval(judged: &Judged) -> Interval {
    let decision = &judged.outcome.result.decision;
    let all = results(judged).flat_map(|result| {
        let means = result.evidence.estimates.iter().map(|one| one.mean.0);
        means.chain([result.decision.neutral.0, result.decision.bound.0])
    });
    let finite = decision.bound.0.is_finite() && decision.neutral.0.is_finite();
    Interval {
        low: decision.bound.0,
        high: all.fold(f64::NEG_INFINITY, f64::max),
        sound: finite && decision.verdict != Some(Verdict::Abstain),
    }
}
