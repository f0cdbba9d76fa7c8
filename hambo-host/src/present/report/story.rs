//! What the trajectories of a check tell: where they go, how far they leave
//! the data, and at which steps the adversary takes the return away.

use hambo_core::image::Image;
use hambo_core::variant::Variant;
use serde::{Deserialize, Serialize};

use super::number::numbers;
use super::trace::{Trace, traces};
use super::{Number, Reach};
use crate::Error;
use crate::check::findings::Findings;
use crate::formats::log::Log;
use crate::formats::task::RETURN_SO_FAR;

/// The most places of largest loss that are kept.
const MOST_PLACES: usize = 8;

/// Trajectories, neutral and worst, and what lies between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Story {
    /// The variant whose trajectories these are, as `--variant` takes it.
    pub variant: String,
    /// How many trajectories were looked at: the first ones of the check.
    pub trajectories: usize,
    /// Names of the states.
    pub states: Vec<String>,
    /// Names of the actions.
    pub actions: Vec<String>,
    /// Mean propagation: one band for each state.
    pub neutral: Vec<Band>,
    /// The variant's: one band for each state.
    pub worst: Vec<Band>,
    /// The trajectory that loses most against mean propagation.
    pub shown: Shown,
    /// The mean over trajectories of what each step loses against mean
    /// propagation, discounted.
    pub loss: Vec<Number>,
    /// The trajectories that lost most, each at its worst step.
    pub places: Vec<Place>,
    /// Where the log lies.
    pub support: SupportFacts,
}

/// The spread of one state over the trajectories that still run, for s_0 … s_T.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// The mean.
    pub mean: Vec<Number>,
    /// The 5 % quantile.
    pub low: Vec<Number>,
    /// The 95 % quantile.
    pub high: Vec<Number>,
}

/// One trajectory in full, as `[state][step]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// Its number, from 0.
    pub trajectory: usize,
    /// Mean propagation from its initial state.
    pub neutral: Vec<Vec<Number>>,
    /// Under the variant.
    pub worst: Vec<Vec<Number>>,
    /// The lower end of the model's set, s + mu − beta · tau · sigma_e, around
    /// each step of mean propagation, for s_1 … s_T.
    pub set_low: Vec<Vec<Number>>,
    /// Its upper end.
    pub set_high: Vec<Vec<Number>>,
    /// What each of its steps loses.
    pub loss: Vec<Number>,
}

/// A step that cost much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The trajectory, from 0.
    pub trajectory: usize,
    /// The step, from 0.
    pub step: usize,
    /// What that step lost against mean propagation.
    pub loss: Number,
    /// What the whole trajectory lost.
    pub total: Number,
    /// The state there.
    pub state: Vec<Number>,
    /// The action there.
    pub action: Vec<Number>,
    /// The state of mean propagation at the same step; empty if it had ended.
    pub neutral: Vec<Number>,
}

/// The region that the log covers, and how the trajectories lie in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SupportFacts {
    /// Lower corner of the box over states and actions.
    pub low: Vec<Number>,
    /// Upper corner.
    pub high: Vec<Number>,
    /// Lowest logged values, if the log was at hand.
    pub logged_low: Vec<Number>,
    /// Highest logged values, likewise.
    pub logged_high: Vec<Number>,
    /// Mean propagation.
    pub neutral: Reach,
    /// The variant's trajectories.
    pub worst: Reach,
}

/// The words that a story needs.
#[derive(Clone, Debug)]
pub struct StoryNames<'a> {
    /// The variant's word.
    pub variant: &'a str,
    /// Names of the states.
    pub states: &'a [String],
    /// Names of the actions.
    pub actions: &'a [String],
}

