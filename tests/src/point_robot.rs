//! A point on a line as a robot: its floor, and bundles for it that differ from the good one
//! in what they ask.

use std::error::Error;

use hambo_check::floor::FloorOptions;
use hambo_core::image::MonitorSettings;
use hambo_core::model::{Calibration, nested_beta};
use hambo_core::task::Variant;
use hambo_core::task::{Allocation, Effort};
use hambo_learn::ensemble::encode_ensemble;
use hambo_task::image::{
    AlignedBytes, BundleAbout, LoggedRegion, NoisePools, Uncertainty, encode_bundle, encode_image,
    encode_policy,
};
use hambo_task::plan::CheckPlan;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

use crate::fixture::{Draw, point_ensemble};

/// All that a bundle of the point says.
#[derive(Clone, Debug)]
pub struct PointBundle {
    /// The task's first lines: horizon, delta, threshold, discount.
    pub horizon: u32,
    /// The probability with which the bound may fail.
    pub delta: f32,
    /// What the bound must reach; none is written if this is none.
    pub threshold: Option<f32>,
    /// Which bounds must hold for any distribution, if the task says it.
    pub distribution_free: Option<bool>,
    /// gamma.
    pub discount: f32,
    /// The reward's expression.
    pub reward: String,
    /// When a trajectory ends.
    pub termination: Option<String>,
    /// Where it may be switched off.
    pub power_off: Option<String>,
    /// The expressions of the constraints, and whether each must always hold.
    pub constraints: Vec<(String, bool)>,
    /// The largest distance of the point from the origin.
    pub state_limit: f32,
    /// The largest action.
    pub action_limit: f32,
    /// Where it starts.
    pub start: f32,
    /// How far the two members lie from their mean.
    pub offset: f32,
    /// beta, in units of what holds both members.
    pub beta: f32,
    /// How the calibration went.
    pub calibration: Calibration,
    /// The noise, in thousandths.
    pub noise_scale: f32,
    /// Whether noise is played out.
    pub noise: bool,
    /// The variants that decide.
    pub variants: Vec<Variant>,
    /// How much the device does.
    pub effort: Effort,
    /// The controller's gain.
    pub gain: f32,
    /// The fallback's gain.
    pub fallback: Option<f32>,
    /// Whom it is for.
    pub about: BundleAbout,
}

impl Default for PointBundle {
    /// A bundle that deploys.
    fn default() -> Self {
        Self {
            horizon: 4,
            delta: 0.1,
            threshold: Some(-2.0),
            distribution_free: None,
            discount: 1.0,
            reward: "-(s^2)".into(),
            termination: None,
            power_off: None,
            constraints: vec![("2 - abs(s)".into(), false)],
            state_limit: 5.0,
            action_limit: 1.0,
            start: 1.0,
            offset: 0.1,
            beta: 1.0,
            calibration: Calibration::Passed,
            noise_scale: 1.0,
            noise: true,
            variants: vec![Variant::ContinuousAdversary],
            effort: Effort {
                trajectories: 20,
                searched: 4,
                iterations: 8,
                seed: 0,
                allocation: Allocation::Even,
            },
            gain: -0.5,
            fallback: Some(-0.4),
            about: BundleAbout {
                robot: "point".into(),
                counter: 7,
                period: Some(50_000),
                monitor: Some(MonitorSettings {
                    noise_width: 2.8,
                    surprise_rate: 0.05,
                    alpha: 0.01,
                }),
                ..BundleAbout::default()
            },
        }
    }
}

impl PointBundle {
    /// What the robot's owner asks.
    #[must_use]
    pub fn floor_options(&self) -> FloorOptions {
        FloorOptions {
            board: self.about.board.clone(),
            robot: self.about.robot.clone(),
            counter: self.about.counter,
            beta: Some(0.9),
            effort: self.effort,
            fallback: true,
            noise_factor: 2.0,
            monitor: self.about.monitor,
        }
    }

