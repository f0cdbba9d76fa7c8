//! Bundles that were bent where a floor once did not look: 500 laundered models, 500 longer
//! horizons, 500 monitors that see nothing. None is admitted, and the field is named.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use hambo_check::parallel::{LANES, Watch, check};
use hambo_core::floor::Shortfall;
use hambo_core::image::Bundle;
use hambo_tests::fixture::Draw;
use hambo_tests::point_robot::PointBundle;

use super::floor::{Folder, Refused, admitted, floor_of};

const BUNDLES: usize = 500;

/// Every so many of the bundles is checked by itself too: without a floor it would drive.
const CHECKED: usize = 25;

/// A number between two others whose logarithm is drawn evenly.
fn spread(draw: &mut Draw, low: f32, high: f32) -> f32 {
    10_f32.powf(draw.between(low.log10(), high.log10()))
}

/// Bends 500 bundles; how many would pass their own check, of how many that were checked.
fn refused(
    seed: u64,
    good: &PointBundle,
    bend: impl Fn(&mut PointBundle, &mut Draw),
    named: impl Fn(Shortfall) -> bool,
) -> [usize; 2] {
    let folder = Folder::new(&format!("bent-{seed}"));
    let floor = floor_of(good, &folder);
    assert_eq!(admitted(&floor, &good.bundle().unwrap()), Ok(()));
    let draw = &mut Draw::new(seed);
    let (mut deploys, mut checked) = (0, 0);
    for number in 0..BUNDLES {
        let mut bent = good.clone();
        bend(&mut bent, draw);
        let bytes = bent.bundle().unwrap();
        match admitted(&floor, &bytes) {
            Err(Refused::Floor(shortfall)) => assert!(named(shortfall), "{shortfall:?}: {bent:?}"),
            other => panic!("{other:?}: {bent:?}"),
        }
        if number.is_multiple_of(CHECKED) {
            let parsed = Bundle::parse(bytes.as_bytes()).unwrap();
            let verdict = check::<LANES>(parsed.image(), Watch::NONE)
                .unwrap()
                .outcome
                .verdict;
            deploys += usize::from(verdict.name() == "deploy");
            checked += 1;
        }
    }
    println!("seed {seed}: {BUNDLES} refused; {deploys} of {checked} pass their own check");
    [deploys, checked]
}

/// A set that is as good as nothing, under noise that holds every transition of the robot.
#[test]
fn laundered_models_are_refused() {
    let [deploys, checked] = refused(
        1,
        &PointBundle::default(),
        |bent, draw| {
            bent.offset = spread(draw, 1e-6, 0.03);
            bent.noise_scale = spread(draw, 2.1, 80.0);
        },
        |shortfall| matches!(shortfall, Shortfall::WideNoise(_) | Shortfall::Coverage(_)),
    );
    assert!(2 * deploys > checked, "{deploys} of {checked}");
}

/// Where the reward is positive, more steps collect more of it.
#[test]
fn longer_horizons_are_refused() {
    let good = PointBundle {
        reward: "1 - s^2".into(),
        threshold: Some(3.0),
        ..PointBundle::default()
    };
    let [deploys, checked] = refused(
        2,
        &good,
        |bent, draw| bent.horizon = 5 + draw.below(40) as u32,
        |shortfall| shortfall == Shortfall::Horizon,
    );
    assert!(2 * deploys > checked, "{deploys} of {checked}");
}

#[test]
fn blind_monitors_are_refused() {
    let [deploys, checked] = refused(
        3,
        &PointBundle::default(),
        |bent, draw| {
            let kind = draw.below(4);
            let wide = spread(draw, 2.81, 1e30);
            let rate = draw.between(0.051, 0.999);
            let alpha = spread(draw, 1e-30, 0.0099);
            let monitor = bent.about.monitor.as_mut().unwrap();
            match kind {
                0 => monitor.noise_width = wide,
                1 => monitor.surprise_rate = rate,
                2 => monitor.alpha = alpha,
                _ => bent.about.monitor = None,
            }
        },
        |shortfall| {
            use Shortfall::{Monitor, MonitorAlpha, MonitorRate, MonitorWidth};
            matches!(
                shortfall,
                Monitor | MonitorAlpha | MonitorRate | MonitorWidth
            )
        },
    );
    assert_eq!(deploys, checked);
}

/// The control: other honest bundles of the same robot.
#[test]
fn honest_bundles_are_admitted() {
    let folder = Folder::new("bent-honest");
    let floor = floor_of(&PointBundle::default(), &folder);
    let draw = &mut Draw::new(4);
    for _ in 0..BUNDLES {
        let mut honest = PointBundle::default();
        honest.about.counter += draw.below(100) as u32;
        honest.threshold = Some(draw.between(-2.0, -1.0));
        honest.offset = draw.between(0.1, 0.2);
        honest.noise_scale = spread(draw, 0.1, 1.9);
        honest.beta = draw.between(0.95, 2.0);
        honest.gain = draw.between(-1.0, 0.0);
        honest.effort.trajectories += draw.below(50) as u32;
        let monitor = honest.about.monitor.as_mut().unwrap();
        monitor.noise_width = draw.between(1.0, 2.8);
        monitor.surprise_rate = draw.between(0.001, 0.05);
        monitor.alpha = draw.between(0.01, 0.2);
        assert_eq!(
            admitted(&floor, &honest.bundle().unwrap()),
            Ok(()),
            "{honest:?}"
        );
    }
}