impl Story {
    /// Walks the trajectories that a check of the image kept once more and
    /// looks at them; none if there are none.
    ///
    /// # Errors
    /// If the task is too large to be counted.
    pub fn tell(
        image: &Image<'_>,
        findings: &[Findings],
        variant: Variant,
        names: &StoryNames<'_>,
        log: Option<&Log>,
    ) -> Result<Option<Self>, Error> {
        let found = |variant| findings.iter().find(|one| one.variant == variant);
        let Some((neutral, worst)) = found(Variant::Mean).zip(found(variant)) else {
            return Ok(None);
        };
        let (neutral, worst) = (traces(image, neutral)?, traces(image, worst)?);
        if neutral.len() != worst.len() {
            return Ok(None);
        }
        let losses: Vec<Vec<f32>> = neutral
            .iter()
            .zip(&worst)
            .map(|(neutral, worst)| losses(neutral, worst))
            .collect();
        let gap = |pair: &(&Trace, &Trace)| pair.0.value - pair.1.value;
        let pairs = neutral.iter().zip(&worst).enumerate();
        let largest = pairs.max_by(|a, b| gap(&a.1).total_cmp(&gap(&b.1)));
        let Some((trajectory, (beside, lowest))) = largest else {
            return Ok(None);
        };
        let loss = losses.get(trajectory).cloned().unwrap_or_default();
        let dimension = names.states.len();
        let (logged_low, logged_high) = log.map(logged_range).unwrap_or_default();
        let support = &image.model.support;
        Ok(Some(Self {
            variant: names.variant.to_owned(),
            trajectories: worst.len(),
            states: names.states.to_vec(),
            actions: names.actions.to_vec(),
            neutral: (0..dimension).map(|j| Band::of(&neutral, j)).collect(),
            worst: (0..dimension).map(|j| Band::of(&worst, j)).collect(),
            shown: Shown::new(image, trajectory, beside, lowest, &loss, dimension),
            loss: mean_loss(&losses),
            places: places(&neutral, &worst, &losses),
            support: SupportFacts {
                low: numbers(support.low.iter().copied()),
                high: numbers(support.high.iter().copied()),
                logged_low: numbers(logged_low),
                logged_high: numbers(logged_high),
                neutral: Reach::of(&neutral, support),
                worst: Reach::of(&worst, support),
            },
        }))
    }

    /// Whether an input of the model is a column of the log, whose range means
    /// something: all but the return so far are.
    #[must_use]
    pub fn is_logged(&self, place: usize) -> bool {
        self.input_name(place) != RETURN_SO_FAR
    }

    /// What the variant takes from the return of mean propagation.
    #[must_use]
    pub fn total_loss(&self) -> f64 {
        self.loss.iter().map(|loss| loss.0).sum()
    }

    /// The step, from 0, by which half of the loss is there; none without a
    /// loss.
    #[must_use]
    pub fn half_loss_step(&self) -> Option<usize> {
        let half = 0.5 * self.total_loss();
        let mut sum = 0.0;
        let mut reached = |loss: &Number| {
            sum += loss.0;
            sum >= half
        };
        if half > 0.0 {
            self.loss.iter().position(&mut reached)
        } else {
            None
        }
    }

    /// The step, from 0, that loses most on average; none without a loss.
    #[must_use]
    pub fn worst_step(&self) -> Option<usize> {
        let steps = self.loss.iter().enumerate();
        let (step, loss) = steps.max_by(|a, b| a.1.0.total_cmp(&b.1.0))?;
        (loss.0 > 0.0).then_some(step)
    }

    /// The name of an input of the model: a state or an action.
    #[must_use]
    pub fn input_name(&self, place: usize) -> &str {
        let mut names = self.states.iter().chain(&self.actions);
        names.nth(place).map_or("", String::as_str)
    }
}

impl Band {
    fn of(traces: &[Trace], dimension: usize) -> Self {
        let longest = traces.iter().map(|trace| trace.states.len()).max();
        let mut band = Self {
            mean: Vec::new(),
            low: Vec::new(),
            high: Vec::new(),
        };
        for step in 0..longest.unwrap_or(0) {
            let states = traces.iter().filter_map(|trace| trace.states.get(step));
            let values = states.filter_map(|state| state.get(dimension));
            let mut values: Vec<f64> = values.map(|x| f64::from(*x)).collect();
            values.sort_unstable_by(f64::total_cmp);
            let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
            // As f32: six digits more would only fill the file.
            band.mean.push(Number::from(mean as f32));
            band.low.push(Number::from(quantile(&values, 0.05) as f32));
            band.high.push(Number::from(quantile(&values, 0.95) as f32));
        }
        band
    }
}

