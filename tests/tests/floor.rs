//! The robot's floor against bundles that are whole and ask for less: none deploys, and
//! each is refused by the field in which it is lax.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use hambo_core::drive::monitor::Monitor;
use std::fs;
use std::path::PathBuf;

use hambo_check::floor::{RobotFloor, robot_floor};
use hambo_check::parallel::{LANES, Watch, check};
use hambo_core::floor::{Floor, Shortfall};
use hambo_core::image::{Bundle, ImageError, MonitorSettings, Part, Problem};
use hambo_core::model::Calibration;
use hambo_core::task::Allocation;
use hambo_core::task::Variant;
use hambo_data::read_task_logs;
use hambo_task::image::AlignedBytes;
use hambo_tests::fixture::Draw;
use hambo_tests::point_robot::{PointBundle, log};

/// A folder that goes away with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hambo-floor-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn floor_of(good: &PointBundle, folder: &Folder) -> RobotFloor {
    let file = folder.0.join("log.csv");
    fs::write(&file, log(2000)).unwrap();
    let task = good.task().unwrap();
    let log = read_task_logs(&[file], &task).unwrap();
    let part = AlignedBytes::new(&good.model_part().unwrap());
    robot_floor(&task, part.as_bytes(), &log, &good.floor_options()).unwrap()
}

/// Why a whole bundle is not taken.
#[derive(Debug, PartialEq)]
pub(crate) enum Refused {
    Bytes(ImageError),
    Floor(Shortfall),
}

pub(crate) fn admitted(floor: &RobotFloor, bundle: &AlignedBytes) -> Result<(), Refused> {
    let bundle = Bundle::parse(bundle.as_bytes()).map_err(Refused::Bytes)?;
    let floor = Floor::parse_prefix(floor.bytes.as_bytes()).unwrap();
    let (model, task) = (bundle.image().model(), bundle.image().task());
    let mut rows = vec![[0.0]; Monitor::rows_needed(model, task).unwrap()];
    let admitted = floor.admit(&bundle, &mut rows);
    admitted.map(|_| ()).map_err(Refused::Floor)
}

/// How a bundle is made lax, and what names it. The number is drawn from 0 to 1: how lax.
type Change = (
    &'static str,
    fn(&mut PointBundle, f32),
    fn(&Shortfall) -> bool,
);

/// Changes the monitor of a bundle.
fn monitor(bundle: &mut PointBundle) -> &mut MonitorSettings {
    bundle.about.monitor.as_mut().unwrap()
}

