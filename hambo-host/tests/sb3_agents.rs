//! Agents of Stable-Baselines3 and sb3-contrib, exported by `scripts/export_sb3.py`, against
//! their own `predict`; see `tests/data/sb3/make_fixtures.py`.
//!
//! `cargo test --release -p hambo-host --test program sb3_agents:: -- --nocapture` prints the table.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hambo_core::numeric::Slices;
use hambo_core::policy::Policy;
use hambo_core::policy::PolicyInputs;
use hambo_task::image::{AlignedBytes, decode_policy, encode_policy};
use hambo_task::policy::{Head, HostPolicy, PerceptronPolicy, Spread};
use hambo_task::task::TaskFile;
use serde_json::Value;

/// Of half the range of an action.
const TOLERANCE: f64 = 1e-5;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sb3")
}

fn numbers(list: &Value) -> Vec<f64> {
    let numbers = list.as_array().unwrap().iter();
    numbers.map(|number| number.as_f64().unwrap()).collect()
}

/// One agent of `agents.json`.
struct Agent {
    name: String,
    algorithm: String,
    low: Vec<f64>,
    high: Vec<f64>,
    /// Observations, and the actions of `predict(deterministic=True)`.
    rows: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Agent {
    fn new(object: &Value) -> Self {
        let text = |key: &str| object[key].as_str().unwrap().to_owned();
        let rows = object["rows"].as_array().unwrap().iter();
        Self {
            name: text("name"),
            algorithm: text("algorithm"),
            low: numbers(&object["low"]),
            high: numbers(&object["high"]),
            rows: rows
                .map(|row| (numbers(&row[0]), numbers(&row[1])))
                .collect(),
        }
    }

    /// A task with the agent's observations as states, and its limits.
    fn task(&self) -> TaskFile {
        let names = |prefix: &str, count: usize| -> Vec<String> {
            (0..count).map(|i| format!("{prefix}{i}")).collect()
        };
        let text = format!(
            "name = 'robot'\nhorizon = 20\n[state]\nnames = {:?}\n[action]\nnames = {:?}\n\
             low = {:?}\nhigh = {:?}\n[reward]\nexpr = '-s0^2'\n[initial]\nkind = 'data'",
            names("s", self.rows[0].0.len()),
            names("a", self.low.len()),
            self.low,
            self.high,
        );
        TaskFile::parse(&text, "task.toml").unwrap()
    }

    fn policy(&self) -> PerceptronPolicy {
        let path = folder().join(format!("{}.onnx", self.name));
        match HostPolicy::read(path, &self.task()).unwrap() {
            HostPolicy::Perceptron(policy) => policy,
            other => unreachable!("{other:?}"),
        }
    }

    /// The largest difference over all rows, in halves of the action's range.
    fn worst(&self) -> f64 {
        let bytes = encode_policy(&HostPolicy::Perceptron(self.policy())).unwrap();
        let bytes = AlignedBytes::new(&bytes);
        let stored = decode_policy(bytes.as_bytes()).unwrap();
        let count = stored.action_dimension();
        assert_eq!(count, self.low.len());
        let mut scratch = vec![[0.0]; stored.scratch_rows().unwrap()];
        let mut worst = 0.0_f64;
        for (observation, wanted) in &self.rows {
            let state: Vec<[f32; 1]> = observation.iter().map(|x| [*x as f32]).collect();
            let mut action = vec![[f32::NAN]; count];
            let whole = Slices::default();
            stored.act(PolicyInputs::new(&state, &mut scratch, &whole), &mut action);
            let limits = self.low.iter().zip(&self.high);
            for (([found], wanted), (low, high)) in action.iter().zip(wanted).zip(limits) {
                assert!(found.is_finite(), "{}: {found}", self.name);
                // The task's limits come after the policy.
                let found = f64::from(*found).clamp(*low, *high);
                worst = worst.max((found - wanted).abs() / ((high - low) / 2.0));
            }
        }
        worst
    }
}

fn agents() -> Vec<Agent> {
    let text = std::fs::read_to_string(folder().join("agents.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    println!("{}", all["versions"].as_str().unwrap());
    all["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(Agent::new)
        .collect()
}

fn agent(name: &str) -> Agent {
    agents()
        .into_iter()
        .find(|agent| agent.name == name)
        .unwrap()
}

#[test]
fn exported_agents_act_as_predict_says() {
    let agents = agents();
    for agent in &agents {
        assert_eq!(agent.rows.len(), 20, "{}", agent.name);
        let worst = agent.worst();
        println!("{:18} within {worst:.1e} of predict", agent.name);
        assert!(worst < TOLERANCE, "{}: {worst:e}", agent.name);
    }
    let names: BTreeSet<&str> = agents.iter().map(|agent| agent.name.as_str()).collect();
    for name in [
        "a2c",
        "ppo",
        "ppo_gsde",
        "sac",
        "sac_gsde",
        "td3",
        "ddpg",
        "tqc",
        "trpo",
        "ars",
        "ppo_elu",
        "a2c_softplus",
        "sac_gelu",
        "td3_leaky",
    ] {
        assert!(names.contains(name), "{name}");
    }
}

#[test]
fn heads_are_those_of_the_algorithms() {
    for agent in agents() {
        let gsde = agent.name.contains("gsde");
        let wanted = match agent.algorithm.as_str() {
            _ if gsde => Head::Deterministic,
            "A2C" | "PPO" | "TRPO" => Head::Gaussian(Spread::Fixed),
            "SAC" | "TQC" | "CrossQ" => Head::TanhGaussian(Spread::OfState),
            _ => Head::Deterministic,
        };
        assert_eq!(agent.policy().actions.head, wanted, "{}", agent.name);
    }
}

#[test]
fn statistics_of_the_observations_are_kept_apart_from_the_layers() {
    // VecNormalize's clip is one layer more, of ReLU, in front of tanh layers too.
    for (name, layers) in [("ppo_normalised", 4), ("td3_normalised", 4)] {
        let policy = agent(name).policy();
        assert_eq!(policy.layers.len(), layers, "{name}");
        // The third state is around 100.
        let far = policy.observation_mean[2];
        assert!((50.0..150.0).contains(&far), "{name}: {far}");
    }
    // gSDE clips SAC's mean before its tanh.
    assert_eq!(agent("sac_gsde").policy().layers.len(), 4);
    assert_eq!(agent("sac").policy().layers.len(), 3);
}
