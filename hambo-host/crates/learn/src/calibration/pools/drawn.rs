//! The numbers that a rollout draws from, and what they leave of a row.

use hambo_core::model::MOST_EXTREME;
use hambo_task::image::NoisePools;

use super::found::{Found, Rule, Shown};
use super::scores::{rows_of_groups, scores};
use crate::calibration::distributions::chi_square_quantile;
use crate::calibration::korn_graubard::Share;
use crate::calibration::noise_scale::noise_scale;
use crate::calibration::withheld::Withheld;

/// Events and episodes that a model keeps at most.
const MOST_ROWS: usize = 128;
/// The probability with which a limit fails.
const TAIL: f64 = 0.05;
/// Pairs of rows below which the noise is left as it was found.
const FEWEST_PAIRS: usize = 20;

/// What a model draws beside white noise.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    /// The scale of the predicted noise in ordinary steps, one for each state.
    pub(crate) noise: Vec<f64>,
    /// The numbers of the image.
    pub(crate) pools: NoisePools,
    /// The variance of what stays, in that of the noise, one for each state; empty where
    /// nothing does.
    pub(crate) stays: Vec<f64>,
    /// The mean of ordinary noise.
    pub(super) centre: Vec<f64>,
    /// The mean of what stays.
    pub(super) mean: Vec<f64>,
    /// How far each event of the log goes, in standard deviations of ordinary noise.
    pub(super) sizes: Vec<f64>,
    /// None where no step is extreme.
    rule: Option<Rule>,
}

impl Drawn {
    /// None where white noise is enough. The scale of ordinary noise is chosen by the rows that
    /// choose; what was trained on has residuals that are a little too small.
    pub(crate) fn of(shown: &Shown<'_>, choosing: &Withheld<'_>) -> Option<Self> {
        let found = Found::of(shown, false)?;
        let limits = found.rule.limits();
        let flags = found.rule.flags(choosing);
        let left_of_noise = if found.extreme.contains(&true) {
            truncated_deviation(found.rule.deviations())
        } else {
            1.0
        };
        let noise: Vec<f64> = (limits.iter().enumerate())
            .map(|(j, limit)| {
                let own = limit.of_noise.then(|| ordinary_scale(choosing, j, &flags));
                let whole = own.flatten().map(|own| own / left_of_noise);
                whole.unwrap_or_else(|| noise_scale(choosing, j))
            })
            .collect();
        // Each row less what stays, in standard deviations of ordinary noise.
        let mut rows: Vec<Vec<f64>> = vec![Vec::new(); found.extreme.len()];
        let means: std::collections::BTreeMap<u32, Vec<f64>> = rows_of_groups(shown.rows.groups)
            .into_keys()
            .filter_map(|group| Some((group, found.stays_in(group)?)))
            .collect();
        for (j, (noise, limit)) in noise.iter().zip(limits).enumerate() {
            let values = scores(&shown.rows, j);
            let pairs = rows.iter_mut().zip(values).zip(shown.rows.groups);
            for ((row, value), group) in pairs {
                let stays = means
                    .get(group)
                    .and_then(|means| means.get(j))
                    .unwrap_or(&0.0);
                let own = if limit.of_noise { value - stays } else { 0.0 };
                row.push(own / noise);
            }
        }
        let mut drawn = Self {
            pools: NoisePools::default(),
            stays: Vec::new(),
            centre: vec![0.0; noise.len()],
            mean: vec![0.0; noise.len()],
            sizes: Vec::new(),
            rule: None,
            noise,
        };
        drawn.take_extremes(&found, &rows, shown.rows.groups);
        drawn.take_stays(&found, &means);
        let any = drawn.rule.is_some() || !drawn.stays.is_empty();
        any.then_some(drawn)
    }

    /// The events with their shares of the upper limit of the share of extreme steps: a limit,
    /// because that is what a log of this size can say.
    fn take_extremes(&mut self, found: &Found, rows: &[Vec<f64>], groups: &[u32]) {
        let flagged = groups.iter().copied().zip(found.extreme.iter().copied());
        let share = Share::of(flagged).upper(TAIL);
        if !found.extreme.contains(&true) || share >= f64::from(MOST_EXTREME) {
            return;
        }
        let size = |row: &[f64]| row.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let all = rows.iter().zip(&found.extreme);
        let (mut events, mut ordinary): (Vec<&[f64]>, Vec<&[f64]>) = (Vec::new(), Vec::new());
        for (row, extreme) in all {
            if *extreme {
                events.push(row);
            } else {
                ordinary.push(row);
            }
        }
        events.sort_by(|a, b| size(b).total_cmp(&size(a)));
        self.sizes = events.iter().map(|row| size(row)).collect();
        let count = ordinary.len().max(1) as f64;
        for (j, centre) in self.centre.iter_mut().enumerate() {
            let sum: f64 = ordinary.iter().filter_map(|row| row.get(j)).sum();
            *centre = sum / count;
        }
        let mut end = 0.0;
        for (place, weight) in thinned(events.len()) {
            if let Some(row) = events.get(place) {
                end += share * weight;
                self.pools.ends.push(end as f32);
                self.pools.extremes.extend(row.iter().map(|x| *x as f32));
            }
        }
        self.pools.centre = self.centre.iter().map(|x| *x as f32).collect();
        self.rule = Some(found.rule.clone());
    }

