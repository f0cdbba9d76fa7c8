//! Random images: every activation, initial distribution and function of the
//! expression language turns up among a few dozen seeds, and states that wrap.

use crate::random_physics::RandomPhysics;
use hambo_core::ParameterError;
use hambo_core::arithmetic::random::Stream;
use hambo_core::image::container::Container;
use hambo_core::image::{ImageError, ModelManifest, Part, TaskManifest};
use hambo_core::model::{Calibration, nested_beta};
use hambo_core::network::Activation;
use hambo_core::policy::{Leg, Waypoints};
use hambo_core::task::{Allocation, Effort, Method, Variant};
use hambo_host::Error;
use hambo_host::formats::image::{
    Adversaries, AlignedBytes, FoundAdversary, Gap, LoggedRegion, TrainedAdversary, Uncertainty,
    encode_image, encode_image_with, encode_part, encode_policy,
};
use hambo_host::formats::policy::HostPolicy;
use hambo_host::formats::task::{Initial, TaskFile, Wrap};
use hambo_host::foundation::network::{Layer, Standardisation};
use hambo_host::learn::ensemble::encode_ensemble;
use hambo_host::learn::ensemble::{Member, TrainedEnsemble};

/// Rewards over s0, a0 and next.s0 that never leave the numbers.
pub const REWARDS: [&str; 8] = [
    "-(s0^2) - 0.1 * a0^2",
    "-abs(next.s0 - 0.3) + 0.2 * (next.s0 > 0.1)",
    "tanh(s0 * a0) - exp(-(next.s0^2))",
    "min(s0, a0, next.s0) + clamp(next.s0, -0.5, 0.5) - log(1 + s0^2)",
    "sin(s0) * cos(a0) - sqrt(1 + next.s0^2)",
    "-(wrap(3 * s0)^2) - atan2(next.s0, 2 + a0^2) - max(s0, 0)",
    "-(s0 > 0 && next.s0 <= 0.5 || !(a0 < 0)) - 0.01 * tan(0.1 * s0)",
    "-(abs(s0) ^ 1.5) / (2 + cos(next.s0)) - (s0 == 0) + (a0 != 0)",
];

const INITIALS: [&str; 3] = ["point", "uniform", "gaussian"];

/// Numbers for a fixture.
pub struct Draw {
    stream: Stream,
}

impl Draw {
    /// The numbers of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            stream: Stream::new(seed, 0x7E57),
        }
    }

    /// A standard normal number.
    pub fn normal(&mut self) -> f32 {
        self.stream.standard_normal()
    }

    /// A number in `low..high`.
    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.stream.uniform()
    }

    /// A whole number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        self.stream.index(count as u32) as usize
    }

    fn many(&mut self, count: usize, mut f: impl FnMut(&mut Self) -> f32) -> Vec<f32> {
        (0..count).map(|_| f(self)).collect()
    }
}

/// A network ensemble with random weights.
pub fn ensemble(draw: &mut Draw, space: usize, activation: Activation) -> TrainedEnsemble {
    let mut widths = vec![2 * space];
    for _ in 0..1 + draw.below(3) {
        widths.push(3 + draw.below(10));
    }
    widths.push(2 * space);
    let members = 2 + draw.below(4);
    let with_priors = draw.below(2) == 0;
    let mut layer = |inputs: usize, outputs: usize| Layer {
        inputs,
        outputs,
        weights: draw.many(inputs * outputs, |draw| {
            draw.normal() / (inputs as f32).sqrt()
        }),
        bias: draw.many(outputs, |draw| 0.3 * draw.normal()),
    };
    let members: Vec<Member> = (0..members)
        .map(|_| Member {
            layers: widths
                .windows(2)
                .map(|pair| layer(pair[0], pair[1]))
                .collect(),
        })
        .collect();
    // Every other one with random networks beside its members.
    let units = 4 + members.len();
    let priors = members
        .iter()
        .take(if with_priors { members.len() } else { 0 });
    let priors = priors
        .map(|_| Member {
            layers: vec![layer(2 * space, units), layer(units, space)],
        })
        .collect();
    TrainedEnsemble {
        activation,
        standardisation: Standardisation {
            input_mean: draw.many(2 * space, |draw| 0.2 * draw.normal()),
            input_scale: draw.many(2 * space, |draw| draw.between(0.5, 2.0)),
            output_mean: draw.many(space, |draw| 0.05 * draw.normal()),
            output_scale: draw.many(space, |draw| draw.between(0.05, 0.2)),
        },
        std_floor: 0.01,
        std_cap: 1.2,
        losses: vec![0.0; members.len()],
        priors,
        members,
        widths,
    }
}

