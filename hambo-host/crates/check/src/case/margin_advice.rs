//! What the sampling margins assume, and what would make them assume less.

use hambo_core::adversary::levels;
use hambo_core::check::Estimate;
use hambo_core::estimate::{Margin, trajectories_for_betting};
use hambo_core::task::{Constraint, InitialKind, Objective};

use super::system::System;
use crate::names::objective_name;
use hambo_task::task::TaskFile;

/// More values than this are no advice.
const MOST: u32 = 10_000_000;

/// What a bound assumes of the values that were sampled, after a semicolon.
pub(super) fn sampling(estimates: &[Estimate], task: &TaskFile, system: &System<'_>) -> String {
    let adversarial = estimates.iter().filter(|one| one.variant.has_adversary());
    let adversarial: Vec<&Estimate> = adversarial.collect();
    let student = adversarial
        .iter()
        .filter(|one| one.margin == Margin::StudentT);
    let student: Vec<&Estimate> = student.copied().collect();
    if student.is_empty() {
        let corrections = adversarial.iter().filter_map(|one| one.correction);
        let mut margins = corrections.map(|level| level.margin);
        return if margins.any(|margin| margin == Margin::StudentT) {
            "; the search\u{2019}s correction is close to normal".to_owned()
        } else {
            String::new()
        };
    }
    let settled = if student.iter().all(|one| is_settled(one, system)) {
        "; without this, by betting, the sampled returns reach every threshold too"
    } else {
        ""
    };
    format!(
        "; returns are close to normal or their tails were met (Student\u{2019}s t: {} for a margin \
         without this{settled})",
        advice(&student, task, system)
    )
}

/// Whether the sampled level's bound for any distribution would do in place of Student's: the
/// number of trajectories was settled before they were drawn, so it holds beside the other.
fn is_settled(one: &Estimate, system: &System<'_>) -> bool {
    let threshold = match one.objective {
        Objective::Return => system.task.threshold,
        objective => system.task.constraint(objective).map(Constraint::threshold),
    };
    let correction = one.correction.map_or(0.0, |level| level.lower);
    let bound = one.sampled.distribution_free + correction;
    // A bound that is no number reaches nothing.
    threshold.is_some_and(|threshold| bound >= threshold)
}

/// What to give for a margin by betting: bounds where there are none, else as many values as
/// it takes for those bounds.
fn advice(student: &[&Estimate], task: &TaskFile, system: &System<'_>) -> String {
    let unbounded = |one: &&&Estimate| !system.task.is_bounded(one.objective);
    if let Some(one) = student.iter().find(unbounded) {
        return match one.objective {
            Objective::Return if task.return_bounds.is_some() => {
                "give return_high as well".to_owned()
            }
            Objective::Return => "give bounds of the reward".to_owned(),
            Objective::Constraint(_) => format!(
                "give limits of the states that bound the constraint {}",
                objective_name(task, one.objective)
            ),
        };
    }
    let needed = student.iter().map(|one| (values_needed(one, system), one));
    let Some((values, one)) = needed.max_by_key(|(values, _)| *values) else {
        return String::new();
    };
    if values > MOST {
        let name = objective_name(task, one.objective);
        let [low, high] = system.task.bounds(one.objective).unwrap_or_default();
        return format!(
            "the {name} lies near 0 beside its bounds {low} and {high}, narrower ones are needed"
        );
    }
    match system.task.initial.kind {
        InitialKind::Logged => format!("log {values} episodes"),
        InitialKind::Worst => format!(
            "give --trajectories {values}, since {} starts share them,",
            system.starts_of_their_own()
        ),
        _ => format!("give --trajectories {values}"),
    }
}

