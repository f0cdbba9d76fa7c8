//! Every field that a bundle sets is one that the floor names, or one of those that
//! docs/guide/device.md lists with the reason why the floor leaves it to the bundle. A new field
//! does not compile here, and one without a place fails.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;

use hambo_core::image::{
    BundleManifest, DynamicsManifest, EnsembleManifest, GaussianProcessManifest,
    GroupedGaussianProcessManifest, ModelManifest, MonitorSettings, NoiseManifest, TaskManifest,
};
use hambo_core::task::{Effort, Method, Physics};

/// The names of a struct's fields: all of them, or this does not compile.
macro_rules! fields {
    ($name:literal, $kind:ident $(<$life:lifetime>)? { $($field:ident),* $(,)? }) => {{
        let _: fn(&$kind$(<$life>)?) = |value| { let $kind { $($field: _),* } = value; };
        vec![$(concat!($name, ".", stringify!($field))),*]
    }};
}

/// All fields of a bundle's manifests. What lies in the arenas (weights, limits, starts) is named
/// by the field that says how much there is.
fn fields() -> Vec<&'static str> {
    let dynamics = |manifest: &DynamicsManifest| match manifest {
        DynamicsManifest::Ensemble(_)
        | DynamicsManifest::GaussianProcess(_)
        | DynamicsManifest::GroupedGaussianProcess(_) => {}
    };
    let _ = dynamics;
    [
        fields!(
            "bundle",
            BundleManifest {
                board,
                robot,
                counter,
                period,
                monitor,
                has_fallback,
                parts,
            }
        ),
        fields!(
            "monitor",
            MonitorSettings {
                noise_width,
                surprise_rate,
                alpha
            }
        ),
        fields!(
            "task",
            TaskManifest<'_> {
                state_dimension,
                action_dimension,
                horizon,
                discount,
                delta,
                threshold,
                distribution_free,
                reward_bounds,
                return_bounds,
                constraint_bounds,
                effort,
                method,
                refused_by_host,
                adversaries,
                physics,
                wraps,
                initial,
                initial_count,
                ops,
                reward,
                termination,
                power_off,
                constraints,
            }
        ),
        fields!(
            "effort",
            Effort {
                trajectories,
                searched,
                iterations,
                seed,
                allocation
            }
        ),
        fields!(
            "method",
            Method {
                variants,
                aleatoric_noise,
                penalty,
                step_limit
            }
        ),
        fields!(
            "physics",
            Physics {
                inputs,
                known,
                circles
            }
        ),
        fields!(
            "model",
            ModelManifest {
                features,
                action_dimension,
                outputs,
                beta,
                calibration,
                tested_steps,
                support_rows,
                support_limit,
                support_gaps,
                support_exit_rate,
                noise,
                width_regions,
                dynamics,
            }
        ),
        fields!(
            "noise",
            NoiseManifest {
                factor,
                extremes,
                offsets
            }
        ),
        fields!(
            "ensemble",
            EnsembleManifest {
                members,
                hidden,
                activation,
                std_floor,
                std_cap,
                prior_units,
            }
        ),
        fields!("process", GaussianProcessManifest { points, kernels }),
        fields!(
            "process",
            GroupedGaussianProcessManifest { process, groups }
        ),
    ]
    .concat()
}

/// What the floor names, and the field of the floor that does it. `floor::CHANGES` and the tests of
/// `hambo_core::floor` have a lax bundle for each.
const GUARDED: [(&str, &str); 32] = [
    ("bundle.board", "Board"),
    ("bundle.robot", "Robot"),
    ("bundle.counter", "Counter"),
    ("bundle.period", "Period"),
    ("bundle.monitor", "Monitor"),
    ("bundle.has_fallback", "Fallback"),
    ("monitor.noise_width", "MonitorWidth"),
    ("monitor.surprise_rate", "MonitorRate"),
    ("monitor.alpha", "MonitorAlpha"),
    ("task.state_dimension", "Dimension"),
    ("task.action_dimension", "Dimension"),
    ("task.horizon", "Horizon"),
    ("task.discount", "Reward"),
    ("task.delta", "Delta"),
    ("task.threshold", "Threshold"),
    ("task.distribution_free", "DistributionFree"),
    ("task.wraps", "StateLimits"),
    ("task.initial", "Initial"),
    ("task.ops", "Reward"),
    ("task.reward", "Reward"),
    ("task.termination", "Termination"),
    ("task.power_off", "PowerOff"),
    ("task.constraints", "Constraint"),
    ("effort.trajectories", "Trajectories"),
    ("effort.searched", "Searched"),
    ("effort.iterations", "Sweeps"),
    ("effort.allocation", "Allocation"),
    ("method.variants", "Variant"),
    ("method.aleatoric_noise", "Noise"),
    ("physics.known", "Known"),
    ("physics.circles", "Known"),
    ("model.beta", "Beta"),
];

/// The model's own word on itself, which the floor takes or leaves as a whole.
const ALSO_GUARDED: [(&str, &str); 1] = [("model.calibration", "Calibration")];

/// Fields that hold others.
const PARTS: [&str; 7] = [
    "bundle.parts",
    "task.effort",
    "task.method",
    "task.physics",
    "model.noise",
    "model.dynamics",
    "process.process",
];

/// The names in the first column of the guide's table.
fn argued() -> BTreeSet<String> {
    let guide = include_str!("../../docs/guide/device.md");
    let (_, table) = guide.split_once("| the bundle's word |").unwrap();
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let columns = rows.filter_map(|row| row.split('|').nth(1));
    let names = columns.flat_map(|names| names.split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

#[test]
fn every_field_of_a_bundle_is_guarded_or_argued() {
    let floor = include_str!("../../hambo-core/src/floor/admission.rs");
    let argued = argued();
    let guarded = GUARDED.iter().chain(&ALSO_GUARDED);
    let guarded: BTreeSet<&str> = guarded
        .map(|(field, shortfall)| {
            let named = format!("Shortfall::{shortfall}");
            assert!(floor.contains(&named), "{field}: the floor has no {named}");
            *field
        })
        .collect();
    let all = fields();
    for field in &all {
        let places = [
            guarded.contains(field),
            argued.contains(*field),
            PARTS.contains(field),
        ];
        let count = places.iter().filter(|there| **there).count();
        assert_eq!(
            count, 1,
            "{field} is guarded, argued, holds others: {places:?}"
        );
    }
    // And neither list names what is no field.
    let named = { guarded.into_iter().map(str::to_owned) }.chain(argued);
    for name in named.chain(PARTS.map(str::to_owned)) {
        assert!(all.contains(&name.as_str()), "no field is called {name}");
    }
}