/// A confidence set and a wide support for an ensemble.
pub fn uncertainty(draw: &mut Draw, ensemble: &TrainedEnsemble) -> Uncertainty {
    let space = ensemble.standardisation.output_mean.len();
    let calibration_scale = draw.many(space, |draw| draw.between(1.0, 1.5));
    Uncertainty {
        features: space,
        beta: nested_beta(ensemble.members.len(), &calibration_scale),
        calibration_scale,
        calibration: Calibration::Passed,
        noise_scale: draw.many(space, |draw| draw.between(0.5, 1.5)),
        support: region(draw, 2 * space),
    }
}

/// Every state and action, or a few balls in random coordinates.
fn region(draw: &mut Draw, columns: usize) -> LoggedRegion {
    let everywhere = LoggedRegion::everywhere(columns);
    if draw.below(3) > 0 {
        return everywhere;
    }
    let rows = 1 + draw.below(5);
    let gaps = (0..draw.below(3)).map(|_| {
        let low = draw.normal();
        Gap {
            input: draw.below(columns),
            low,
            high: low + draw.between(0.01, 0.5),
        }
    });
    let gaps = gaps.collect();
    LoggedRegion {
        gaps,
        centre: draw.many(columns, |draw| 0.2 * draw.normal()),
        scale: draw.many(columns, |draw| draw.between(0.5, 2.0)),
        whitening: draw.many(everywhere.whitening.len(), |draw| draw.between(0.2, 1.0)),
        rows: draw.many(rows * columns, Draw::normal),
        limit: draw.between(1.0, 6.0),
    }
}

/// A task over `space` states and actions.
///
/// # Errors
/// If the text is wrong.
pub fn task(draw: &mut Draw, space: usize, reward: &str) -> Result<TaskFile, Error> {
    task_knowing(draw, space, reward, &RandomPhysics::default())
}

/// Likewise with known states beside those.
///
/// # Errors
/// If the text is wrong.
pub fn task_knowing(
    draw: &mut Draw,
    space: usize,
    reward: &str,
    physics: &RandomPhysics,
) -> Result<TaskFile, Error> {
    let logged = physics.first.len() + space;
    let states = logged + physics.last.len();
    let list = |numbers: Vec<f32>| format!("{numbers:?}");
    let numbered = |prefix: &str| -> Vec<String> {
        let names = (0..space).map(|i| format!("{prefix}{i}"));
        names.collect()
    };
    let mut names: Vec<String> = physics.first.iter().map(ToString::to_string).collect();
    names.extend(numbered("s"));
    names.extend(physics.last.iter().map(ToString::to_string));
    let initial = match INITIALS[draw.below(INITIALS.len())] {
        "point" => format!(
            "kind = \"point\"\nvalue = {}",
            list(draw.many(logged, Draw::normal))
        ),
        "uniform" => format!(
            "kind = \"uniform\"\nlow = {}\nhigh = {}",
            list(vec![-1.0; logged]),
            list(vec![0.5; logged])
        ),
        _ => format!(
            "kind = \"gaussian\"\nmean = {}\nstd = {}",
            list(draw.many(logged, Draw::normal)),
            list(vec![0.2; logged])
        ),
    };
    let limits = if draw.below(2) == 0 {
        format!(
            "low = {}\nhigh = {}",
            list(vec![-1.5; states]),
            list(vec![1.5; states])
        )
    } else {
        String::new()
    };
    let extras = extras(draw);
    let text = format!(
        "name = \"random\"\nhorizon = {}\ndelta = 0.1\ndiscount = {}\nthreshold = -5\n\
         [state]\nnames = {:?}\n{}{limits}\n[action]\nnames = {:?}\nlow = {}\nhigh = {}\n{}\
         [reward]\nexpr = \"{reward}{}\"\n{extras}[initial]\n{initial}\n",
        3 + draw.below(6),
        if draw.below(2) == 0 { 1.0 } else { 0.9 },
        names,
        physics.state,
        numbered("a"),
        list(vec![-0.4; space]),
        list(vec![0.4; space]),
        physics.sections,
        physics.reward,
    );
    Ok(TaskFile::parse(&text, "random.toml")?)
}

