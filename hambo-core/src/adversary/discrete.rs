//! The search over member sequences (HAMBO-DA1): greedy by adjoint value,
//! refined by coordinate descent.
//!
//! After every improvement the adjoint sweep says which member promises most
//! at each step. Then, until the next improvement: all promising steps at
//! once, the promising steps one by one, and at last every step and member in
//! turn. Rows of a step: choice on trial, best so far, proposal, its gain.

/// Rows of the discrete adversary for each step: the choice on trial, the
/// best so far, the adjoint's proposal, and the gain it promises.
pub const CHOICE_ROWS: usize = 4;

/// Where the search on one lane stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    AllAtOnce,
    OneByOne,
    InTurn,
}

/// The search on `B` lanes.
///
/// ```
/// use hambo_core::adversary::{CHOICE_ROWS, Discrete};
/// // One lane and two steps; member 0 all the way to begin with.
/// let mut choices = [[0.0]; 2 * CHOICE_ROWS];
/// let mut search = Discrete::<1>::new();
/// search.begin(&[0], &mut choices);
/// assert_eq!(search.judge(&[-1.0], &mut choices), [true]);
/// // The adjoint promises that member 1 costs 0.5 more at the second step.
/// choices[CHOICE_ROWS + 2] = [1.0];
/// choices[CHOICE_ROWS + 3] = [-0.5];
/// search.propose(&[true], 2, &mut choices);
/// assert_eq!((choices[0], choices[CHOICE_ROWS]), ([0.0], [1.0]));
/// // A trial that is no worse is taken back.
/// assert_eq!(search.judge(&[-0.9], &mut choices), [false]);
/// assert_eq!(choices[CHOICE_ROWS], [0.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Discrete<const B: usize> {
    least: [f32; B],
    stage: [Stage; B],
    /// Counts steps and members in turn.
    cursor: [u32; B],
}

impl<const B: usize> Discrete<B> {
    /// Nothing tried yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            least: [f32::INFINITY; B],
            stage: [Stage::AllAtOnce; B],
            cursor: [0; B],
        }
    }

    /// Every lane starts with one member for the whole trajectory.
    pub fn begin(&self, members: &[usize; B], choices: &mut [[f32; B]]) {
        for [trial, best, ..] in choices.as_chunks_mut::<CHOICE_ROWS>().0 {
            *trial = members.map(|member| member as f32);
            *best = *trial;
        }
    }

    /// Keeps the trials that are better and takes back the others. Returns
    /// the lanes that improved.
    pub fn judge(&mut self, values: &[f32; B], choices: &mut [[f32; B]]) -> [bool; B] {
        let mut improved = [false; B];
        let lanes = improved.iter_mut().zip(self.least.iter_mut());
        for ((improved, least), value) in lanes.zip(values) {
            if *value < *least {
                *least = *value;
                *improved = true;
            }
        }
        for [trial, best, ..] in choices.as_chunks_mut::<CHOICE_ROWS>().0 {
            for ((trial, best), improved) in trial.iter_mut().zip(best).zip(&improved) {
                if *improved {
                    *best = *trial;
                } else {
                    *trial = *best;
                }
            }
        }
        improved
    }

    /// Puts the next sequences on trial.
    pub fn propose(&mut self, improved: &[bool; B], members: usize, choices: &mut [[f32; B]]) {
        let steps = choices.as_chunks_mut::<CHOICE_ROWS>().0;
        let lanes = self.stage.iter_mut().zip(self.cursor.iter_mut());
        for (lane, ((stage, cursor), improved)) in lanes.zip(improved).enumerate() {
            *stage = match (*stage, *improved) {
                (_, true) => Stage::AllAtOnce,
                (Stage::AllAtOnce, false) => Stage::OneByOne,
                (later, false) => later,
            };
            if *stage == Stage::AllAtOnce && !take_all(steps, lane) {
                *stage = Stage::InTurn;
            }
            if *stage == Stage::OneByOne && !take_best(steps, lane) {
                *stage = Stage::InTurn;
            }
            if *stage == Stage::InTurn {
                take_next(steps, lane, members, cursor);
            }
        }
    }
}

impl<const B: usize> Default for Discrete<B> {
    fn default() -> Self {
        Self::new()
    }
}

type Step<const B: usize> = [[f32; B]; CHOICE_ROWS];

/// Trial, proposal and gain of a lane at one step.
fn at<const B: usize>(
    [trial, _, proposal, gain]: &mut Step<B>,
    lane: usize,
) -> Option<(&mut f32, f32, &mut f32)> {
    Some((
        trial.get_mut(lane)?,
        *proposal.get(lane)?,
        gain.get_mut(lane)?,
    ))
}

/// Every promising proposal; false if there is none.
fn take_all<const B: usize>(steps: &mut [Step<B>], lane: usize) -> bool {
    let mut any = false;
    for (trial, proposal, gain) in steps.iter_mut().filter_map(|step| at(step, lane)) {
        if *gain < 0.0 {
            *trial = proposal;
            any = true;
        }
    }
    any
}

/// The most promising proposal that is left; false if there is none.
fn take_best<const B: usize>(steps: &mut [Step<B>], lane: usize) -> bool {
    let all = steps.iter_mut().filter_map(|step| at(step, lane));
    let best = all.reduce(|best, other| if *other.2 < *best.2 { other } else { best });
    match best {
        Some((trial, proposal, gain)) if *gain < 0.0 => {
            *trial = proposal;
            *gain = 0.0;
            true
        }
        _ => false,
    }
}

/// The next step and member in turn that is a change.
fn take_next<const B: usize>(steps: &mut [Step<B>], lane: usize, members: usize, cursor: &mut u32) {
    let (members, count) = (members as u32, steps.len() as u32);
    for _ in 0..members {
        let step = cursor
            .checked_div(members)
            .and_then(|step| step.checked_rem(count));
        let member = cursor.checked_rem(members).unwrap_or(0) as f32;
        *cursor = cursor.wrapping_add(1);
        let step = step.and_then(|step| steps.get_mut(step as usize));
        if let Some((trial, ..)) = step.and_then(|step| at(step, lane))
            && *trial != member
        {
            *trial = member;
            return;
        }
    }
}