const CHANGES: [Change; 35] = [
    (
        "board",
        |b, x| b.about.board = format!("board{x}"),
        |s| *s == Shortfall::Board,
    ),
    (
        "robot",
        |b, x| b.about.robot = format!("robot{x}"),
        |s| *s == Shortfall::Robot,
    ),
    (
        "counter",
        |b, x| b.about.counter = (x * 6.9) as u32,
        |s| *s == Shortfall::Counter,
    ),
    (
        "period",
        |b, x| b.about.period = Some(1 + (x * 49_000.0) as u32),
        |s| *s == Shortfall::Period,
    ),
    (
        "no period",
        |b, _| b.about.period = None,
        |s| *s == Shortfall::Period,
    ),
    (
        "threshold",
        |b, x| b.threshold = Some(-2.001 - 10f32.powf(38.0 * x)),
        |s| *s == Shortfall::Threshold,
    ),
    (
        "no threshold",
        |b, _| b.threshold = None,
        |s| *s == Shortfall::Threshold,
    ),
    (
        "delta",
        |b, x| b.delta = 0.101 + 0.89 * x,
        |s| *s == Shortfall::Delta,
    ),
    (
        "horizon",
        |b, x| b.horizon = 1 + (x * 2.99) as u32,
        |s| *s == Shortfall::Horizon,
    ),
    (
        "longer horizon",
        |b, x| b.horizon = 5 + (x * 20.0) as u32,
        |s| *s == Shortfall::Horizon,
    ),
    (
        "reward",
        |b, x| b.reward = format!("-(s^2) + {}", 0.01 + x),
        |s| *s == Shortfall::Reward,
    ),
    (
        "other reward",
        |b, x| b.reward = format!("-{}*(s^2)", x),
        |s| *s == Shortfall::Reward,
    ),
    (
        "discount",
        |b, x| b.discount = 0.01 + 0.98 * x,
        |s| *s == Shortfall::Reward,
    ),
    (
        "termination",
        |b, x| b.termination = Some(format!("abs(s) < {x}")),
        |s| *s == Shortfall::Termination,
    ),
    (
        "power-off",
        |b, x| b.power_off = Some(format!("abs(s) < {x}")),
        |s| *s == Shortfall::PowerOff,
    ),
    (
        "state limits",
        |b, x| b.state_limit = 1.0 + 3.9 * x,
        |s| *s == Shortfall::StateLimits,
    ),
    (
        "action limits",
        |b, x| b.action_limit = 1.01 + x,
        |s| *s == Shortfall::ActionLimits,
    ),
    (
        "start",
        |b, x| b.start = 0.99 * x,
        |s| *s == Shortfall::Initial,
    ),
    (
        "no constraint",
        |b, _| b.constraints.clear(),
        |s| *s == Shortfall::Constraint(0),
    ),
    (
        "constraint",
        |b, x| b.constraints[0].0 = format!("{} - abs(s)", 2.01 + x),
        |s| *s == Shortfall::Constraint(0),
    ),
    (
        "variant",
        |b, _| b.variants = vec![Variant::DiscreteAdversaryInf],
        |s| *s == Shortfall::Variant,
    ),
    ("noise", |b, _| b.noise = false, |s| *s == Shortfall::Noise),
    (
        "beta",
        |b, x| b.beta = 0.89 * 10f32.powf(-30.0 * x),
        |s| *s == Shortfall::Beta,
    ),
    (
        "effort",
        |b, x| match (x * 3.0) as u32 {
            0 => b.effort.trajectories = 2 + (x * 50.0) as u32,
            1 => b.effort.searched = 2 + (x * 2.0) as u32 - 1,
            _ => b.effort.iterations = (x * 7.9) as u32,
        },
        |s| {
            matches!(
                s,
                Shortfall::Trajectories | Shortfall::Searched | Shortfall::Sweeps
            )
        },
    ),
    (
        "allocation",
        |b, _| b.effort.allocation = Allocation::Focused,
        |s| *s == Shortfall::Allocation,
    ),
    (
        "any distribution",
        |b, _| b.distribution_free = Some(false),
        |s| *s == Shortfall::DistributionFree,
    ),
    (
        "calibration",
        |b, x| {
            b.calibration = if x < 0.5 {
                Calibration::Failed
            } else {
                Calibration::Blind(9)
            }
        },
        |s| *s == Shortfall::Calibration,
    ),
    (
        "narrow model",
        |b, x| b.offset = 0.001 + 0.075 * x,
        |s| matches!(s, Shortfall::Coverage(outside) if *outside > 17),
    ),
    (
        "laundered model",
        |b, x| (b.offset, b.noise_scale) = (1e-6, 40.0 + 20.0 * x),
        |s| *s == Shortfall::WideNoise(256),
    ),
    (
        "wide noise",
        |b, x| b.noise_scale = 2.01 + 8.0 * x,
        |s| *s == Shortfall::WideNoise(256),
    ),
    (
        "no monitor",
        |b, _| b.about.monitor = None,
        |s| *s == Shortfall::Monitor,
    ),
    (
        "monitor's width",
        |b, x| monitor(b).noise_width = 2.801 + 10f32.powf(30.0 * x),
        |s| *s == Shortfall::MonitorWidth,
    ),
    (
        "monitor's rate",
        |b, x| monitor(b).surprise_rate = 0.0501 + 0.94 * x,
        |s| *s == Shortfall::MonitorRate,
    ),
    (
        "monitor's alpha",
        |b, x| monitor(b).alpha = 0.0099 * 10f32.powf(-30.0 * x),
        |s| *s == Shortfall::MonitorAlpha,
    ),
    (
        "no fallback",
        |b, _| b.fallback = None,
        |s| *s == Shortfall::Fallback,
    ),
];