/// A termination, a constraint of any kind, with and without a probability, or several.
fn extras(draw: &mut Draw) -> String {
    let termination = "[termination]\nexpr = \"s0 > 1.2\"\n";
    let expressions = [
        "2 - abs(next.s0)",
        "abs(next.s0) < 1 || t < 3",
        "s0 > -0.9 && s0 < 0.5 + 0.1 * (horizon - t)",
    ];
    let mut constraint = |name: &str| {
        let kind = ["mean", "always", "finally", "eventually"][draw.below(4)];
        let probability = match draw.below(2) {
            0 => String::new(),
            // Few trajectories prove little.
            _ => "probability = 0.3\n".to_owned(),
        };
        let expression = expressions[draw.below(3)];
        format!(
            "[[constraint]]\nname = \"{name}\"\nexpr = \"{expression}\"\n\
             kind = \"{kind}\"\n{probability}"
        )
    };
    let constraints = [constraint("near"), constraint("later")];
    match draw.below(6) {
        0 => termination.to_owned(),
        1 => constraints[0].clone(),
        2 => constraints.concat(),
        3 => termination.to_owned() + &constraints[0],
        _ => String::new(),
    }
}

/// Two legs in `space` dimensions.
pub fn policy(draw: &mut Draw, space: usize) -> Result<Waypoints, ParameterError> {
    let mut target = || {
        let mut target = [0.0; 3];
        for x in target.iter_mut().take(space) {
            *x = draw.normal();
        }
        target
    };
    let legs = [
        Leg {
            target: target(),
            axis: 0,
            below: 0.2,
        },
        Leg {
            target: target(),
            axis: 0,
            below: f32::MAX,
        },
    ];
    Waypoints::new(space as u8, draw.between(0.1, 0.6), &legs)
}

/// All variants.
pub const VARIANTS: [Variant; 8] = [
    Variant::Mean,
    Variant::DistributionSampling,
    Variant::TrajectorySampling1,
    Variant::TrajectorySamplingInf,
    Variant::Penalised,
    Variant::ContinuousAdversary,
    Variant::DiscreteAdversary1,
    Variant::DiscreteAdversaryInf,
];

/// CA, and now and then every variant; with and without noise.
pub fn method(draw: &mut Draw) -> Method {
    let mut method = Method::default();
    if draw.below(2) == 0 {
        method.variants.clear();
        method.variants.extend(VARIANTS);
    }
    method.aleatoric_noise = draw.below(3) > 0;
    method
}

/// A whole random image: few trajectories, few sweeps, all features.
///
/// # Errors
/// If a generated part is wrong, which would be a bug of this file.
pub fn image(seed: u64) -> Result<AlignedBytes, Error> {
    image_with(seed, waypoints, |_| {})
}

/// Likewise with a policy of the given numbers of states and actions.
///
/// # Errors
/// As for [`image`], and if the policy does not fit.
pub fn image_of(
    seed: u64,
    policy: impl FnOnce([usize; 2]) -> HostPolicy,
) -> Result<AlignedBytes, Error> {
    image_with(seed, |_, sizes| Ok(policy(sizes)), |_| {})
}

/// Random adversaries: no network, one for CA, or one for each variant, against the
/// return or the first constraint; and likewise sequences that were found elsewhere.
pub fn adversaries(draw: &mut Draw, ensemble: &TrainedEnsemble, task: &TaskFile) -> Adversaries {
    Adversaries {
        networks: networks(draw, ensemble, task),
        found: found(draw, ensemble, task),
    }
}

fn objective(draw: &mut Draw, task: &TaskFile) -> u8 {
    draw.below(task.constraints.len().min(1) + 1) as u8
}

fn found(draw: &mut Draw, ensemble: &TrainedEnsemble, task: &TaskFile) -> Vec<FoundAdversary> {
    let space = ensemble.standardisation.output_mean.len();
    let members = ensemble.members.len();
    let steps = task.horizon as usize;
    let variants = [Variant::ContinuousAdversary, Variant::DiscreteAdversary1];
    // A sequence takes flash for every step.
    let most = if steps > 1000 { 1 } else { 3 };
    let variants = variants.into_iter().take(draw.below(most));
    variants
        .map(|variant| FoundAdversary {
            variant,
            objective: objective(draw, task),
            sequences: (0..1 + draw.below(2))
                .map(|_| match variant {
                    Variant::ContinuousAdversary => {
                        draw.many(steps * space, |draw| draw.normal().clamp(-1.0, 1.0))
                    }
                    _ => draw.many(steps, |draw| draw.below(members) as f32),
                })
                .collect(),
        })
        .collect()
}

