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
/// Rows that ask for much, in a region, among those that say where.
const FEWEST_ROWS: usize = 3;
/// What a row inside that asks for little takes off those that ask for much.
const OTHERS_COUNT: f64 = 0.5;
/// Regions that may be needed together, such as the two ends of a rail.
const TOGETHER: usize = 4;
/// Where no larger share of the rows lies beyond an end, the region has none there.
const FEW_BEYOND: f32 = 0.01;
/// A region's edge, in standard deviations of its input.
const EDGE: f64 = 0.25;
/// A region holds this many times what its rows ask for.
const RESERVE: f64 = 1.25;
/// Ends that are tried for an input.
const MOST_ENDS: usize = 24;

/// Stretches of single inputs that hold the rows for which the set would have to be widened
/// [`LARGE`] times or more, as long as they make what the others ask for half as large.
///
/// What was trained on says where: there are many of these rows, and at a wall they are not
/// learnt either. The rows that choose must agree. Where nothing else is `shown`, either half of
/// their episodes may say where, and the other one must agree.
pub(crate) fn find(
    shown: &Shown<'_>,
    choosing: &Shown<'_>,
    calibration: &ModelCalibration,
) -> Vec<LocalRegion> {
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
    let others = Rows::without(shown, choosing);
    let pairs = if others.is_empty() {
        let half = |odd| Rows::half(choosing, odd);
        vec![(half(false), half(true)), (half(true), half(false))]
    } else {
        vec![(others, Rows::all(choosing))]
    };
    let search = Search {
        pairs,
        choosing: Rows::all(choosing),
        simulated,
        count,
    };
    let mut found: Vec<LocalRegion> = Vec::new();
    let mut states: Vec<usize> = (0..count).collect();
    // The state that asks for most comes first; the others may need no region of their own then.
    loop {
        let regions: Vec<WidthRegion> = found.iter().map(|one| one.region.clone()).collect();
        let need = |state: usize| search.needs(&search.choosing, state, &regions).1;
        let needs = states.iter().map(|state| (*state, need(*state)));
        let Some((state, _)) = needs.max_by(|a, b| a.1.total_cmp(&b.1)) else {
            break;
        };
        let more = search.more(state, &regions);
        if more.is_empty() || found.len() + more.len() > WidthRegion::MOST {
            states.retain(|other| *other != state);
        } else {
            found.extend(more);
        }
    }
    found
}

