//! States whose next values follow exactly, such as a position from its velocity. A model need not
//! learn them, and no uncertainty is due to them.

use hambo_core::task::MAX_KNOWN;
use hambo_task::task::known_line;

use super::circles::Circle;
use super::known_fit::{FEWEST_ROWS, Fit, Target};
use super::known_form::Form;
use super::rows::LoggedRows;
use super::steps::{Step, range};
use crate::inspect::WrapHint;

/// Of several forms that hold, those are as good as the best whose residual is at most this many
/// times as large. At a high rate v and v′ are nearly the same, and what the robot computes with
/// shows only here.
const AS_GOOD: f64 = 4.0;

/// A state that follows exactly.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) name: String,
    /// Its next value, as a task writes it.
    pub(super) expression: String,
    /// The largest residual, as a share of the standard deviation.
    pub(super) residual: f64,
    /// The rows that show it.
    pub(super) rows: usize,
    /// Whether it never changes within an episode: a goal, a mass.
    pub(super) stays: bool,
}

impl Known {
    /// The finding in words.
    pub(super) fn seen(&self) -> String {
        let Self { name, rows, .. } = self;
        if self.stays {
            return format!("`{name}` is the same before and after each of {rows} rows");
        }
        let residual = if self.residual > 0.0 {
            format!("{:.1e}", self.residual)
        } else {
            "0".to_owned()
        };
        format!(
            "`{name}`: the largest residual is {residual} of its standard deviation, in {rows} rows"
        )
    }

    /// The line of the task file.
    pub(super) fn line(&self) -> String {
        known_line(&self.name, &self.expression)
    }
}

impl LoggedRows {
    /// States that follow exactly, except those on circles. None waits for its own next value.
    pub(super) fn known(&self, wraps: &[WrapHint], circles: &[Circle]) -> Vec<Known> {
        let mut chosen: Vec<Option<Form>> = vec![None; self.states.len()];
        let mut found = Vec::new();
        for (state, name) in self.states.iter().enumerate() {
            if circles.iter().any(|circle| circle.columns.contains(&state)) {
                continue;
            }
            let hint = wraps.iter().find(|hint| hint.name == *name);
            let Some(target) = Target::new(self, state, hint.map(|hint| hint.wrap)) else {
                found.extend(self.that_stays(state, name));
                continue;
            };
            let fits: Vec<Fit> = Form::all(state, self)
                .filter(|form| !is_loop(*form, state, &chosen))
                .filter_map(|form| target.fit(form))
                .collect();
            let Some(fit) = preferred(&fits, target.rounding) else {
                continue;
            };
            if let Some(place) = chosen.get_mut(state) {
                *place = Some(fit.form);
            }
            found.push(Known {
                name: name.clone(),
                expression: fit.form.expression(self, state, fit.h),
                residual: fit.residual / target.spread,
                rows: target.rows,
                stays: false,
            });
        }
        // A model learns at least one, and a task has room for `MAX_KNOWN`. Of what stays
        // nothing can be learnt, so it comes first.
        let most = MAX_KNOWN.min(self.states.len().saturating_sub(1));
        let mut left = most.saturating_sub(found.iter().filter(|one| one.stays).count());
        found.retain(|one| {
            let kept = one.stays || left > 0;
            left -= usize::from(kept && !one.stays);
            kept
        });
        found.truncate(most);
        found
    }

    /// A state whose next value is itself in every row, but for rounding.
    fn that_stays(&self, state: usize, name: &str) -> Option<Known> {
        let rows = self.steps().count();
        let stays = |step: Step<'_>| match (step.state.get(state), step.next.get(state)) {
            (Some(before), Some(after)) => (after - before).abs() <= f32::EPSILON * before.abs(),
            _ => false,
        };
        (rows >= FEWEST_ROWS && self.steps().all(stays)).then(|| Known {
            name: name.to_owned(),
            expression: name.to_owned(),
            residual: 0.0,
            rows,
            stays: true,
        })
    }

    /// States with one value in the whole log, but for rounding, each with it.
    pub(super) fn constants(&self) -> Vec<(&str, f32)> {
        let names = self.states.iter().enumerate();
        let constants = names.filter_map(|(state, name)| {
            let values = self.rows.iter().filter_map(|row| row.state.get(state));
            let (low, high) = range(values.copied())?;
            let rounding = 2.0 * f32::EPSILON * low.abs();
            (high - low <= rounding).then_some((name.as_str(), low))
        });
        constants.collect()
    }
}

/// The first of those that are as good as the best.
fn preferred(fits: &[Fit], rounding: f64) -> Option<&Fit> {
    let residuals = fits.iter().map(|fit| fit.residual);
    let best = residuals.fold(f64::INFINITY, f64::min);
    let limit = AS_GOOD * best.max(rounding);
    fits.iter().find(|fit| fit.residual <= limit)
}

/// Whether the next value of `state` would wait for itself.
fn is_loop(form: Form, state: usize, chosen: &[Option<Form>]) -> bool {
    let next = |form: Form| {
        let waits_for = form.waits_for()?;
        Some((waits_for, chosen.get(waits_for).copied().flatten()))
    };
    let mut link = next(form);
    while let Some((waits_for, form)) = link {
        if waits_for == state {
            return true;
        }
        link = form.and_then(next);
    }
    false
}