fn networks(draw: &mut Draw, ensemble: &TrainedEnsemble, task: &TaskFile) -> Vec<TrainedAdversary> {
    let space = ensemble.standardisation.output_mean.len();
    let members = ensemble.members.len();
    let inputs = task.state_names.len() + task.action_names.len();
    let kinds = [
        (Variant::ContinuousAdversary, space),
        (Variant::DiscreteAdversary1, members),
    ];
    let kinds = kinds.into_iter().take(draw.below(3));
    kinds
        .map(|(variant, outputs)| {
            let objective = objective(draw, task);
            let mut layer = |inputs: usize, outputs: usize| Layer {
                inputs,
                outputs,
                weights: draw.many(inputs * outputs, Draw::normal),
                bias: draw.many(outputs, Draw::normal),
            };
            TrainedAdversary {
                variant,
                objective,
                layers: vec![layer(inputs, 6), layer(6, outputs)],
                activation: Activation::Tanh,
                input_mean: vec![0.1; inputs],
                input_scale: vec![1.5; inputs],
            }
        })
        .collect()
}

/// Two legs as a policy of the host.
///
/// # Errors
/// If a number is out of range, which would be a bug of this file.
pub fn waypoints(draw: &mut Draw, [_, space]: [usize; 2]) -> Result<HostPolicy, Error> {
    let policy = policy(draw, space)
        .map_err(|error| Error::Usage(format!("a waypoint is out of range: {error:?}")))?;
    Ok(HostPolicy::Waypoints(policy))
}

/// An image whose horizon is longer than a small device can hold.
///
/// # Errors
/// As for [`image`].
pub fn long_image(horizon: u32) -> Result<AlignedBytes, Error> {
    image_with(0, waypoints, |task| task.horizon = horizon)
}

/// A random image whose policy is `policy`'s and whose task is changed before
/// it is written.
///
/// # Errors
/// As for [`image`].
pub fn image_with(
    seed: u64,
    policy: impl FnOnce(&mut Draw, [usize; 2]) -> Result<HostPolicy, Error>,
    change: impl Fn(&mut TaskFile),
) -> Result<AlignedBytes, Error> {
    let draw = &mut Draw::new(seed);
    let space = 1 + draw.below(3);
    let activations = [Activation::Relu, Activation::Tanh, Activation::Silu];
    let activation = activations[draw.below(3)];
    let ensemble = ensemble(draw, space, activation);
    let uncertainty = uncertainty(draw, &ensemble);
    let physics = RandomPhysics::of_some(seed, space);
    let reward = REWARDS[seed as usize % REWARDS.len()];
    let mut task = task_knowing(draw, space, reward, &physics)?;
    task.method = method(draw);
    wrap_some(seed, &mut task);
    let starts = worst_starts_of_some(seed, &mut task);
    let states = task.state_names.len();
    let starts_listed = (starts.len() / states) as u32;
    change(&mut task);
    let policy = encode_policy(&policy(draw, [states, space])?)?;
    let effort = Effort {
        // Two from every start at least, or there is no margin.
        trajectories: (2 + draw.below(2) as u32) * starts_listed.max(1),
        searched: 2,
        iterations: 3,
        seed,
        // One in five has a focused search.
        allocation: match seed % 5 {
            1 => Allocation::Focused,
            _ => Allocation::Even,
        },
    };
    let model = encode_ensemble(&ensemble, &uncertainty)?;
    let adversaries = adversaries(draw, &ensemble, &task);
    let bytes = encode_image_with(&model, &task, effort, &starts, &policy, &adversaries)?;
    Ok(AlignedBytes::new(&bytes))
}

/// Lets one in seven tasks start wherever it is worst, and gives the states that somebody
/// might have found.
fn worst_starts_of_some(seed: u64, task: &mut TaskFile) -> Vec<f32> {
    if seed % 7 != 3 {
        return Vec::new();
    }
    let space = task.state_names.len();
    task.initial = Initial::Worst {
        low: vec![-1.0; space],
        high: vec![0.5; space],
    };
    let draw = &mut Draw::new(seed ^ 0x0B0C);
    draw.many(2 * space, |draw| draw.between(-1.0, 0.5))
}