/// 40 of each kind, drawn.
#[test]
fn lax_bundles_are_refused_by_their_field() {
    let folder = Folder::new("floor");
    let good = PointBundle::default();
    let floor = floor_of(&good, &folder);
    assert_eq!((floor.transitions, floor.shortfall), (256, None));
    assert_eq!(admitted(&floor, &good.bundle().unwrap()), Ok(()));
    let draw = &mut Draw::new(0xF1008);
    let (mut refused, mut would_deploy) = (0, 0);
    for (name, change, named) in CHANGES {
        for _ in 0..40 {
            let mut lax = good.clone();
            change(&mut lax, draw.between(0.0, 1.0));
            let bundle = lax.bundle().unwrap();
            match admitted(&floor, &bundle) {
                Err(Refused::Floor(shortfall)) => {
                    assert!(named(&shortfall), "{name}: {shortfall:?}")
                }
                other => panic!("{name}: {other:?}"),
            }
            refused += 1;
            // Without the floor many of them pass: it is the floor that holds them.
            let parsed = Bundle::parse(bundle.as_bytes()).unwrap();
            would_deploy += usize::from(
                check::<LANES>(parsed.image(), Watch::NONE)
                    .unwrap()
                    .outcome
                    .verdict
                    .name()
                    == "deploy",
            );
        }
    }
    println!(
        "{refused} lax bundles refused by their field; {would_deploy} of them pass their own check"
    );
    assert_eq!(refused, 1400);
    assert!(would_deploy > 600, "{would_deploy}");
}

/// Without a width of its own a floor asks for that of its model.
#[test]
fn the_floors_width_is_its_models() {
    let folder = Folder::new("floor-width");
    let good = PointBundle {
        beta: 1.3,
        ..PointBundle::default()
    };
    let file = folder.0.join("log.csv");
    fs::write(&file, log(2000)).unwrap();
    let task = good.task().unwrap();
    let log = read_task_logs(&[file], &task).unwrap();
    let part = AlignedBytes::new(&good.model_part().unwrap());
    let mut options = good.floor_options();
    options.beta = None;
    let floor = robot_floor(&task, part.as_bytes(), &log, &options).unwrap();
    assert!((floor.beta - 1.3).abs() < 1e-3, "{}", floor.beta);
    assert_eq!(admitted(&floor, &good.bundle().unwrap()), Ok(()));
    let narrower = PointBundle { beta: 1.29, ..good };
    let refused = Err(Refused::Floor(Shortfall::Beta));
    assert_eq!(admitted(&floor, &narrower.bundle().unwrap()), refused);
}

/// More than the robot asks is as good: another constraint, a higher threshold, a wider set.
#[test]
fn a_bundle_that_asks_for_more_is_taken() {
    let folder = Folder::new("floor-more");
    let good = PointBundle::default();
    let floor = floor_of(&good, &folder);
    let changes: [fn(&mut PointBundle); 8] = [
        |b| b.threshold = Some(-1.9),
        |b| b.delta = 0.05,
        // The noise of another model of the same robot, and a monitor that sees more.
        |b| b.noise_scale = 1.9,
        |b| (b.noise_scale, b.offset) = (0.1, 0.11),
        |b| {
            let monitor = monitor(b);
            (monitor.noise_width, monitor.surprise_rate) = (2.5, 0.02);
            monitor.alpha = 0.05;
        },
        |b| b.constraints.insert(0, ("3 - s".into(), true)),
        |b| (b.offset, b.beta) = (0.12, 1.2),
        |b| (b.about.counter, b.effort.trajectories) = (8, 30),
    ];
    for change in changes {
        let mut more = good.clone();
        change(&mut more);
        assert_eq!(
            admitted(&floor, &more.bundle().unwrap()),
            Ok(()),
            "{more:?}"
        );
    }
}

