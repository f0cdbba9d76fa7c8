//! A pendulum that stands, whose state is an angle, held by a controller that sees sine, cosine
//! and speed, as networks of Gymnasium's pendulum do.

use hambo_base::Error;
use hambo_data::{Log, Transition};
use hambo_task::task::TaskFile;

use crate::fixture::Draw;

pub const TASK: &str = r#"
name = "angle"
horizon = 30
threshold = -8

[state]
names = ["theta", "omega"]

[action]
names = ["torque"]
low = [-2]
high = [2]

[reward]
expr = "-(theta^2) - 0.1 * omega^2 - 0.001 * torque^2"

[initial]
kind = "uniform"
low = [-0.2, -0.2]
high = [0.2, 0.2]
"#;

/// The controller.
pub const POLICY: &str = "kind = 'linear'\nobserves = ['cos(theta)', 'sin(theta)', 'omega']\n\
                          gain = [[0.1, -9, -3]]\nbias = [-0.1]";

/// The speed after a step without noise.
fn speed(theta: f32, omega: f32, torque: f32) -> f32 {
    omega + 0.05 * (5.0 * theta.sin() + 3.0 * torque - 0.2 * omega)
}

/// A log of another controller with exploration.
///
/// # Errors
/// If a number is not finite.
pub fn log(episodes: u32) -> Result<Log, Error> {
    let draw = &mut Draw::new(0x414E_474C);
    let mut log = Log::new(2, 1);
    for episode in 0..episodes {
        let mut state = [draw.between(-0.3, 0.3), draw.between(-0.4, 0.4)];
        for _ in 0..30 {
            let torque = -8.0 * state[0] - 2.5 * state[1] + 0.8 * draw.normal();
            let torque = torque.clamp(-2.0, 2.0);
            let omega = speed(state[0], state[1], torque) + 0.01 * draw.normal();
            let next_state = [state[0] + 0.05 * omega, omega];
            log.push(Transition {
                state: &state,
                action: &[torque],
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
    let draw = &mut Draw::new(11);
    let returns = (0..episodes).map(|_| {
        let (mut theta, mut omega) = (draw.between(-0.2, 0.2), draw.between(-0.2, 0.2));
        let mut sum = 0.0_f64;
        for _ in 0..30 {
            let torque = 0.1 * theta.cos() - 9.0 * theta.sin() - 3.0 * omega - 0.1;
            let torque = torque.clamp(-2.0, 2.0);
            sum -= f64::from(theta * theta + 0.1 * omega * omega + 0.001 * torque * torque);
            omega = speed(theta, omega, torque) + 0.01 * draw.normal();
            theta += 0.05 * omega;
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
    Ok(TaskFile::parse(TASK, "angle.toml")?)
}