/// Lets the first or the last state of two in three tasks wrap, in intervals that
/// trajectories leave.
fn wrap_some(seed: u64, task: &mut TaskFile) {
    let wrap = |low, period| Some(Wrap { low, period });
    let wraps = task.wraps.iter_mut();
    let (place, wrap) = match seed % 3 {
        1 => ({ wraps }.next_back(), wrap(-0.1, 0.5)),
        2 => ({ wraps }.next(), wrap(-1.3, 2.6)),
        _ => return,
    };
    if let Some(place) = place {
        *place = wrap;
    }
}

/// The robot of `hambo_core::example` as the host writes it: members a + 0.1
/// and a − 0.1, the controller a = −s / 2, four steps from s = 1.
///
/// # Errors
/// If a part is wrong, which would be a bug of this file.
pub fn point() -> Result<AlignedBytes, Error> {
    let mut task = TaskFile::parse(
        "name = \"point\"\nhorizon = 4\ndelta = 0.1\nthreshold = -2\n\
         [state]\nnames = [\"s\"]\nlow = [-5]\nhigh = [5]\n\
         [action]\nnames = [\"a\"]\nlow = [-1]\nhigh = [1]\n\
         [reward]\nexpr = \"-(s^2)\"\n\
         [[constraint]]\nname = \"near\"\nexpr = \"2 - abs(s)\"\n\
         [initial]\nkind = \"point\"\nvalue = [1]\n",
        "point.toml",
    )?;
    task.method.aleatoric_noise = false;
    let uncertainty = Uncertainty {
        features: 1,
        beta: nested_beta(2, &[1.0]),
        calibration_scale: vec![1.0],
        calibration: Calibration::Passed,
        noise_scale: vec![1.0],
        support: LoggedRegion::ball(2, 2.0),
    };
    let effort = Effort {
        trajectories: 2,
        searched: 2,
        iterations: 8,
        seed: 0,
        allocation: Allocation::Even,
    };
    let law = HostPolicy::parse(
        "kind = \"linear\"\ngain = [[-0.5]]\nbias = [0]",
        "law.toml",
        &task,
    )?;
    let model = encode_ensemble(&point_ensemble(0.1), &uncertainty)?;
    let bytes = encode_image(&model, &task, effort, &[], &encode_policy(&law)?)?;
    Ok(AlignedBytes::new(&bytes))
}

/// Two members that say of a point: s′ = s + a + offset and s′ = s + a − offset.
#[must_use]
pub fn point_ensemble(offset: f32) -> TrainedEnsemble {
    let member = |offset: f32| Member {
        layers: vec![Layer {
            inputs: 2,
            outputs: 2,
            weights: vec![0.0, 1.0, 0.0, 0.0],
            bias: vec![offset, -20.0],
        }],
    };
    TrainedEnsemble {
        activation: Activation::Relu,
        standardisation: Standardisation {
            input_mean: vec![0.0; 2],
            input_scale: vec![1.0; 2],
            output_mean: vec![0.0],
            output_scale: vec![1.0],
        },
        std_floor: 1e-3,
        std_cap: 1.0,
        priors: Vec::new(),
        losses: vec![0.0; 2],
        members: vec![member(offset), member(-offset)],
        widths: vec![2, 2],
    }
}

/// An image with other manifests of its model and its task, and the same
/// numbers.
///
/// # Errors
/// If `bytes` is no image, or a part cannot be written.
pub fn rewritten(
    bytes: &[u8],
    change: impl Fn(&mut ModelManifest, &mut TaskManifest<'_>),
) -> Result<AlignedBytes, Box<dyn std::error::Error>> {
    let wrong = |error: ImageError| format!("{error:?}");
    let mut rest = bytes;
    let model = Container::take(&mut rest, Part::Model).map_err(wrong)?;
    let task = Container::take(&mut rest, Part::Task).map_err(wrong)?;
    let mut model_manifest = postcard::from_bytes(model.manifest)?;
    let mut task_manifest = postcard::from_bytes(task.manifest)?;
    change(&mut model_manifest, &mut task_manifest);
    let numbers = |arena: &[u8]| -> Vec<f32> {
        let (chunks, _) = arena.as_chunks();
        chunks
            .iter()
            .map(|bytes| f32::from_le_bytes(*bytes))
            .collect()
    };
    let mut bytes = encode_part(Part::Model, &model_manifest, &numbers(model.arena))?;
    bytes.extend(encode_part(
        Part::Task,
        &task_manifest,
        &numbers(task.arena),
    )?);
    bytes.extend(rest);
    Ok(AlignedBytes::new(&bytes))
}
