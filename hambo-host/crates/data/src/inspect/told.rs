//! What each row of a log tells of the model, where `[known]` corrects what a model says.
//!
//! A row in which a correction does not pass the learned value on, at a wall or in saturation,
//! says where the state is and nothing of where the model should have put it. Where it passes the
//! value on, the logged value is the learned one, since a correction must leave every logged value
//! as it is ([`known_residuals`](super::known_residuals)).

use hambo_base::Held;
use hambo_core::task::expression::ProgramError;
use hambo_task::task::ModelView;

use super::known_residual::LARGEST_RESIDUAL;
use super::spread::spread;
use crate::log::{KnownStates, Log};

/// Which rows tell of which of the states that the model moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// What does not tell, row by row; empty where every row tells of everything.
    held: Vec<bool>,
    /// States that the model moves.
    columns: usize,
}

impl Told {
    /// A row tells of a corrected state if the correction changes with the learned value both
    /// ways from the logged one, by as much as may be rounding. No row tells of anything if the
    /// tape is bad, which that of a task never is.
    #[must_use]
    pub fn of(log: &Log, view: &ModelView) -> Self {
        let columns = view.moved.len();
        if view.physics.corrected().next().is_none() {
            return Self {
                held: Vec::new(),
                columns,
            };
        }
        let Ok(mut known) = KnownStates::new(view) else {
            return Self {
                held: vec![true; log.len() * columns],
                columns,
            };
        };
        let mut held = vec![false; log.len() * columns];
        for (column, place) in view.moved.iter().enumerate() {
            if !view.physics.corrects(*place) {
                continue;
            }
            let values = log.rows().filter_map(|row| row.next_state.get(*place));
            let step = LARGEST_RESIDUAL * spread(values.map(|x| f64::from(*x)));
            let marks = held.iter_mut().skip(column).step_by(columns);
            for (row, mark) in log.rows().zip(marks) {
                let logged = row.next_state.get(*place).copied().unwrap_or(f32::NAN);
                let step = (step as f32).max(2.0 * f32::EPSILON * logged.abs());
                let near = [logged, logged + step, logged - step];
                let all = (row.state, row.action, row.next_state);
                let [own, more, less] = known.corrected(*place, all, near);
                // What is no number is equal to nothing, and left for others to refuse.
                *mark = own == more || own == less;
            }
        }
        if !held.contains(&true) {
            held.clear();
        }
        Self { held, columns }
    }

    /// The marks that are left where the rows are held against predictions, `means` of the states
    /// that the model moves, row by row: a line that makes the same of both leaves nothing to
    /// compare, and where it makes another value of the prediction, this is off by at least as much
    /// as it lies from the logged value. So a model that leaves a wall at which the log stays is
    /// seen.
    #[must_use]
    pub fn held_beside(&self, log: &Log, view: &ModelView, means: &[f32]) -> Vec<bool> {
        let mut held = self.held.clone();
        let Some(mut known) = KnownStates::new(view).ok().filter(|_| !held.is_empty()) else {
            return held;
        };
        let marks = held.chunks_exact_mut(self.columns.max(1));
        let rows = log.rows().zip(marks).enumerate();
        for (number, (row, marks)) in rows {
            for (column, (place, mark)) in view.moved.iter().zip(marks).enumerate() {
                if !*mark {
                    continue;
                }
                let logged = row.next_state.get(*place);
                let mean = means.get(number * self.columns + column);
                let [logged, mean] = [logged, mean].map(|x| x.copied().unwrap_or(f32::NAN));
                let all = (row.state, row.action, row.next_state);
                let [logged, mean] = known.corrected(*place, all, [logged, mean]);
                // What is no number is equal to nothing.
                *mark = logged == mean;
            }
        }
        held
    }

    /// The marks beside a table with a row of the states that the model moves for each of the log.
    #[must_use]
    pub fn held(&self) -> Held<'_> {
        Held::new(&self.held)
    }

    /// Whether every row tells of every state.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        !self.held().any()
    }

    /// Whether a row tells of a state, by its place among those that the model moves.
    #[must_use]
    pub fn tells(&self, row: usize, column: usize) -> bool {
        !self.held().at(row * self.columns + column)
    }

    /// Whether a row tells of all states.
    #[must_use]
    pub fn tells_all(&self, row: usize) -> bool {
        (0..self.columns).all(|column| self.tells(row, column))
    }

    /// How many of `rows` rows tell of a state.
    #[must_use]
    pub fn count(&self, rows: usize, column: usize) -> usize {
        (0..rows).filter(|row| self.tells(*row, column)).count()
    }
}

