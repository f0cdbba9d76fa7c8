//! Rare events and what stays, on the rows that judge nothing.

use super::extremes::{BEYOND, Extremeness};
use super::kept_rows::KeptRows;
use super::neighbours::standardised;
use super::scores::{Unit, less_medians, robust_deviation, rows_of_groups, scores};
use super::stays::{State, Stays};
use crate::calibration::noise_width;
use crate::calibration::withheld::Withheld;

/// Rows that judge nothing, those that were trained on among them, and what the model sees of
/// them.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    /// Predictions and observations.
    pub rows: Withheld<'a>,
    /// The inputs of each row, one after the other.
    pub inputs: &'a [f32],
    /// Inputs of a row.
    pub columns: usize,
}

/// Of those rows the ones that say something of every state.
pub(crate) struct WholeRows {
    rows: KeptRows,
    inputs: Vec<f32>,
    columns: usize,
}

impl Shown<'_> {
    /// The rows that say something of every state.
    pub(crate) fn whole(&self) -> WholeRows {
        let rows = KeptRows::whole(&self.rows);
        let of = |row: &usize| {
            self.inputs
                .iter()
                .skip(row * self.columns)
                .take(self.columns)
        };
        let inputs = rows.places().iter().flat_map(of).copied().collect();
        WholeRows {
            rows,
            inputs,
            columns: self.columns,
        }
    }
}

impl WholeRows {
    /// As they are shown.
    pub(crate) fn shown(&self) -> Shown<'_> {
        Shown {
            rows: self.rows.withheld(),
            inputs: &self.inputs,
            columns: self.columns,
        }
    }
}

/// What was found.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(super) rule: Rule,
    /// Whether each row is a rare event of the noise.
    pub(crate) extreme: Vec<bool>,
    pub(super) stays: Option<Stays>,
}

/// Which rows are extreme.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    states: Vec<Limit>,
    /// Deviations of the noise beyond which a row is extreme.
    deviations: f64,
    /// Whether the median of each episode is taken out first.
    of_medians: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Limit {
    /// Robust deviations of the noise over the predicted one.
    pub scale: f64,
    pub of_noise: bool,
    /// Where extreme begins, in predicted deviations.
    beyond: f64,
}

impl Rule {
    /// Rows beyond `deviations` of the noise.
    fn of(rows: &Withheld<'_>, of_medians: bool, deviations: f64) -> Self {
        let groups = rows_of_groups(rows.groups);
        let states = rows.dimensions.iter().enumerate().map(|(j, columns)| {
            let scores = scores(rows, j);
            let Some(Unit { scale, of_noise }) = Unit::of(&scores, rows.follows) else {
                return Limit {
                    scale: 1.0,
                    of_noise: false,
                    beyond: f64::INFINITY,
                };
            };
            // An error of the model makes residuals larger than their differences tell.
            let all = if of_medians {
                robust_deviation(less_medians(&scores, columns.held, &groups).into_iter())
            } else {
                robust_deviation(scores.into_iter())
            };
            Limit {
                scale,
                of_noise,
                beyond: deviations * scale.max(all),
            }
        });
        Self {
            states: states.collect(),
            deviations,
            of_medians,
        }
    }

    pub(super) fn deviations(&self) -> f64 {
        self.deviations
    }

    pub(super) fn limits(&self) -> &[Limit] {
        &self.states
    }

    /// Whether each row is beyond the limit in any state whose residuals are noise and of which it
    /// says something.
    pub(super) fn flags(&self, rows: &Withheld<'_>) -> Vec<bool> {
        let groups = rows_of_groups(rows.groups);
        let mut flags = vec![false; rows.groups.len()];
        let states = self.states.iter().zip(&rows.dimensions).enumerate();
        for (j, (limit, columns)) in states {
            let mut values = scores(rows, j);
            if self.of_medians {
                values = less_medians(&values, columns.held, &groups);
            }
            for (row, (flag, value)) in flags.iter_mut().zip(values).enumerate() {
                let beyond = limit.of_noise && value.abs() > limit.beyond;
                *flag |= beyond && !columns.held.at(row);
            }
        }
        flags
    }
}

