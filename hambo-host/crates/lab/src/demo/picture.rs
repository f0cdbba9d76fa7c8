//! Figure 1: what a controller does, what the mean model thinks, and what the adversary finds.
//!
//! Which controller it shows is a rule that was written down before any picture was drawn: of the
//! study's models in the order of their seeds the first under which the neutral estimate deploys
//! a controller that both truth and CA refuse; of several under it the one with the highest
//! neutral estimate. If no model has one, pi_1.1 under the demo's own model.

use std::path::{Path, PathBuf};

use super::controller::CheckedController;
use super::experiment::Experiment;
use super::study::Judged;
use hambo_base::Error;
use hambo_check::system::System;
use hambo_check::trace::{Trace, neutral_traces, traces};
use hambo_core::image::Image;
use hambo_report::figure::{AdversarialStep, PointSafetyFigure};

/// Draws the controller that the rule chooses, or `usual`; returns the picture's path.
pub(super) fn draw(
    seeds: &[u64],
    by_model: &[Vec<Judged>],
    usual: (&Experiment, &CheckedController),
    stem: &Path,
) -> Result<PathBuf, Error> {
    let known = "The model knows only a safe controller’s log.";
    let Some((seed, y, models)) = chosen(seeds, by_model) else {
        let caption = format!(
            "{known} The adversary may pick any next state inside the model’s confidence sets."
        );
        return draw_one(usual.0, usual.1, caption, stem);
    };
    let experiment = Experiment::new(seed)?;
    let controller = CheckedController::check(&experiment, y, None, None)?;
    let caption = format!(
        "{known} In {models} of {} models the neutral estimate deploys an unsafe controller that \
         HAMBO-CA refuses; this is the first.",
        seeds.len()
    );
    draw_one(&experiment, &controller, caption, stem)
}

/// Seed and waypoint by the rule above, and how many models have such a controller.
fn chosen(seeds: &[u64], by_model: &[Vec<Judged>]) -> Option<(u64, f32, usize)> {
    let misled = seeds.iter().zip(by_model).filter_map(|(seed, judged)| {
        let judged = judged.iter();
        let judged =
            judged.filter(|one| one.neutral_deploys && !one.truth_deploys && !one.ca_deploys);
        let highest = judged.max_by(|a, b| a.neutral.total_cmp(&b.neutral))?;
        Some((*seed, highest.y))
    });
    let misled: Vec<(u64, f32)> = misled.collect();
    let (seed, y) = misled.first()?;
    Some((*seed, *y, misled.len()))
}

fn plane(state: &[f32]) -> [f32; 2] {
    [state[0], state[1]]
}

fn draw_one(
    experiment: &Experiment,
    controller: &CheckedController,
    caption: String,
    stem: &Path,
) -> Result<PathBuf, Error> {
    let bytes = experiment.image(controller.y)?;
    let image = Image::parse(bytes.as_bytes())?;
    let system = System::from(&image);
    let first = |traces: Vec<Trace>| traces.into_iter().next().unwrap_or_default();
    let (neutral, adversarial) = match controller.findings.first() {
        Some(found) => (neutral_traces(&system, found)?, traces(&system, found)?),
        None => (Vec::new(), Vec::new()),
    };
    let (neutral, adversarial) = (first(neutral), first(adversarial));
    let sets = adversarial.sets(&system);
    let figure = PointSafetyFigure {
        waypoint: controller.y,
        caption,
        logged: experiment
            .log
            .rows()
            .map(|row| [plane(row.state), plane(row.next_state)])
            .collect(),
        true_path: controller.truth.states.clone(),
        neutral_path: neutral.states.iter().map(|state| plane(state)).collect(),
        adversarial_steps: sets
            .iter()
            .zip(adversarial.states.iter().skip(1))
            .map(|(set, next_state)| AdversarialStep {
                mean: plane(&set.center),
                half_width: plane(&set.half_width),
                next_state: plane(next_state),
            })
            .collect(),
        true_return: controller.truth.value,
        neutral_return: controller.outcome.neutral,
        bound: controller.outcome.bound,
        threshold: controller.outcome.threshold.unwrap_or(f32::NAN),
        verdict: controller.outcome.verdict.name(),
    };
    Ok(figure.write_picture(stem)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_model_that_is_misled_and_its_highest_estimate() {
        let judged = |y, neutral, [truth_deploys, neutral_deploys, ca_deploys]: [bool; 3]| Judged {
            y,
            neutral,
            truth_deploys,
            neutral_deploys,
            ca_deploys,
        };
        let misled = [false, true, false];
        let by_model = [
            vec![judged(1.0, -90.0, [false; 3]), judged(1.1, -1.0, [true; 3])],
            vec![judged(1.0, -50.0, misled), judged(1.1, -40.0, misled)],
            vec![
                judged(1.0, -30.0, misled),
                judged(1.1, -9.0, [false, true, true]),
            ],
        ];
        assert_eq!(chosen(&[7, 8, 9], &by_model), Some((8, 1.1, 2)));
        assert_eq!(chosen(&[7], &by_model[..1]), None);
    }
}