/// The quantile of sorted numbers, between neighbours in proportion.
pub(super) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * sorted.len().saturating_sub(1) as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    match (sorted.get(below), sorted.get(below + 1)) {
        (Some(low), Some(high)) if part > 0.0 => low + part * (high - low),
        (Some(low), _) => *low,
        (None, _) => f64::NAN,
    }
}

impl Shown {
    fn new(
        image: &Image<'_>,
        trajectory: usize,
        neutral: &Trace,
        worst: &Trace,
        loss: &[f32],
        dimension: usize,
    ) -> Self {
        let sets = neutral.sets(image);
        let column = |rows: &[Vec<f32>], j: usize| {
            numbers(rows.iter().filter_map(|row| row.get(j).copied()))
        };
        let columns = |rows: &[Vec<f32>]| (0..dimension).map(|j| column(rows, j)).collect();
        let ends = |sign: f32| -> Vec<Vec<f32>> {
            let ends = sets.iter().map(|set| {
                let pairs = set.center.iter().zip(&set.half_width);
                pairs.map(|(center, half)| center + sign * half).collect()
            });
            ends.collect()
        };
        Self {
            trajectory,
            neutral: columns(&neutral.states),
            worst: columns(&worst.states),
            set_low: columns(&ends(-1.0)),
            set_high: columns(&ends(1.0)),
            loss: numbers(loss.iter().copied()),
        }
    }
}

/// What each step loses; a trajectory that has ended earns nothing.
fn losses(neutral: &Trace, worst: &Trace) -> Vec<f32> {
    let steps = neutral.rewards.len().max(worst.rewards.len());
    let at = |trace: &Trace, step: usize| trace.rewards.get(step).copied().unwrap_or(0.0);
    (0..steps)
        .map(|step| at(neutral, step) - at(worst, step))
        .collect()
}

fn mean_loss(losses: &[Vec<f32>]) -> Vec<Number> {
    let longest = losses.iter().map(Vec::len).max().unwrap_or(0);
    let mean = |step: usize| {
        let each = losses.iter().filter_map(|loss| loss.get(step));
        each.map(|loss| f64::from(*loss)).sum::<f64>() / losses.len().max(1) as f64
    };
    (0..longest).map(|step| Number(mean(step))).collect()
}

fn places(neutral: &[Trace], worst: &[Trace], losses: &[Vec<f32>]) -> Vec<Place> {
    let each = neutral.iter().zip(worst).zip(losses).enumerate();
    let mut places: Vec<Place> = each
        .filter_map(|(trajectory, ((neutral, worst), losses))| {
            let steps = losses.iter().enumerate();
            // After its end a trajectory is nowhere.
            let steps = steps.take(worst.actions.len());
            let (step, loss) = steps.max_by(|a, b| a.1.total_cmp(b.1))?;
            let row = |rows: &[Vec<f32>]| {
                let row = rows.get(step).cloned();
                numbers(row.unwrap_or_default())
            };
            Some(Place {
                trajectory,
                step,
                loss: Number::from(*loss),
                total: Number::from(losses.iter().sum::<f32>()),
                state: row(&worst.states),
                action: row(&worst.actions),
                neutral: row(&neutral.states),
            })
        })
        .filter(|place| place.loss.0 > 0.0)
        .collect();
    places.sort_by(|a, b| b.total.0.total_cmp(&a.total.0));
    places.truncate(MOST_PLACES);
    places
}

/// The lowest and highest logged state and action.
fn logged_range(log: &Log) -> (Vec<f32>, Vec<f32>) {
    let columns = log.state_dimension() + log.action_dimension();
    let mut low = vec![f32::INFINITY; columns];
    let mut high = vec![f32::NEG_INFINITY; columns];
    for row in log.rows() {
        let inputs = row.state.iter().chain(row.action);
        for ((low, high), x) in low.iter_mut().zip(&mut high).zip(inputs) {
            (*low, *high) = (low.min(*x), high.max(*x));
        }
    }
    (low, high)
}