impl Found {
    /// None where white noise is enough, or the log does not show that it is noise. `trend`
    /// allows for a model that has learnt a part of it: then the next model must show it.
    pub(crate) fn of(shown: &Shown<'_>, trend: bool) -> Option<Self> {
        let whole = shown.whole();
        let found = Self::of_whole(&whole.shown(), trend)?;
        let mut extreme = vec![false; shown.rows.groups.len()];
        for (place, own) in whole.rows.places().iter().zip(&found.extreme) {
            if let Some(extreme) = extreme.get_mut(*place) {
                *extreme = *own;
            }
        }
        Some(Self { extreme, ..found })
    }

    fn of_whole(shown: &Shown<'_>, trend: bool) -> Option<Self> {
        let rows = &shown.rows;
        let inputs = standardised(shown.inputs, shown.columns);
        let mut rule = Rule::of(rows, true, BEYOND);
        if !rule.states.iter().any(|limit| limit.of_noise) {
            return None;
        }
        let flags = rule.flags(rows);
        let stays = stays(&rule, rows, &flags, trend.then_some(&inputs));
        if stays.is_none() {
            rule = Rule::of(rows, false, BEYOND);
        }
        let flags = rule.flags(rows);
        let places = (&inputs[..], rows.groups, rows.follows);
        let extreme = match Extremeness::of(&flags, rule.states.len(), places) {
            Extremeness::Noise if trend => flags,
            Extremeness::Noise => {
                // What the interval of the noise leaves out is drawn, and not left to the set.
                let width = f64::from(noise_width(rule.states.len()));
                rule = Rule::of(rows, stays.is_some(), width.min(BEYOND));
                rule.flags(rows)
            }
            Extremeness::Few => vec![false; flags.len()],
            // A model that has learnt a part of what stays errs where that part drifts to, and
            // one that has followed single events errs around them.
            Extremeness::Error if trend && stays.is_some() => vec![false; flags.len()],
            Extremeness::Error if trend => flags,
            Extremeness::Error => return None,
        };
        let any = stays.is_some() || extreme.contains(&true);
        any.then_some(Self {
            rule,
            extreme,
            stays,
        })
    }

    /// Whether anything stays.
    pub(crate) fn has_stays(&self) -> bool {
        self.stays.is_some()
    }

    /// What stays in a row's recording, in predicted standard deviations, one number for each
    /// state.
    pub(crate) fn stays_in(&self, group: u32) -> Option<Vec<f64>> {
        let means = self.stays.as_ref()?.means.get(&group)?;
        let pairs = means.iter().zip(&self.rule.states);
        Some(pairs.map(|(mean, limit)| mean * limit.scale).collect())
    }
}

fn stays(
    rule: &Rule,
    rows: &Withheld<'_>,
    flags: &[bool],
    inputs: Option<&Vec<Vec<f64>>>,
) -> Option<Stays> {
    let ordinary: Vec<bool> = flags.iter().map(|flag| !flag).collect();
    let all: Vec<Vec<f64>> = (rule.states.iter().enumerate())
        .map(|(j, limit)| {
            let own = scores(rows, j);
            own.into_iter().map(|score| score / limit.scale).collect()
        })
        .collect();
    let states = rule.states.iter().zip(&all).zip(&rows.dimensions);
    let states: Vec<State<'_>> = states
        .map(|((limit, scores), columns)| {
            let mut widths: Vec<f64> = columns
                .rows()
                .map(|row| row.epistemic / (limit.scale * row.aleatoric).max(f64::MIN_POSITIVE))
                .collect();
            State {
                scores,
                of_noise: limit.of_noise,
                epistemic: hambo_base::order::median(&mut widths).unwrap_or(0.0),
            }
        })
        .collect();
    let inputs = inputs.map(Vec::as_slice);
    Stays::of(&states, rows.groups, rows.follows, &ordinary, inputs)
}
