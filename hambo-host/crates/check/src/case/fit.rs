//! Whether a model was trained for a task.

use hambo_base::Error;
use hambo_learn::delta::decimal;
use hambo_learn::fit::CALIBRATING_RECORDINGS;
use hambo_learn::model_file::ModelFile;
use hambo_task::task::{ModelView, TaskFile, Wrap};

/// Whether a model can serve a task: the same states and actions, and a set that fails no
/// more often than the task allows.
///
/// # Errors
/// What does not fit, and what to do.
pub fn ensure_model_fits(task: &TaskFile, model: &ModelFile) -> Result<(), Error> {
    ensure_same_names(task, model)?;
    ensure_same_wraps(task, model)?;
    ensure_same_view(task, model)?;
    ensure_stationary(task, model)?;
    ensure_delta(task, model)
}

/// What a model was calibrated under is what the task says.
fn ensure_stationary(task: &TaskFile, model: &ModelFile) -> Result<(), Error> {
    let data = &model.metadata().data;
    if data.stationary && !task.stationary {
        return Err(Error::Usage(format!(
            "the model was calibrated on {} because its task said `stationary = true`, and this \
             task does not say it\n\
             help: write stationary = true before [state] if nothing of the system changes between \
             recordings (payload, battery, ground), or log {CALIBRATING_RECORDINGS} or more \
             recordings with a restart between them and fit again",
            recordings(data.recordings)
        )));
    }
    Ok(())
}

/// Recordings by their number.
pub(crate) fn recordings(count: usize) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} recording{plural}")
}

/// A set that was made for a larger delta is too small for this one.
fn ensure_delta(task: &TaskFile, model: &ModelFile) -> Result<(), Error> {
    let asked = decimal(task.delta);
    match model.metadata().delta {
        Some(fitted) if fitted as f32 > task.delta => Err(Error::Usage(format!(
            "the model's set was fitted for delta {fitted}, and a bound with delta {asked} is asked for\n\
             help: fit again with --delta {asked}"
        ))),
        _ => Ok(()),
    }
}

/// What wraps for the model wraps for the task: one that learnt jumps cannot be walked round,
/// and one that learnt none cannot be walked on.
fn ensure_same_wraps(task: &TaskFile, model: &ModelFile) -> Result<(), Error> {
    let trained_on = &model.metadata().view.wraps;
    let logged = task.logged_states().len();
    let states = task.state_names.iter().zip(&task.wraps).zip(trained_on);
    for ((name, wanted), trained) in states.take(logged) {
        if wanted != trained {
            let said = |wrap: &Option<Wrap>| match wrap {
                Some(Wrap { low, period }) => format!("wraps in {low} to {}", low + period),
                None => "does not wrap".to_owned(),
            };
            return Err(Error::Usage(format!(
                "the task says that {name} {}, and the model was trained as if it {}\n\
                 help: fit the model again",
                said(wanted),
                said(trained)
            )));
        }
    }
    Ok(())
}

/// The model's states and actions are the task's. States that the log does not have may
/// differ: they are a controller's memory.
fn ensure_same_names(task: &TaskFile, model: &ModelFile) -> Result<(), Error> {
    let metadata = model.metadata();
    let computed = metadata.view.memory.len() + usize::from(metadata.learned_reward);
    let logged = metadata.state_names.len().saturating_sub(computed);
    let trained_on = [
        metadata.state_names.get(..logged).unwrap_or_default(),
        &metadata.action_names,
    ];
    let named = [task.logged_states(), &task.action_names];
    if trained_on == named && metadata.learned_reward == task.learns_reward() {
        return Ok(());
    }
    let help = match (metadata.learned_reward, task.learns_reward()) {
        (false, true) => "the task learns its reward, the model did not: fit it again",
        (true, false) => "the model learned the reward, the task computes it: fit it again",
        _ => "choose the task of this model",
    };
    Err(Error::Usage(format!(
        "the model was trained for the states {} and the actions {}, the task names {} and {}\n\
         help: {help}",
        trained_on[0].join(", "),
        trained_on[1].join(", "),
        named[0].join(", "),
        named[1].join(", ")
    )))
}

/// What the model saw is what the task says it sees, and what it did not learn is what the task
/// computes.
fn ensure_same_view(task: &TaskFile, model: &ModelFile) -> Result<(), Error> {
    let (trained, wanted) = (&model.metadata().view, task.model_view());
    let other = |what: &str, fitted: &str, asked: &str| {
        let said = |text: &str| match text {
            "" => "none".to_owned(),
            text => text.to_owned(),
        };
        Err(Error::Usage(format!(
            "the model was fitted with {what}: {}; the task says: {}\n\
             help: fit the model again",
            said(fitted),
            said(asked)
        )))
    };
    let inputs = |view: &ModelView| view.features.join(", ");
    let known = |view: &ModelView| {
        let lines = view.known.iter();
        let lines: Vec<String> = lines
            .map(|line| format!("{} = {}", line.state, line.next))
            .collect();
        lines.join(", ")
    };
    // Spaces do not count.
    let same = |a: &str, b: &str| {
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        bare(a) == bare(b)
    };
    for (what, of) in [
        ("the inputs", &inputs as &dyn Fn(&ModelView) -> String),
        ("the known states", &known),
    ] {
        let (fitted, asked) = (of(trained), of(&wanted));
        if !same(&fitted, &asked) {
            return other(what, &fitted, &asked);
        }
    }
    Ok(())
}