/// A longer horizon collects more of a positive reward: such a bundle would pass its own check.
#[test]
fn a_longer_horizon_is_another_question() {
    let folder = Folder::new("floor-longer");
    let good = PointBundle {
        reward: "1 - s^2".into(),
        threshold: Some(3.0),
        ..PointBundle::default()
    };
    let floor = floor_of(&good, &folder);
    let longer = PointBundle {
        horizon: 8,
        ..good.clone()
    };
    let verdict = |bundle: &PointBundle| {
        let bytes = bundle.bundle().unwrap();
        let parsed = Bundle::parse(bytes.as_bytes()).unwrap();
        let checked = check::<LANES>(parsed.image(), Watch::NONE).unwrap();
        (checked.outcome.verdict.name(), admitted(&floor, &bytes))
    };
    assert_eq!(verdict(&good), ("reject", Ok(())));
    let refused = Err(Refused::Floor(Shortfall::Horizon));
    assert_eq!(verdict(&longer), ("deploy", refused));
}

#[test]
fn a_floor_of_an_earlier_format_is_refused_by_name() {
    let folder = Folder::new("floor-earlier");
    let good = PointBundle::default();
    let floor = floor_of(&good, &folder).bytes;
    let mut bytes = floor.as_bytes().to_vec();
    for (version, problem) in [(12, Problem::EarlierVersion), (14, Problem::LaterVersion)] {
        bytes[4] = version;
        let aligned = AlignedBytes::new(&bytes);
        let error = Floor::parse_prefix(aligned.as_bytes())
            .map(|_| ())
            .unwrap_err();
        assert_eq!((error.part, error.problem), (Part::Floor, problem));
    }
    let text = hambo_base::Error::from(ImageError {
        part: Part::Floor,
        problem: Problem::EarlierVersion,
    });
    assert!(
        text.to_string().contains("write it again with hambo floor"),
        "{text}"
    );
}

/// Parts of two bundles, each with its own right hash, under the manifest of one.
#[test]
fn mixed_bundles_are_refused() {
    let strict = PointBundle::default();
    let lax = PointBundle {
        threshold: Some(-100.0),
        offset: 0.01,
        gain: 0.0,
        fallback: Some(0.0),
        ..PointBundle::default()
    };
    let parts = |bundle: &AlignedBytes| -> Vec<Vec<u8>> {
        let mut rest = bundle.as_bytes();
        let mut parts = Vec::new();
        while let Some(length) = rest.get(8..12) {
            let length = 64 + u32::from_le_bytes(length.try_into().unwrap()) as usize;
            parts.push(rest[..length].to_vec());
            rest = &rest[length..];
        }
        parts
    };
    let (strict, lax) = (strict.bundle().unwrap(), lax.bundle().unwrap());
    let (own, other) = (parts(&strict), parts(&lax));
    assert_eq!(own.len(), 5);
    for mixture in 1..31_usize {
        let chosen = (0..5).map(|place| {
            if mixture >> place & 1 == 1 {
                &other[place]
            } else {
                &own[place]
            }
        });
        let bytes = AlignedBytes::new(&chosen.cloned().collect::<Vec<_>>().concat());
        let error = Bundle::parse(bytes.as_bytes()).map(|_| ()).unwrap_err();
        assert_eq!(error.problem, Problem::NotListed, "{mixture:05b}");
        assert_ne!(error.part, Part::Image);
    }
    // A part too few, and one that nobody lists.
    let short = AlignedBytes::new(&own[..4].concat());
    assert!(Bundle::parse(short.as_bytes()).is_err());
    let long = AlignedBytes::new(&[own.concat(), own[4].clone()].concat());
    assert!(Bundle::parse(long.as_bytes()).is_err());
}
