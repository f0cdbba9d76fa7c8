//! A system of your own: a log of it, and true returns to compare bounds with.
//! `cargo run --release -p hambo-host --example custom_environment`.

use hambo_host::Error;
use hambo_host::core::numeric::random::Stream;
use hambo_host::lab::environment::{Environment, EnvironmentRun, rollout};
use hambo_host::task::policy::HostPolicy;
use hambo_host::task::task::TaskFile;

const TASK: &str = r#"
name = "cart"
horizon = 50
delta = 0.05

[state]
names = ["x", "v"]

[action]
names = ["force"]
low = [-1]
high = [1]

[reward]
expr = "-x^2 - 0.1 * force^2"

[termination]
expr = "abs(next.x) > 2"

[initial]
kind = "uniform"
low = [-1, 0]
high = [1, 0]
"#;

/// A cart on a rail of four metres; steps of 0.1 s.
struct Cart {
    task: TaskFile,
}

impl Cart {
    fn new() -> Result<Self, Error> {
        let task = TaskFile::parse(TASK, "cart.toml")?;
        Ok(Self { task })
    }
}

impl Environment for Cart {
    fn task(&self) -> &TaskFile {
        &self.task
    }

    fn reset(&self, stream: &mut Stream) -> Vec<f64> {
        vec![2.0 * f64::from(stream.uniform()) - 1.0, 0.0]
    }

    fn observe(&self, state: &[f64]) -> Vec<f32> {
        state.iter().map(|x| *x as f32).collect()
    }

    fn step(&self, state: &mut [f64], action: &[f32]) -> f64 {
        let (x, force) = (state[0], f64::from(action[0]));
        state[1] += 0.1 * force;
        state[0] += 0.1 * state[1];
        -x * x - 0.1 * force * force
    }

    fn has_ended(&self, state: &[f64]) -> bool {
        state[0].abs() > 2.0
    }
}

/// Episodes of a controller that brings the cart to the middle, with noise on its force.
pub(crate) fn drive(episodes: u32) -> Result<EnvironmentRun, Error> {
    let cart = Cart::new()?;
    let law = "kind = \"linear\"\ngain = [[-1.0, -1.5]]\nbias = [0.0]";
    let policy = HostPolicy::parse(law, "law.toml", cart.task())?;
    rollout(&cart, &policy, episodes, 0.3, 0)
}

fn main() -> Result<(), Error> {
    let run = drive(20)?;
    let mean = run.returns.iter().sum::<f64>() / run.returns.len() as f64;
    let fell = run.terminated.iter().filter(|ended| **ended).count();
    println!(
        "{} transitions, mean return {mean:.2}, {fell} episodes left the rail",
        run.log.len()
    );
    Ok(())
}
