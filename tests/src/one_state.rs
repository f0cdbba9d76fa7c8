//! One state whose model is written down: s′ = s + slope · s ± reach + noise, and a check of
//! doing nothing.

use hambo_base::Error;
use hambo_base::network::{Layer, Standardisation};
use hambo_check::parallel::{Watch, check};
use hambo_core::check::Outcome;
use hambo_core::image::Image;
use hambo_core::model::Calibration;
use hambo_core::numeric::network::Activation;
use hambo_learn::ensemble::{Member, TrainedEnsemble, encode_ensemble};
use hambo_task::image::{
    AlignedBytes, LoggedRegion, NoisePools, Uncertainty, encode_image, encode_policy,
};
use hambo_task::plan::CheckPlan;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

/// Two networks without a hidden layer.
#[derive(Clone, Copy, Debug)]
pub struct OneState {
    /// s′ − s = slope · s on average.
    pub slope: f32,
    /// How far a member lies from the mean: the adversary's reach, with beta = 1.
    pub reach: f32,
    /// Standard deviation of the noise.
    pub noise: f32,
}

impl OneState {
    /// Checks the controller that does nothing, on a task with the state `x` and the action
    /// `u`.
    ///
    /// # Errors
    /// If the task has other sizes.
    pub fn check(&self, task: &TaskFile, plan: impl Into<CheckPlan>) -> Result<Outcome, Error> {
        let idle = HostPolicy::parse("kind = \"constant\"\nvalue = [0]", "idle", task)?;
        let model = encode_ensemble(&self.ensemble(), &uncertainty())?;
        let policy = encode_policy(&idle)?;
        let bytes = AlignedBytes::new(&encode_image(&model, task, plan, &[], &policy)?);
        let image = Image::parse(bytes.as_bytes())?;
        Ok(check::<32>(&image, Watch::NONE)?.outcome)
    }

    fn ensemble(&self) -> TrainedEnsemble {
        let member = |push: f32| Member {
            layers: vec![Layer {
                inputs: 2,
                outputs: 2,
                weights: vec![self.slope, 0.0, 0.0, 0.0],
                bias: vec![push, 0.0],
            }],
        };
        TrainedEnsemble {
            widths: vec![2, 2],
            activation: Activation::Relu,
            standardisation: Standardisation {
                input_mean: vec![0.0; 2],
                input_scale: vec![1.0; 2],
                output_mean: vec![0.0],
                output_scale: vec![1.0],
            },
            // The softplus of 0 lies above the cap.
            std_floor: 1e-3,
            std_cap: self.noise,
            members: vec![member(self.reach), member(-self.reach)],
            priors: Vec::new(),
            losses: vec![0.0; 2],
        }
    }
}

fn uncertainty() -> Uncertainty {
    Uncertainty {
        features: 1,
        beta: 1.0,
        calibration_scale: vec![1.0],
        calibration: Calibration::Passed,
        tested_steps: u16::MAX,
        noise_scale: vec![1.0],
        noise_factor: Vec::new(),
        noise_pools: NoisePools::default(),
        width_regions: Vec::new(),
        support: LoggedRegion::everywhere(2),
    }
}

/// The largest count that `runs` runs exceed with a probability of at most 5 % if each
/// fails with `probability`.
#[must_use]
pub fn most_failures(runs: u64, probability: f64) -> usize {
    let mut term = (1.0 - probability).powi(runs as i32);
    let (mut sum, mut count) = (0.0, 0_usize);
    loop {
        sum += term;
        if sum >= 0.95 {
            return count;
        }
        let odds = probability / (1.0 - probability);
        term *= (runs as f64 - count as f64) / (count as f64 + 1.0) * odds;
        count += 1;
    }
}
