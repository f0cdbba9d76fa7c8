//! The search for regions.

use hambo_task::image::WidthRegion;

use super::need::Rows;
use super::region::LocalRegion;
use crate::calibration::outcome::ModelCalibration;
use crate::calibration::pools::Shown;
use crate::calibration::required_widening::Simulated;
use crate::calibration::scales::noise_width;

/// Rows that ask for a set this many times as wide are worth regions.
const LARGE: f64 = 3.0;
/// The factor by which regions must make what the rows outside them ask for smaller.
const GAIN: f64 = 2.0;
/// The share of rows that regions found together may hold: beyond it the error is not local.
const LARGEST_SHARE: f32 = 0.25;
/// Rows that ask for much, in a region, in the half that says where.
const FEWEST_ROWS: usize = 3;
/// What a row inside that asks for little takes off those that ask for much.
const OTHERS_COUNT: f64 = 0.5;
/// Regions that may be needed together, such as the two ends of a rail.
const TOGETHER: usize = 4;
/// A region's edge, in standard deviations of its input.
const EDGE: f64 = 0.25;
/// A region holds this many times what its rows ask for.
const RESERVE: f64 = 1.25;
/// Ends that are tried for an input.
const MOST_ENDS: usize = 24;

/// Stretches of single inputs that hold the rows for which the set would have to be widened
/// [`LARGE`] times or more, as long as they make what the others ask for half as large, in both
/// halves of the episodes.
pub(crate) fn find(choosing: &Shown<'_>, calibration: &ModelCalibration) -> Vec<LocalRegion> {
    let count = calibration.dimensions.len();
    let betas: Vec<f64> = (calibration.dimensions.iter())
        .map(|dimension| f64::from(dimension.beta))
        .collect();
    let noise: Vec<f64> = (calibration.noise_scales().iter())
        .map(|scale| f64::from(*scale))
        .collect();
    let simulated = Simulated {
        radii: &betas,
        noise_scale: &noise,
        quantile: f64::from(noise_width(count)),
        stays: &[],
    };
    let search = Search {
        all: Rows::all(choosing),
        halves: [false, true].map(|odd| Rows::half(choosing, odd)),
        simulated,
        count,
    };
    let mut found: Vec<LocalRegion> = Vec::new();
    for state in 0..count {
        loop {
            let regions: Vec<WidthRegion> = found.iter().map(|one| one.region.clone()).collect();
            let more = search.more(state, &regions);
            if more.is_empty() || found.len() + more.len() > WidthRegion::MOST {
                break;
            }
            found.extend(more);
        }
    }
    found
}

struct Search<'a> {
    all: Rows<'a>,
    halves: [Rows<'a>; 2],
    simulated: Simulated<'a>,
    count: usize,
}

/// A stretch that is tried.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    input: usize,
    low: f32,
    high: f32,
    /// Rows inside that ask for much, less a part of the others.
    score: f64,
}

