//! V_t(s) = min over eta of E[r + (1 − end) V_{t+1}(s′)], backwards over a grid.

use hambo_core::numeric::CapacityError;
use rayon::prelude::*;

use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::Rollout;
use hambo_core::task::expression::{Op, Variable};

use hambo_base::meter::Meter;

use super::grid::{Cell, Grid};
use super::points::{etas, noise};
use super::step::{Arrival, LANES, Stepper};

/// The most bytes of a table of all steps from all points; without room for it steps are
/// taken again at every t.
const MOST_TABLE: usize = 1 << 28;

/// Where one choice of eta and noise leads from one point.
#[derive(Clone, Copy)]
struct Entry {
    arrival: Arrival,
    /// None beyond the grid.
    cell: Option<Cell>,
}

/// Values of all points for all steps.
pub struct Values {
    pub grid: Grid,
    pub etas: Vec<Vec<f32>>,
    /// The noise and its weights.
    pub noise: Vec<(Vec<f32>, f32)>,
    /// V_0 … V_T, discounted from the first step on.
    pub values: Vec<Vec<f32>>,
    /// gamma.
    pub discount: f32,
    /// What remains at least from each step on, for states beyond the grid.
    least: Vec<f32>,
}

impl Values {
    /// Goes back from the horizon.
    ///
    /// # Errors
    /// If the task is too large to be counted.
    pub fn new(
        rollout: &Rollout<'_, StoredPolicy<'_>>,
        grid: Grid,
        etas_of_each: usize,
        meter: &Meter<'_>,
    ) -> Result<Self, CapacityError> {
        let task = rollout.task;
        let moved = task.moved_states();
        let steps = task.horizon as usize;
        let mut all = Self {
            etas: etas(moved, etas_of_each),
            noise: noise(
                moved,
                task.plan.method.aleatoric_noise,
                &rollout.model.noise,
            ),
            values: vec![Vec::new(); steps + 1],
            discount: task.discount,
            least: vec![0.0; steps + 1],
            grid,
        };
        let points = all.grid.points();
        let in_time = |op: &Op| *op == Op::Variable(Variable::Step);
        let same_at_all_steps = !task.program.ops().iter().any(in_time);
        let entries = points * all.etas.len() * all.noise.len();
        let fits = entries.saturating_mul(size_of::<Entry>()) <= MOST_TABLE;
        let table = if same_at_all_steps && fits {
            Some(all.table(rollout)?)
        } else {
            None
        };
        let lowest = all.lowest_reward(rollout, table.as_deref())?;
        let ends = task.termination.is_some();
        let weight = |step: usize| task.discount.powi(step as i32);
        for step in (0..steps).rev() {
            let worst = weight(step) * lowest;
            // It may end at the next step, or go on at a loss.
            let go_on = worst + all.least[step + 1];
            all.least[step] = if ends { go_on.min(worst) } else { go_on };
        }
        all.values[steps] = vec![0.0; points];
        for step in (0..steps).rev() {
            // Whoever began the work sees that it was broken off.
            if meter.add(entries as u64).is_break() {
                break;
            }
            let next = std::mem::take(&mut all.values[step + 1]);
            let now = match &table {
                Some(table) => all.by_table(table, step, weight(step), &next),
                None => all.by_steps(rollout, step, weight(step), &next)?,
            };
            all.values[step + 1] = next;
            all.values[step] = now;
        }
        Ok(all)
    }

    /// The value at a state before a step.
    pub fn at(&self, step: usize, state: impl Iterator<Item = f32>) -> f32 {
        match self.grid.cell(state) {
            Some(cell) => self.grid.between(&self.values[step], &cell),
            None => self.least[step],
        }
    }

    /// What an arrival is worth: the reward, and the value from there on.
    fn worth(&self, step: usize, weight: f32, next: &[f32], entry: &Entry) -> f32 {
        let later = match (entry.arrival.ends, &entry.cell) {
            (true, _) => 0.0,
            (false, Some(cell)) => self.grid.between(next, cell),
            (false, None) => self.least[step + 1],
        };
        let worth = weight * entry.arrival.reward + later;
        if worth.is_nan() {
            f32::NEG_INFINITY
        } else {
            worth
        }
    }