    /// What stays in each episode, wider by as much as the variance of so few episodes may be
    /// larger than it was found.
    fn take_stays(&mut self, found: &Found, means: &std::collections::BTreeMap<u32, Vec<f64>>) {
        let Some(stays) = &found.stays else {
            return;
        };
        let freedom = means.len() as f64 - 1.0;
        let charge = freedom / chi_square_quantile(freedom, 1.0 - TAIL);
        let units: Vec<f64> = (found.rule.limits().iter().zip(&self.noise))
            .map(|(limit, noise)| limit.scale / noise)
            .collect();
        self.stays = (stays.variance.iter().zip(&units))
            .map(|(variance, unit)| charge * variance * unit * unit)
            .collect();
        let mut rows: Vec<Vec<f64>> = means
            .values()
            .map(|row| {
                row.iter()
                    .zip(&self.noise)
                    .map(|(x, noise)| x / noise)
                    .collect()
            })
            .collect();
        let count = rows.len().max(1) as f64;
        for (j, mean) in self.mean.iter_mut().enumerate() {
            *mean = rows.iter().filter_map(|row| row.get(j)).sum::<f64>() / count;
        }
        // Evenly through the order of the state in which most stays.
        let most = self.stays.iter().enumerate();
        let most = most.max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(j, _)| j);
        let of = |row: &Vec<f64>| row.get(most).copied().unwrap_or(0.0);
        rows.sort_by(|a, b| of(a).total_cmp(&of(b)));
        let kept = rows.len().min(MOST_ROWS);
        for number in 0..kept {
            let place = (2 * number + 1) * rows.len() / (2 * kept);
            let row = rows.get(place).into_iter().flatten().zip(&self.mean);
            let wider = row.map(|(x, mean)| (mean + charge.sqrt() * (x - mean)) as f32);
            self.pools.offsets.extend(wider);
        }
    }

    /// Which rows are extreme; none where no step is.
    pub(super) fn flags(&self, rows: &Withheld<'_>) -> Vec<bool> {
        match &self.rule {
            Some(rule) => rule.flags(rows),
            None => vec![false; rows.groups.len()],
        }
    }

    /// The share of steps that are extreme.
    pub(crate) fn extreme_share(&self) -> f64 {
        f64::from(self.pools.ends.last().copied().unwrap_or(0.0))
    }
}

/// The standard deviation of what is left of standard normal numbers without those beyond
/// `width`, either way.
fn truncated_deviation(width: f64) -> f64 {
    let density = (-0.5 * width * width).exp() / std::f64::consts::TAU.sqrt();
    let inside = libm::erf(width / std::f64::consts::SQRT_2);
    (1.0 - 2.0 * width * density / inside).sqrt()
}

/// The places of the events that are kept, largest first, with their weights: all of them, or
/// half of the room for the largest and the other half evenly for the rest.
fn thinned(count: usize) -> Vec<(usize, f64)> {
    let each = 1.0 / count.max(1) as f64;
    if count <= MOST_ROWS {
        return (0..count).map(|place| (place, each)).collect();
    }
    let half = MOST_ROWS / 2;
    let rest = count - half;
    let others = (0..half).map(|number| {
        let place = half + (2 * number + 1) * rest / (2 * half);
        (place, each * rest as f64 / half as f64)
    });
    (0..half).map(|place| (place, each)).chain(others).collect()
}

/// The scale of the noise in pairs of rows of which neither is extreme, by their variance; never
/// larger than the residuals allow.
fn ordinary_scale(rows: &Withheld<'_>, state: usize, flags: &[bool]) -> Option<f64> {
    let scores = scores(rows, state);
    let pairs = scores.windows(2).zip(flags.windows(2));
    let squares: Vec<f64> = (pairs.zip(rows.follows.iter().skip(1)))
        .filter_map(|((pair, flags), follows)| match (pair, flags) {
            ([before, after], [false, false]) if *follows => Some((after - before).powi(2) / 2.0),
            _ => None,
        })
        .collect();
    let own = scores.iter().zip(flags).filter(|(_, flag)| !**flag);
    let whole: Vec<f64> = own.map(|(score, _)| score.powi(2)).collect();
    let mean = |squares: &[f64]| squares.iter().sum::<f64>() / squares.len().max(1) as f64;
    let variance = mean(&squares).min(mean(&whole));
    (squares.len() >= FEWEST_PAIRS && variance > 0.0).then(|| variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_noise_is_taken_for_what_it_was_before_its_tails_were_cut() {
        // By hand: 1 − 2 · 2 · 0.05399 / 0.9545 is 0.7737.
        assert!((truncated_deviation(2.0).powi(2) - 0.7737).abs() < 1e-4);
        assert!((truncated_deviation(6.0) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn few_events_are_kept_alike_and_of_many_the_largest() {
        assert_eq!(thinned(2), [(0, 0.5), (1, 0.5)]);
        let many = thinned(1000);
        assert_eq!(many.len(), MOST_ROWS);
        let weight: f64 = many.iter().map(|(_, weight)| weight).sum();
        assert!((weight - 1.0).abs() < 1e-9);
        assert_eq!((many[63], many[64].0), ((63, 1e-3), 71));
        assert!(many.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(many.last().is_some_and(|(place, _)| *place < 1000));
    }
}
