//! What some random tasks know of their dynamics: a known state before the learned ones, a
//! controller's memory after them, features, and a pair on the unit circle.

/// Pieces of a task file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RandomPhysics {
    /// Known states that the log has; they come first.
    pub first: Vec<&'static str>,
    /// Known states that it does not have; they come last.
    pub last: Vec<&'static str>,
    /// Lines of `[state]`.
    pub state: String,
    /// Whole sections.
    pub sections: String,
    /// What the reward loses besides.
    pub reward: &'static str,
}

impl RandomPhysics {
    /// Of one in three seeds; the model moves the states `s0` and so on, and sees as many
    /// numbers.
    #[must_use]
    pub fn of_some(seed: u64, space: usize) -> Self {
        let mut physics = Self::default();
        let kind = match seed % 9 {
            2 => 0,
            4 => 1,
            6 => 2,
            _ => return physics,
        };
        if kind != 1 {
            physics.last = vec!["m0", "m1"];
            physics.reward = " - 0.1 * next.m0 * m1";
        }
        if kind != 0 {
            physics.first = vec!["k0"];
            let inputs = ["sin(s0) + 0.5 * s0", "k0 * s0", "s2 - tanh(k0)"];
            let inputs: Vec<&str> = inputs.into_iter().take(space).collect();
            physics.sections = format!("[model]\ninputs = {inputs:?}\n");
        }
        physics.sections += "[known]\n";
        if kind != 1 {
            physics.sections += "m1 = { next = 'next.m0 * cos(s0) + 0.01 * t', initial = -0.1 }\n\
                                 m0 = { next = '0.8 * m0 + next.s0 - 0.5 * a0', initial = 0.3 }\n";
        }
        if kind != 0 {
            physics.sections += "k0 = 'k0 + 0.3 * next.s0'\n";
        }
        // What wraps is not on a circle: `fixture::image_with` lets states of other seeds wrap.
        if seed.is_multiple_of(3) && space > 1 {
            physics.state = "circle = [[\"s1\", \"s0\"]]\n".to_owned();
        }
        physics
    }
}