    fn table(&self, rollout: &Rollout<'_, StoredPolicy<'_>>) -> Result<Vec<Entry>, CapacityError> {
        let groups = (0..self.grid.points()).into_par_iter().step_by(LANES);
        let groups: Vec<Vec<Entry>> = groups
            .map(|first| self.entries(rollout, 0, first))
            .collect::<Result<_, _>>()?;
        Ok(groups.concat())
    }

    /// All choices from a group of points, point by point, eta by eta.
    fn entries(
        &self,
        rollout: &Rollout<'_, StoredPolicy<'_>>,
        step: u32,
        first: usize,
    ) -> Result<Vec<Entry>, CapacityError> {
        let points = first..self.grid.points().min(first + LANES);
        let states: Vec<Vec<f32>> = points.map(|point| self.grid.state(point)).collect();
        let (etas, noise) = (self.etas.len(), self.noise.len());
        let nothing = Entry {
            arrival: Arrival {
                reward: f32::NAN,
                ends: true,
            },
            cell: None,
        };
        let mut entries = vec![nothing; states.len() * etas * noise];
        let mut stepper = Stepper::new(*rollout)?;
        stepper.each(
            step,
            &states,
            &self.etas,
            &self.noise,
            |[lane, eta, one], arrival, next| {
                let cell = if arrival.ends {
                    None
                } else {
                    self.grid.cell(next)
                };
                entries[(lane * etas + eta) * noise + one] = Entry { arrival, cell };
            },
        )?;
        Ok(entries)
    }

    /// The least over etas of the mean over the noise, for every point of the entries.
    fn least_of(&self, entries: &[Entry], step: usize, weight: f32, next: &[f32]) -> Vec<f32> {
        let of_point = self.etas.len() * self.noise.len();
        let points = entries.chunks(of_point).map(|entries| {
            let etas = entries.chunks(self.noise.len()).map(|entries| {
                let worths = entries.iter().zip(&self.noise);
                worths
                    .map(|(entry, (_, share))| share * self.worth(step, weight, next, entry))
                    .sum::<f32>()
            });
            etas.fold(f32::INFINITY, f32::min)
        });
        points.collect()
    }

    fn by_table(&self, table: &[Entry], step: usize, weight: f32, next: &[f32]) -> Vec<f32> {
        let group = LANES * self.etas.len() * self.noise.len();
        let groups = table.par_chunks(group);
        groups
            .flat_map_iter(|entries| self.least_of(entries, step, weight, next))
            .collect()
    }

    fn by_steps(
        &self,
        rollout: &Rollout<'_, StoredPolicy<'_>>,
        step: usize,
        weight: f32,
        next: &[f32],
    ) -> Result<Vec<f32>, CapacityError> {
        let groups = (0..self.grid.points()).into_par_iter().step_by(LANES);
        let groups: Vec<Vec<f32>> = groups
            .map(|first| {
                let entries = self.entries(rollout, step as u32, first)?;
                Ok(self.least_of(&entries, step, weight, next))
            })
            .collect::<Result<_, CapacityError>>()?;
        Ok(groups.concat())
    }

    /// The lowest reward of a step: as the task bounds it, or as the grid's points have it.
    fn lowest_reward(
        &self,
        rollout: &Rollout<'_, StoredPolicy<'_>>,
        table: Option<&[Entry]>,
    ) -> Result<f32, CapacityError> {
        if let Some([low, _]) = rollout.task.reward_bounds {
            return Ok(low);
        }
        let least = |entries: &[Entry]| {
            let rewards = entries.iter().map(|entry| entry.arrival.reward);
            rewards.fold(f32::INFINITY, f32::min)
        };
        match table {
            Some(table) => Ok(least(table)),
            None => {
                let groups = (0..self.grid.points()).into_par_iter().step_by(LANES);
                let lowest = groups.map(|first| Ok(least(&self.entries(rollout, 0, first)?)));
                lowest.try_reduce(|| f32::INFINITY, |a, b| Ok(a.min(b)))
            }
        }
    }
}
