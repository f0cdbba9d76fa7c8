//! A carriage under a constant load, held by a PID controller with an integral and a filtered
//! derivative: three states that no log has.

use hambo_base::Error;
use hambo_data::{Log, Transition};
use hambo_task::task::TaskFile;

use crate::fixture::Draw;

/// The task. The log has x and v; the controller sees x and what it remembers.
pub const TASK: &str = r#"
name = "carriage"
horizon = 40
threshold = -12

[state]
names = ["x", "v", "integral", "derivative"]
low = [-3, -5, -0.5, -20]
high = [3, 5, 0.5, 20]

[action]
names = ["force"]
low = [-6]
high = [6]

[known]
x = "x + 0.05 * next.v"
integral = { next = "integral + 0.05 * x", initial = 0 }
derivative = { next = "0.6 * derivative + 0.4 * (next.x - x) / 0.05", initial = 0 }

[model]
inputs = ["v"]

[reward]
expr = "-(x^2) - 0.001 * force^2"

[initial]
kind = "uniform"
low = [-1, -0.2]
high = [1, 0.2]
"#;

/// The controller: proportional, nothing of v, integral, derivative.
pub const POLICY: &str = "kind = 'linear'\ngain = [[-8, 0, -2, -3]]\nbias = [0]";

/// v after a step without noise.
fn speed(v: f32, force: f32) -> f32 {
    v + 0.05 * (force - 0.5 * v - 0.8)
}

/// A log of another controller, without memory, with exploration.
///
/// # Errors
/// If a number is not finite.
pub fn log(episodes: u32) -> Result<Log, Error> {
    let draw = &mut Draw::new(0x0050_4944);
    let mut log = Log::new(2, 1);
    for episode in 0..episodes {
        let mut state = [draw.between(-1.1, 1.1), draw.between(-0.3, 0.3)];
        for _ in 0..40 {
            let force = -7.0 * state[0] - 2.5 * state[1] + 2.5 * draw.normal();
            let force = force.clamp(-6.0, 6.0);
            let v = speed(state[1], force) + 0.01 * draw.normal();
            let next_state = [state[0] + 0.05 * v, v];
            log.push(Transition {
                state: &state,
                action: &[force],
                next_state: &next_state,
                reward: 0.0,
                episode,
            })?;
            state = next_state;
        }
    }
    Ok(log)
}

/// The true mean return of the controller, written out by hand.
#[must_use]
pub fn truth(episodes: u32) -> f64 {
    let draw = &mut Draw::new(7);
    let returns = (0..episodes).map(|_| {
        let (mut x, mut v) = (draw.between(-1.0, 1.0), draw.between(-0.2, 0.2));
        let (mut integral, mut derivative) = (0.0_f32, 0.0_f32);
        let mut sum = 0.0_f64;
        for _ in 0..40 {
            let force = (-8.0 * x - 2.0 * integral - 3.0 * derivative).clamp(-6.0, 6.0);
            sum -= f64::from(x * x + 0.001 * force * force);
            v = speed(v, force) + 0.01 * draw.normal();
            let before = x;
            x += 0.05 * v;
            integral = (integral + 0.05 * before).clamp(-0.5, 0.5);
            derivative = 0.6 * derivative + 0.4 * (x - before) / 0.05;
        }
        sum
    });
    returns.sum::<f64>() / f64::from(episodes)
}

/// The task, parsed.
///
/// # Errors
/// If the text is wrong, which would be a bug of this file.
pub fn task() -> Result<TaskFile, Error> {
    Ok(TaskFile::parse(TASK, "carriage.toml")?)
}