struct Search<'a> {
    /// Rows that say where, and rows that must agree.
    pairs: Vec<(Rows<'a>, Rows<'a>)>,
    choosing: Rows<'a>,
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
        let whole = self.needs(&self.choosing, state, regions).1;
        if !whole.is_finite() || whole < LARGE {
            return Vec::new();
        }
        let found = self.pairs.iter().find_map(|(says, agrees)| {
            let with = self.said_by(says, state, regions);
            let new = with.get(regions.len()..).unwrap_or_default();
            let shares: Vec<f32> = new.iter().map(|region| share(says, region)).collect();
            let before = self.needs(agrees, state, regions).1;
            let smaller = |rows, before| GAIN * self.needs(rows, state, &with).1.max(1.0) <= before;
            let agreed = smaller(agrees, before) && smaller(&self.choosing, whole);
            let local = shares.iter().sum::<f32>() <= LARGEST_SHARE;
            (agreed && local).then(|| (new.to_vec(), shares))
        });
        let (new, shares) = found.unwrap_or_default();
        let pairs = new.into_iter().zip(shares);
        pairs
            .map(|(region, share)| LocalRegion {
                region,
                state,
                share,
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
            match candidate.and_then(|candidate| self.region(rows, candidate, &with)) {
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
            let sorted = Sorted::new(&rows.input(input), &large);
            let ends = thinned(&sorted.ends());
            let mut own = Vec::new();
            // Without an end first: where no row lies beyond it, none is known.
            for low in [f32::MIN].into_iter().chain(ends.iter().copied()) {
                let highs = [f32::MAX].into_iter().chain(ends.iter().copied());
                for high in highs.filter(|high| *high >= low) {
                    own.extend(sorted.candidate(input, (low, high)));
                }
            }
            own
        });
        // Of equals the first.
        let best =
            candidates.reduce(|best, one| if one.score > best.score { one } else { best })?;
        let values = rows.input(best.input);
        let few = |beyond: &dyn Fn(f32) -> bool| {
            let count = values.iter().filter(|x| beyond(**x)).count();
            count as f32 <= FEW_BEYOND * values.len() as f32
        };
        Some(Candidate {
            low: if few(&|x| x < best.low) {
                f32::MIN
            } else {
                best.low
            },
            high: if few(&|x| x > best.high) {
                f32::MAX
            } else {
                best.high
            },
            ..best
        })
    }

    /// The stretch with the heights that hold all rows inside it, of every state: what stops
    /// one of them is felt by others.
    fn region(
        &self,
        says: &Rows<'_>,
        candidate: Candidate,
        regions: &[WidthRegion],
    ) -> Option<WidthRegion> {
        let Candidate {
            input, low, high, ..
        } = candidate;
        let asked = |rows: &Rows<'_>, state: usize| {
            let (values, stds) = (rows.input(input), rows.epistemic(state, regions));
            let needs = self.needs(rows, state, regions).0.into_iter().zip(stds);
            let rows = values.into_iter().zip(needs);
            let inside = rows.filter(|(value, _)| (low..=high).contains(value));
            let more = inside.map(|(_, (need, std))| (need - 1.0).max(0.0) * f64::from(std));
            more.fold(0.0, f64::max)
        };
        let height = |state: usize| {
            let most = asked(says, state).max(asked(&self.choosing, state));
            (RESERVE * most) as f32
        };
        let heights: Vec<f32> = (0..self.count).map(height).collect();
        let edge = (EDGE * deviation(&says.input(input))) as f32;
        let sound = heights.iter().all(|height| height.is_finite());
        (sound && edge.is_finite() && edge > 0.0).then_some(WidthRegion {
            input,
            low,
            high,
            edge,
            heights,
        })
    }
}

/// The share of rows inside a region.
fn share(rows: &Rows<'_>, region: &WidthRegion) -> f32 {
    let values = rows.input(region.input);
    let inside = values
        .iter()
        .filter(|x| (region.low..=region.high).contains(*x));
    inside.count() as f32 / values.len().max(1) as f32
}

/// The values of an input in their order.
struct Sorted {
    values: Vec<(f32, bool)>,
    /// Rows that ask for much among so many first ones.
    large: Vec<u32>,
}

impl Sorted {
    fn new(values: &[f32], large: &[bool]) -> Self {
        let mut values: Vec<_> = values.iter().copied().zip(large.iter().copied()).collect();
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut count = 0;
        let counts = values.iter().map(|(_, large)| {
            count += u32::from(*large);
            count
        });
        let large = [0].into_iter().chain(counts).collect();
        Self { values, large }
    }

    /// Where rows ask for much.
    fn ends(&self) -> Vec<f32> {
        let large = self.values.iter().filter(|(_, large)| *large);
        let mut ends: Vec<f32> = large.map(|(value, _)| *value).collect();
        ends.dedup();
        ends
    }

    /// None if too many rows lie inside, or too few that ask for much.
    fn candidate(&self, input: usize, (low, high): (f32, f32)) -> Option<Candidate> {
        let first = self.values.partition_point(|(value, _)| *value < low);
        let end = self.values.partition_point(|(value, _)| *value <= high);
        let large = self.large.get(end)?.checked_sub(*self.large.get(first)?)?;
        let inside = end.checked_sub(first)?;
        let others = inside.checked_sub(large as usize)?;
        let share = inside as f32 / self.values.len().max(1) as f32;
        let score = f64::from(large) - OTHERS_COUNT * others as f64;
        let enough = large as usize >= FEWEST_ROWS && score > 0.0 && share <= LARGEST_SHARE;
        enough.then_some(Candidate {
            input,
            low,
            high,
            score,
        })
    }
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