impl Search<'_> {
    /// Regions more for a state, if the rows ask for some and agree on them.
    fn more(&self, state: usize, regions: &[WidthRegion]) -> Vec<LocalRegion> {
        let (_, whole) = self.needs(&self.all, state, regions);
        if !whole.is_finite() || whole < LARGE {
            return Vec::new();
        }
        let [one, other] = &self.halves;
        // Either half may say where; the other one must agree.
        let sets = [(one, other), (other, one)].map(|(says, agrees)| {
            let with = self.said_by(says, state, regions);
            let before = self.needs(agrees, state, regions).1;
            let smaller = |rows, before| GAIN * self.needs(rows, state, &with).1.max(1.0) <= before;
            let new = with.iter().skip(regions.len());
            let local = new.map(|region| self.share(region)).sum::<f32>() <= LARGEST_SHARE;
            let agreed =
                local && before >= GAIN && smaller(agrees, before) && smaller(&self.all, whole);
            (agreed, with)
        });
        let agreed = sets.into_iter().find(|(agreed, _)| *agreed);
        let with = agreed.map(|(_, with)| with).unwrap_or_default();
        let new = with.into_iter().skip(regions.len());
        new.map(|region| LocalRegion {
            share: self.share(&region),
            region,
            state,
            widening: whole as f32,
        })
        .collect()
    }

    /// What each row asks for of a state's set, and what the state as a whole asks for.
    fn needs(&self, rows: &Rows<'_>, state: usize, regions: &[WidthRegion]) -> (Vec<f64>, f64) {
        rows.needs(self.simulated, (state, self.count), regions)
    }

    /// The regions with those that some rows ask for.
    fn said_by(&self, rows: &Rows<'_>, state: usize, regions: &[WidthRegion]) -> Vec<WidthRegion> {
        let mut with = regions.to_vec();
        let (_, before) = self.needs(rows, state, regions);
        for _ in 0..TOGETHER {
            let (each, whole) = self.needs(rows, state, &with);
            if GAIN * whole.max(1.0) <= before {
                break;
            }
            let candidate = self.best(rows, &each, whole);
            match candidate.and_then(|candidate| self.region(candidate, state, &with)) {
                Some(region) => with.push(region),
                None => break,
            }
        }
        with
    }

    /// The stretch that holds the most rows that ask for much and the fewest others.
    fn best(&self, rows: &Rows<'_>, needs: &[f64], whole: f64) -> Option<Candidate> {
        let large: Vec<bool> = needs
            .iter()
            .map(|need| *need > (whole / LARGE).max(1.0))
            .collect();
        let candidates = (0..rows.columns()).flat_map(|input| {
            let values = rows.input(input);
            let pairs = values.iter().zip(&large);
            let mut ends: Vec<f32> = pairs
                .filter(|(_, large)| **large)
                .map(|(x, _)| *x)
                .collect();
            ends.sort_unstable_by(f32::total_cmp);
            ends.dedup();
            let ends = thinned(&ends);
            let mut own = Vec::new();
            // Without an end first: where no row lies beyond it, none is known.
            for low in [f32::MIN].into_iter().chain(ends.iter().copied()) {
                let highs = [f32::MAX].into_iter().chain(ends.iter().copied());
                for high in highs.filter(|high| *high >= low) {
                    own.extend(candidate((input, &values), (low, high), &large));
                }
            }
            own
        });
        // Of equals the first.
        candidates.reduce(|best, one| if one.score > best.score { one } else { best })
    }

    /// The stretch with the height that holds all rows inside it.
    fn region(
        &self,
        candidate: Candidate,
        state: usize,
        regions: &[WidthRegion],
    ) -> Option<WidthRegion> {
        let Candidate {
            input, low, high, ..
        } = candidate;
        let values = self.all.input(input);
        let stds = self.all.epistemic(state, regions);
        let (needs, _) = self.needs(&self.all, state, regions);
        let rows = values.iter().zip(needs.into_iter().zip(stds));
        let inside = rows.filter(|(value, _)| (low..=high).contains(*value));
        let more = inside.map(|(_, (need, std))| (need - 1.0).max(0.0) * f64::from(std));
        let height = (RESERVE * more.fold(0.0, f64::max)) as f32;
        let edge = (EDGE * deviation(&values)) as f32;
        let mut heights = vec![0.0; self.count];
        *heights.get_mut(state)? = height;
        let sound = height.is_finite() && height > 0.0 && edge.is_finite() && edge > 0.0;
        sound.then_some(WidthRegion {
            input,
            low,
            high,
            edge,
            heights,
        })
    }

    fn share(&self, region: &WidthRegion) -> f32 {
        let values = self.all.input(region.input);
        let inside = values
            .iter()
            .filter(|x| (region.low..=region.high).contains(*x));
        inside.count() as f32 / values.len().max(1) as f32
    }
}

/// None if too many rows lie inside, or too few that ask for much.
fn candidate(
    (input, values): (usize, &[f32]),
    (low, high): (f32, f32),
    large: &[bool],
) -> Option<Candidate> {
    let inside = |(x, _): &(&f32, &bool)| (low..=high).contains(*x);
    let rows = values.iter().zip(large).filter(inside);
    let (mut of_large, mut of_others) = (0_u32, 0_u32);
    for (_, large) in rows {
        *(if *large {
            &mut of_large
        } else {
            &mut of_others
        }) += 1;
    }
    let share = (of_large + of_others) as f32 / large.len().max(1) as f32;
    let score = f64::from(of_large) - OTHERS_COUNT * f64::from(of_others);
    let enough = of_large as usize >= FEWEST_ROWS && score > 0.0 && share <= LARGEST_SHARE;
    enough.then_some(Candidate {
        input,
        low,
        high,
        score,
    })
}

/// At most [`MOST_ENDS`] of sorted values, evenly, the first and the last among them.
fn thinned(values: &[f32]) -> Vec<f32> {
    let last = values.len().saturating_sub(1);
    if values.len() <= MOST_ENDS {
        return values.to_vec();
    }
    let places = (0..MOST_ENDS).map(|number| number * last / (MOST_ENDS - 1));
    places
        .filter_map(|place| values.get(place).copied())
        .collect()
}

fn deviation(values: &[f32]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().map(|x| f64::from(*x)).sum::<f64>() / count;
    let squares = values.iter().map(|x| (f64::from(*x) - mean).powi(2));
    (squares.sum::<f64>() / count).sqrt()
}