    /// The task.
    ///
    /// # Errors
    /// If an expression is wrong.
    pub fn task(&self) -> Result<TaskFile, Box<dyn Error>> {
        let threshold = self
            .threshold
            .map(|least| format!("threshold = {least:e}\n"));
        let free = self
            .distribution_free
            .map(|asked| format!("distribution_free = {asked}\n"));
        let termination = self.termination.as_ref();
        let termination = termination.map(|ends| format!("[termination]\nexpr = \"{ends}\"\n"));
        let power_off = self.power_off.as_ref();
        let power_off = power_off.map(|safe| format!("[power_off]\nexpr = \"{safe}\"\n"));
        let constraints = self.constraints.iter().enumerate();
        let constraints: String = constraints
            .map(|(number, (margin, always))| {
                let kind = if *always { "kind = \"always\"\n" } else { "" };
                format!("[[constraint]]\nname = \"c{number}\"\nexpr = \"{margin}\"\n{kind}")
            })
            .collect();
        let text = format!(
            "name = \"point\"\nhorizon = {}\ndelta = {}\ndiscount = {}\ntime_step = 0.05\n{}{}\
             [state]\nnames = [\"s\"]\nlow = [-{state}]\nhigh = [{state}]\n\
             [action]\nnames = [\"a\"]\nlow = [-{action}]\nhigh = [{action}]\n\
             [reward]\nexpr = \"{}\"\n{}{}{constraints}\
             [initial]\nkind = \"point\"\nvalue = [{}]\n",
            self.horizon,
            self.delta,
            self.discount,
            threshold.unwrap_or_default(),
            free.unwrap_or_default(),
            self.reward,
            termination.unwrap_or_default(),
            power_off.unwrap_or_default(),
            self.start,
            state = self.state_limit,
            action = self.action_limit,
        );
        Ok(TaskFile::parse(&text, "point.toml")?)
    }

    /// The model part: s′ = s + a + offset and s′ = s + a − offset.
    ///
    /// # Errors
    /// Never; the sizes fit.
    pub fn model_part(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        let uncertainty = Uncertainty {
            features: 1,
            beta: nested_beta(2, &[1.0]) * self.beta,
            calibration_scale: vec![1.0],
            calibration: self.calibration,
            tested_steps: u16::MAX,
            noise_scale: vec![self.noise_scale],
            noise_factor: Vec::new(),
            noise_pools: NoisePools::default(),
            width_regions: Vec::new(),
            support: LoggedRegion::ball(2, 4.0),
        };
        Ok(encode_ensemble(&point_ensemble(self.offset), &uncertainty)?)
    }

    /// The image alone.
    ///
    /// # Errors
    /// If an expression is wrong.
    pub fn image(&self) -> Result<AlignedBytes, Box<dyn Error>> {
        let (task, model) = (self.task()?, self.model_part()?);
        let law = self.law(self.gain, &task)?;
        let mut plan = CheckPlan::from(self.effort).with_variants(self.variants.iter().copied());
        plan.method.aleatoric_noise = self.noise;
        let bytes = encode_image(&model, &task, plan, &[], &law)?;
        Ok(AlignedBytes::new(&bytes))
    }

    /// The bundle.
    ///
    /// # Errors
    /// If an expression is wrong.
    pub fn bundle(&self) -> Result<AlignedBytes, Box<dyn Error>> {
        let task = self.task()?;
        let fallback = self.fallback.map(|gain| self.law(gain, &task));
        let fallback = fallback.transpose()?;
        let image = self.image()?;
        Ok(encode_bundle(
            image.as_bytes(),
            &self.about,
            fallback.as_deref(),
        )?)
    }

    fn law(&self, gain: f32, task: &TaskFile) -> Result<Vec<u8>, Box<dyn Error>> {
        let text = format!("kind = \"linear\"\ngain = [[{gain}]]\nbias = [0]");
        Ok(encode_policy(&HostPolicy::parse(&text, "law.toml", task)?)?)
    }
}

/// A log of the robot itself: s′ = s + a + u with |u| below 0.09, as CSV.
#[must_use]
pub fn log(rows: usize) -> String {
    let draw = &mut Draw::new(0x9017);
    let mut text = String::from("episode,s,a,next.s\n");
    for row in 0..rows {
        let (s, a) = (draw.between(-1.5, 1.5), draw.between(-1.0, 1.0));
        let next = s + a + draw.between(-0.09, 0.09);
        text.push_str(&format!("{},{s},{a},{next}\n", row / 8));
    }
    text
}