/// Values with which the bounds of an objective cost little.
fn values_needed(one: &Estimate, system: &System<'_>) -> u32 {
    let Some(bounds) = system.task.bounds(one.objective) else {
        return 0;
    };
    let levels = levels(&system.rollout(one.variant, one.objective));
    let level = system.task.error_budget().level(levels);
    let values = trajectories_for_betting(bounds, one.sampled.mean, level);
    values.saturating_mul(system.starts_of_their_own())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use hambo_core::task::{DistributionFree, InitialState, Task};

    use super::*;
    use crate::search::parallel::{Watch, check};

    const STARTS: [f32; 3] = [1.0, 1.5, 2.0];

    fn named() -> TaskFile {
        let text = "name = 'point'\nhorizon = 4\n[state]\nnames = ['s']\n[action]\n\
                    names = ['a']\nlow = [-1]\nhigh = [1]\n[reward]\nexpr = '-s^2'\n\
                    [initial]\nkind = 'point'\nvalue = [1]\n\
                    [[constraint]]\nname = 'near'\nexpr = '2 - abs(s)'\n";
        TaskFile::parse(text, "point.toml").unwrap()
    }

    /// What a check of the example says.
    fn said(change: impl Fn(&mut Task<'static>)) -> String {
        let image = hambo_core::example::image_with(|task| {
            task.constraints.clear();
            task.plan.effort.trajectories = 300;
            task.plan.effort.iterations = 2;
            change(task);
        });
        let image = image.unwrap();
        let outcome = check::<8>(&image, Watch::NONE).unwrap().outcome;
        sampling(&outcome.estimates, &named(), &System::from(&image))
    }

    fn start(task: &mut Task<'_>, kind: InitialKind) {
        task.return_bounds = Some([-20.0, 0.0]);
        let box_of = [&STARTS[..1], &STARTS[2..]];
        let [first, second] = match kind {
            InitialKind::Uniform => box_of,
            _ => [&STARTS[..], &[]],
        };
        task.initial = InitialState {
            kind,
            first,
            second,
        };
    }

    /// The number that an advice gives.
    fn number(said: &str, before: &str) -> u32 {
        let (_, rest) = said.split_once(before).unwrap();
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap()
    }

    #[test]
    fn bounds_are_asked_for_only_where_there_are_none() {
        let text = said(|task| task.return_bounds = None);
        assert!(text.contains("give bounds of the reward"), "{text}");
        let text = said(|task| {
            task.return_bounds = Some([-3.0, 0.0]);
            task.plan.effort.trajectories = 5000;
            let near = hambo_core::task::Constraint::mean(5);
            task.constraints.push(near).unwrap();
        });
        assert!(text.contains("that bound the constraint near"), "{text}");
        for kind in [
            InitialKind::Uniform,
            InitialKind::Worst,
            InitialKind::Logged,
        ] {
            let text = said(|task| start(task, kind));
            assert!(text.contains("Student"), "{text}");
            assert!(!text.contains("bounds"), "{text}");
        }
        let text = said(|task| {
            start(task, InitialKind::Uniform);
            task.return_bounds = Some([-1e9, 0.0]);
        });
        assert!(text.contains("narrower ones are needed"), "{text}");
    }

    #[test]
    fn a_threshold_that_betting_reaches_too_is_said_to_be() {
        let text = |threshold: Option<f32>| {
            said(|task| {
                start(task, InitialKind::Uniform);
                task.threshold = threshold;
            })
        };
        let told = "by betting, the sampled returns reach every threshold too";
        let [far, near, none] = [Some(-15.0), Some(-3.4), None].map(text);
        assert!(far.contains(told) && far.contains("Student"), "{far}");
        assert!(!near.contains(told) && near.contains("Student"), "{near}");
        assert!(!none.contains(told), "{none}");
    }

    /// Who does what the text says is rid of Student's t.
    #[test]
    fn the_number_of_trajectories_that_is_advised_helps() {
        for kind in [InitialKind::Uniform, InitialKind::Worst] {
            let text = said(|task| start(task, kind));
            let needed = number(&text, "--trajectories ");
            let text = said(|task| {
                start(task, kind);
                task.plan.effort.trajectories = needed;
            });
            assert!(!text.contains("Student"), "{needed}: {text}");
            // A tenth of it does not.
            let text = said(|task| {
                start(task, kind);
                task.plan.effort.trajectories = needed / 10;
            });
            assert!(text.contains("Student"), "{needed}: {text}");
        }
        let text = said(|task| start(task, InitialKind::Worst));
        assert!(text.contains("since 3 starts share them"), "{text}");
        let text = said(|task| start(task, InitialKind::Logged));
        assert!(number(&text, "log ") > 1000, "{text}");
    }

    #[test]
    fn nothing_is_assumed_of_returns_where_the_task_asks_for_that() {
        let text = said(|task| {
            start(task, InitialKind::Uniform);
            task.distribution_free = DistributionFree::Everything;
        });
        assert_eq!(text, "");
    }
}
