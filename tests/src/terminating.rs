//! Small linear systems that terminate, as images and in f64: where ending
//! early is worse for the controller, and where going on is.
//!
//! The members of a model are networks without a hidden layer that differ by
//! a constant each, so mu and sigma_e are known exactly. There is no noise and
//! one initial state: all that is open is the adversary's choice.

use hambo_base::Error;
use hambo_base::network::{Layer, Standardisation};
use hambo_check::assumption::SetOrigin;
use hambo_check::case::Case;
use hambo_core::model::{Calibration, nested_beta};
use hambo_core::numeric::network::Activation;
use hambo_core::task::{Allocation, Effort, Variant};
use hambo_learn::ensemble::{Member, TrainedEnsemble, encode_ensemble};
use hambo_task::image::{LoggedRegion, NoisePools, Uncertainty, encode_policy};
use hambo_task::plan::CheckPlan;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

use crate::fixture::Draw;

/// The largest state.
pub const MOST_STATES: usize = 3;

/// A state, or a push; what is beyond the system's dimension is 0.
pub type Vector = [f64; MOST_STATES];

/// How the least return over all choices of an adversary is found.
#[derive(Clone, Copy)]
pub enum Exact {
    /// The sooner the trajectory ends the worse, nothing else counts, and it
    /// ends where `functional` · s′ exceeds `limit` (or −`limit`, if `both`).
    /// The system is linear, so the farthest that the functional can be at a
    /// step is a sum, and the worst is the first step at which it is enough.
    FirstExit {
        /// What must not become too large.
        functional: Vector,
        /// How large that is.
        limit: f64,
        /// Whether its negative must not either.
        both: bool,
    },
    /// One state: the reachable states, step by step, in cells so small that
    /// of all ways into one only the cheapest needs to be kept.
    Cells,
    /// No step costs more than 1 and a trajectory that never ends costs T:
    /// pushing always along this direction is such a one.
    NeverEnds(fn(&Vector) -> Vector),
}

/// s′ = s + matrix · s + input · a + push, with a = gain · s.
#[derive(Clone, Copy)]
pub struct Terminating {
    /// What happens.
    pub name: &'static str,
    /// Names of the states.
    pub states: &'static [&'static str],
    /// T.
    pub horizon: u32,
    /// Of rewards.
    pub discount: f64,
    /// What the state does by itself.
    pub matrix: [Vector; MOST_STATES],
    /// What the action does.
    pub input: Vector,
    /// The controller.
    pub gain: Vector,
    /// The push of each member.
    pub offsets: &'static [Vector],
    /// s_0.
    pub start: Vector,
    /// As a task file says it.
    pub reward: &'static str,
    /// As a task file says it.
    pub termination: &'static str,
    /// Both in f64, for (s, s′).
    pub judge: fn(&Vector, &Vector) -> (f64, bool),
    /// What one step more or less is worth, where it does not matter which; 0
    /// elsewhere.
    pub step_reward: f64,
    /// How the least return is found.
    pub exact: Exact,
}