/// A row's next state, with every corrected state as its line of `[known]` makes it of the logged
/// one: the same but for rounding.
///
/// # Errors
/// If the task's tape is bad.
pub fn corrected_path<'r>(
    rows: impl Iterator<Item = (&'r [f32], &'r [f32], &'r [f32])>,
    view: &ModelView,
) -> Result<Vec<f32>, ProgramError> {
    if view.physics.corrected().next().is_none() {
        return Ok(rows.flat_map(|row| row.2).copied().collect());
    }
    let mut known = KnownStates::new(view)?;
    let mut path = Vec::new();
    for row in rows {
        let mut next = row.2.to_vec();
        for place in view.physics.corrected() {
            if let Some(own) = next.get_mut(place) {
                let [corrected] = known.corrected(place, row, [*own]);
                // What was logged stays where a line makes no number of it.
                *own = if corrected.is_finite() {
                    corrected
                } else {
                    *own
                };
            }
        }
        path.extend(next);
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use hambo_task::task::TaskFile;

    use super::*;
    use crate::inspect::known_residuals;
    use crate::log::Transition;

    fn view(known: &str) -> ModelView {
        let text = format!(
            "name = 'car'\nhorizon = 5\n[state]\nnames = ['x', 'v']\n\
             [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[known]\n{known}\n\
             [reward]\nexpr = '-x^2'\n[initial]\nkind = 'data'\n"
        );
        TaskFile::parse(&text, "car.toml").unwrap().model_view()
    }

    fn log(next_states: &[[f32; 2]]) -> Log {
        let mut log = Log::new(2, 1);
        for next_state in next_states {
            log.push(Transition {
                state: &[0.0, 0.0],
                action: &[0.0],
                next_state,
                reward: 0.0,
                episode: 0,
            })
            .unwrap();
        }
        log
    }

    const WALL: &str = "x = 'max(learned.x, -1.2)'\nv = 'if(next.x <= -1.2, 0, learned.v)'";

    #[test]
    fn rows_at_the_wall_say_nothing_and_others_everything() {
        let log = log(&[[-1.2, 0.0], [-1.1, 0.0], [0.5, 0.3], [-1.2, 0.0]]);
        let told = Told::of(&log, &view(WALL));
        let flags = |column| (0..4).map(move |row| (row, column));
        for column in 0..2 {
            let found: Vec<bool> = flags(column).map(|(row, j)| told.tells(row, j)).collect();
            assert_eq!(found, [false, true, true, false], "{column}");
        }
        assert!(!told.is_everything() && !told.tells_all(0) && told.tells_all(1));
        assert_eq!(told.count(4, 0), 2);
        // A log that agrees with the lines, and one that does not: it moves while at the wall.
        let agrees = known_residuals(&view(WALL), &log).unwrap();
        assert!(agrees.iter().all(|found| !found.too_large), "{agrees:?}");
        let moves = self::log(&[[-1.2, 0.0], [-1.1, 0.0], [0.5, 0.3], [-1.2, 0.1]]);
        let found = known_residuals(&view(WALL), &moves).unwrap();
        assert!(
            found
                .iter()
                .any(|one| one.too_large && one.row == 3 && one.state == 1)
        );
    }

    /// The wall holds both numbers of the last three rows; what is predicted there is beyond it,
    /// short of it, and nothing.
    #[test]
    fn a_prediction_that_leaves_the_wall_is_seen_where_the_log_stays() {
        let log = log(&[[0.5, 0.3], [-1.2, 0.0], [-1.2, 0.0], [-1.2, 0.0]]);
        let view = view(WALL);
        let told = Told::of(&log, &view);
        let means = [0.4, 0.1, -1.3, 0.7, -1.1, 0.7, f32::NAN, f32::NAN];
        let held = told.held_beside(&log, &view, &means);
        // At the wall the speed is 0 whatever it would have been.
        let wanted = [[false, false], [true, true], [false, true], [false, false]];
        assert_eq!(held, wanted.concat());
        let none = Told::of(&log, &self::view("x = 'x + v'"));
        assert!(none.held_beside(&log, &view, &means).is_empty());
    }

    #[test]
    fn a_saturation_tells_of_one_state_where_it_does_not_hold() {
        let log = log(&[[0.0, 1.0], [0.2, -1.0], [0.4, 0.999], [0.6, 0.0]]);
        let told = Told::of(&log, &view("v = 'clamp(learned.v, -1, 1)'"));
        let of = |column: usize| {
            (0..4)
                .map(|row| told.tells(row, column))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(0), [true; 4]);
        assert_eq!(of(1), [false, false, true, true]);
    }

    #[test]
    fn without_a_correction_every_row_tells_of_everything() {
        let log = log(&[[0.0, 1.0], [0.2, -1.0]]);
        let told = Told::of(&log, &view("x = 'x + v'"));
        assert!(told.is_everything() && told.tells_all(1) && told.count(2, 0) == 2);
    }

    /// A line that is no correction of what the log shows makes another value of every row.
    #[test]
    fn half_of_what_is_learned_disagrees_with_the_log() {
        let log = log(&[[0.0, 1.0], [0.2, -1.0], [0.4, 0.5]]);
        let found = known_residuals(&view("v = '0.5 * learned.v'"), &log).unwrap();
        assert!(found[0].too_large, "{found:?}");
    }

    #[test]
    fn a_path_is_rounded_to_the_wall() {
        let view = view(WALL);
        let rows = [
            ([0.0, 0.0], [0.0], [-1.200_001, 1e-6]),
            ([0.0, 0.0], [0.0], [0.3, 0.1]),
        ];
        let rows = rows.iter().map(|(s, a, n)| (&s[..], &a[..], &n[..]));
        let path = corrected_path(rows, &view).unwrap();
        // Each beside what was logged of the other.
        assert_eq!(path, [-1.2, 0.0, 0.3, 0.1]);
    }
}
