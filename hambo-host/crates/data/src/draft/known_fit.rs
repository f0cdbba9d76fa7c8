//! How well a [`Form`] gives one state's next values, in the worst row of a log.

use hambo_base::order::median;
use hambo_task::task::Wrap;

use super::known_form::Form;
use super::rows::LoggedRows;
use super::steps::at;
use crate::inspect::{LARGEST_RESIDUAL, spread};

/// The largest residual, as a share of how far the state's changes lie apart. A state that moves by
/// a ten thousandth of its spread per row would follow from anything otherwise.
const SHARE_OF_CHANGES: f64 = 0.01;
/// Fewer rows show nothing.
pub(super) const FEWEST_ROWS: usize = 10;
/// Rows in which the state has to change otherwise than usual.
const TELLING_ROWS: usize = 5;
/// Different values of what is added: with 0 and one other every coincidence is a line.
const FEWEST_VALUES: usize = 3;
/// A step that is written with fewer digits may be this much worse.
const ROUNDED: f64 = 2.0;
/// The most digits of a step: what a number of the device can hold.
const MOST_DIGITS: usize = 8;

/// One state of a log, and how exactly its next values have to be met.
pub(super) struct Target<'a> {
    log: &'a LoggedRows,
    state: usize,
    wrap: Option<Wrap>,
    /// Its standard deviation.
    pub(super) spread: f64,
    /// Rows with a next state.
    pub(super) rows: usize,
    /// The largest residual that is allowed.
    room: f64,
    /// What single precision can make of a residual of 0.
    pub(super) rounding: f64,
}

/// A form that holds in every row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub(super) form: Form,
    /// The time step; 1 where nothing is integrated.
    pub(super) h: f64,
    /// The largest residual.
    pub(super) residual: f64,
}

impl<'a> Target<'a> {
    /// `None` if the state does not move enough for its changes to say anything: constants, ramps,
    /// and what only moves in a few rows.
    pub(super) fn new(log: &'a LoggedRows, state: usize, wrap: Option<Wrap>) -> Option<Self> {
        let values = || log.steps().filter_map(|step| at(step.state, state));
        let nexts = log.steps().filter_map(|step| at(step.next, state));
        let changes: Vec<f64> = values()
            .zip(nexts)
            .map(|(x, next)| short_way(next - x, wrap))
            .collect();
        if changes.len() < FEWEST_ROWS {
            return None;
        }
        let spread = spread(values());
        let largest = values().fold(0.0, |largest: f64, x| largest.max(x.abs()));
        let rounding = f64::from(f32::EPSILON) * largest;
        let rows = changes.len();
        let room = (LARGEST_RESIDUAL * spread).min(SHARE_OF_CHANGES * apart(changes)?);
        (room > rounding).then_some(Self {
            log,
            state,
            wrap,
            spread,
            rows,
            room,
            rounding,
        })
    }

    /// The time step of a form that holds in every row, and its largest residual.
    pub(super) fn fit(&self, form: Form) -> Option<Fit> {
        let exact = |h| Fit {
            form,
            h,
            residual: self.residual(form, h),
        };
        if !form.integrates() {
            let holds = self.pairs(form).all(|(y, v)| (y - v).abs() <= self.room);
            return holds.then(|| exact(1.0));
        }
        if !self.is_possible(form) || !self.is_varied(form) {
            return None;
        }
        let sums = self
            .pairs(form)
            .fold((0.0, 0.0), |(vy, vv), (y, v)| (vy + v * y, vv + v * v));
        let best = exact(sums.0 / sums.1);
        let allowed = (ROUNDED * best.residual).max(self.rounding).min(self.room);
        let rounded = (0..MOST_DIGITS)
            .filter_map(|digits| format!("{:.digits$e}", best.h).parse().ok())
            .map(exact)
            .find(|fit| fit.residual <= allowed);
        // A comparison with what is not a number is false: nothing fits then.
        rounded.or((best.residual <= self.room).then_some(best))
    }

    /// What h v has to be and v, row by row. A state that is taken over and wraps is moved to the
    /// turn of its source.
    fn pairs(&self, form: Form) -> impl Iterator<Item = (f64, f64)> {
        self.log.steps().filter_map(move |step| {
            let (x, next) = (at(step.state, self.state)?, at(step.next, self.state)?);
            let v = form.source(step)?;
            let y = if form.integrates() {
                short_way(next - x, self.wrap)
            } else {
                v + short_way(next - v, self.wrap)
            };
            Some((y, v))
        })
    }

    fn residual(&self, form: Form, h: f64) -> f64 {
        let residuals = self.pairs(form).map(|(y, v)| (y - h * v).abs());
        residuals.fold(0.0, f64::max)
    }

    /// Whether any step at all keeps every row within the room: each row leaves an interval of
    /// steps, and in most logs the first few have none in common.
    fn is_possible(&self, form: Form) -> bool {
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        self.pairs(form).all(|(y, v)| {
            if v == 0.0 {
                return y.abs() <= self.room;
            }
            let (middle, half) = (y / v, self.room / v.abs());
            low = low.max(middle - half);
            high = high.min(middle + half);
            low <= high
        })
    }

    fn is_varied(&self, form: Form) -> bool {
        let mut seen = Vec::with_capacity(FEWEST_VALUES);
        self.pairs(form).any(|(_, v)| {
            if !seen.contains(&v) {
                seen.push(v);
            }
            seen.len() >= FEWEST_VALUES
        })
    }
}

/// A difference without whole periods.
fn short_way(difference: f64, wrap: Option<Wrap>) -> f64 {
    let Some(wrap) = wrap else {
        return difference;
    };
    let period = f64::from(wrap.period);
    difference - period * (difference / period).round()
}

/// The distance from their median that only [`TELLING_ROWS`] of some numbers reach; 0 if nearly all
/// are the same.
fn apart(mut numbers: Vec<f64>) -> Option<f64> {
    let median = median(&mut numbers)?;
    for number in &mut numbers {
        *number = (*number - median).abs();
    }
    let place = numbers.len().checked_sub(TELLING_ROWS)?;
    Some(*numbers.select_nth_unstable_by(place, f64::total_cmp).1)
}