impl Terminating {
    /// Dimension of the state.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.states.len()
    }

    /// The next state after a push.
    #[must_use]
    pub fn next(&self, state: &Vector, push: &Vector) -> Vector {
        let action = dot(&self.gain, state).clamp(-1.0, 1.0);
        std::array::from_fn(|j| {
            state[j] + dot(&self.matrix[j], state) + self.input[j] * action + push[j]
        })
    }

    /// The middle of the members' pushes.
    #[must_use]
    pub fn mean(&self) -> Vector {
        let members = self.offsets.len() as f64;
        std::array::from_fn(|j| self.offsets.iter().map(|one| one[j]).sum::<f64>() / members)
    }

    /// How far CA may push from there: beta · sigma_e.
    #[must_use]
    pub fn radius(&self) -> Vector {
        let (mean, members) = (self.mean(), self.offsets.len());
        let beta = f64::from(nested_beta(members, &[1.0]));
        std::array::from_fn(|j| {
            let squares = self.offsets.iter().map(|one| (one[j] - mean[j]).powi(2));
            beta * (squares.sum::<f64>() / members as f64).sqrt()
        })
    }

    /// CA's push for an eta.
    #[must_use]
    pub fn push(&self, eta: &Vector) -> Vector {
        let (mean, radius) = (self.mean(), self.radius());
        std::array::from_fn(|j| mean[j] + radius[j] * eta[j])
    }

    /// The push that a variant's adversary can make farthest along `direction`.
    #[must_use]
    pub fn farthest(&self, variant: Variant, direction: &Vector) -> Vector {
        if variant == Variant::ContinuousAdversary {
            return self.push(&direction.map(|along| if along < 0.0 { -1.0 } else { 1.0 }));
        }
        let farther = |a: Vector, b: Vector| {
            if dot(&b, direction) > dot(&a, direction) {
                b
            } else {
                a
            }
        };
        let members = self.offsets.iter().copied();
        members.reduce(farther).unwrap_or_default()
    }

    /// The return when the pushes are `choose`'s.
    pub fn walk(&self, mut choose: impl FnMut(usize, &Vector) -> Vector) -> f64 {
        let (mut state, mut sum, mut weight) = (self.start, 0.0, 1.0);
        for step in 0..self.horizon as usize {
            let next = self.next(&state, &choose(step, &state));
            let (reward, ended) = (self.judge)(&state, &next);
            sum += weight * reward;
            if ended {
                break;
            }
            weight *= self.discount;
            state = next;
        }
        sum
    }

    /// The return without an adversary.
    #[must_use]
    pub fn neutral(&self) -> f64 {
        let mean = self.mean();
        self.walk(|_, _| mean)
    }

    /// Rows (s, a, s′) as a log would have them: 20 episodes with a random
    /// push of the set in each step.
    #[must_use]
    pub fn log(&self) -> Vec<[Vec<f32>; 3]> {
        let (mut draw, mut rows) = (Draw::new(1), Vec::new());
        let count = self.dimension();
        let short = |state: &Vector| state.iter().take(count).map(|x| *x as f32).collect();
        for _ in 0..20 {
            let mut state = self.start;
            for _ in 0..self.horizon {
                let eta = std::array::from_fn(|_| f64::from(draw.between(-1.0, 1.0)));
                let next = self.next(&state, &self.push(&eta));
                let action = dot(&self.gain, &state).clamp(-1.0, 1.0) as f32;
                rows.push([short(&state), vec![action], short(&next)]);
                if (self.judge)(&state, &next).1 {
                    break;
                }
                state = next;
            }
        }
        rows
    }

    /// The task for a variant, with comparisons as wide as the log makes them.
    ///
    /// # Errors
    /// If the text is wrong.
    pub fn task(&self) -> Result<TaskFile, Error> {
        let start = &self.start[..self.dimension()];
        let text = format!(
            "name = \"terminating\"\nhorizon = {}\ndiscount = {}\nthreshold = -1000\n\
             [state]\nnames = {:?}\n[action]\nnames = [\"u\"]\nlow = [-1]\nhigh = [1]\n\
             [reward]\nexpr = \"{}\"\n[termination]\nexpr = \"{}\"\n\
             [initial]\nkind = \"point\"\nvalue = {start:?}\n",
            self.horizon, self.discount, self.states, self.reward, self.termination,
        );
        let mut task = TaskFile::parse(&text, "terminating.toml")?;
        let log = self.log();
        task.fit_smoothing(log.iter().map(|[s, a, next]| (&s[..], &a[..], &next[..])));
        Ok(task)
    }

    /// Everything as a user would have it.
    ///
    /// # Errors
    /// If a part is wrong, which would be a bug of this file.
    pub fn case(&self, variant: Variant, iterations: u32) -> Result<Case, Error> {
        let task = self.task()?;
        let gain = &self.gain[..self.dimension()];
        let law = format!("kind = \"linear\"\ngain = [{gain:?}]\nbias = [0.0]");
        let law = HostPolicy::parse(&law, "law.toml", &task)?;
        Ok(Case {
            model_part: encode_ensemble(&self.ensemble(), &self.uncertainty())?,
            plan: CheckPlan::from(Effort {
                trajectories: 2,
                searched: 2,
                iterations,
                seed: 0,
                allocation: Allocation::Even,
            })
            .with_variants([variant])
            .without_noise(),
            initial: Vec::new(),
            policy_part: encode_policy(&law)?,
            set: SetOrigin::Networks,
            may_grow: false,
            judging_rows: hambo_learn::near_path::JudgingRows::default(),
            near_path: None,
            task,
        })
    }

    fn ensemble(&self) -> TrainedEnsemble {
        let count = self.dimension();
        let (inputs, outputs) = (count + 1, 2 * count);
        let mut weights = vec![0.0; inputs * outputs];
        for (j, row) in weights.chunks_exact_mut(inputs).take(count).enumerate() {
            for (weight, own) in row.iter_mut().zip(&self.matrix[j][..count]) {
                *weight = *own as f32;
            }
            row[count] = self.input[j] as f32;
        }
        let member = |offset: &Vector| {
            let mut bias = vec![-20.0; outputs];
            for (bias, offset) in bias.iter_mut().zip(&offset[..count]) {
                *bias = *offset as f32;
            }
            let layer = Layer {
                inputs,
                outputs,
                weights: weights.clone(),
                bias,
            };
            Member {
                layers: vec![layer],
            }
        };
        TrainedEnsemble {
            widths: vec![inputs, outputs],
            activation: Activation::Relu,
            standardisation: Standardisation {
                input_mean: vec![0.0; inputs],
                input_scale: vec![1.0; inputs],
                output_mean: vec![0.0; count],
                output_scale: vec![1.0; count],
            },
            std_floor: 1e-3,
            std_cap: 1.0,
            members: self.offsets.iter().map(member).collect(),
            priors: Vec::new(),
            losses: vec![0.0; self.offsets.len()],
        }
    }

    /// The smallest confidence set that holds all members, and the box around
    /// the log.
    fn uncertainty(&self) -> Uncertainty {
        let mut lows = vec![f32::INFINITY; self.dimension() + 1];
        let mut highs = vec![f32::NEG_INFINITY; self.dimension() + 1];
        for [state, action, _] in self.log() {
            let sides = lows.iter_mut().zip(&mut highs);
            for ((low, high), x) in sides.zip(state.iter().chain(&action)) {
                *low = low.min(*x);
                *high = high.max(*x);
            }
        }
        let sides = || lows.iter().zip(&highs);
        Uncertainty {
            features: self.dimension(),
            beta: nested_beta(self.offsets.len(), &[1.0]),
            calibration_scale: vec![1.0; self.dimension()],
            calibration: Calibration::Passed,
            tested_steps: u16::MAX,
            noise_scale: vec![1.0; self.dimension()],
            noise_factor: Vec::new(),
            noise_pools: NoisePools::default(),
            width_regions: Vec::new(),
            support: LoggedRegion {
                centre: sides().map(|(low, high)| 0.5 * (low + high)).collect(),
                scale: sides()
                    .map(|(low, high)| if high > low { 4.0 / (high - low) } else { 1.0 })
                    .collect(),
                ..LoggedRegion::everywhere(self.dimension() + 1)
            },
        }
    }
}

/// The scalar product.
#[must_use]
pub fn dot(a: &Vector, b: &Vector) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
