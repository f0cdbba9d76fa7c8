//! From the text of a task file to a checked [`TaskFile`].

use super::checker::Checker;
use super::error::TaskError;
use super::initial::start_memory;
use super::known::Known;
use super::learned_reward::add_to_task;
use super::locate::syntax;
use super::raw::Raw;
use super::task_file::{Reward, TaskFile};
use crate::expression::{Compiler, Names};

/// `other_horizon` stands for the file's own, in expressions too.
pub(super) fn parse(
    text: &str,
    origin: &str,
    other_horizon: Option<u32>,
) -> Result<TaskFile, TaskError> {
    let raw: Raw = toml::from_str(text).map_err(|problem| syntax(text, origin, &problem))?;
    let check = Checker { origin, text };

    let name = check.present("name", raw.name, "write for example name = \"pendulum\"")?;
    let horizon = check.present("horizon", raw.horizon, "write for example horizon = 200")?;
    let horizon = other_horizon.unwrap_or(check.steps(horizon)?);
    let delta = check.delta(raw.delta)?;
    let discount = check.discount(raw.discount)?;
    check.threshold(raw.threshold)?;
    let time_step = check.time_step(raw.time_step)?;

    let state = check.present("state", raw.state, "add [state] with names = [...]")?;
    let state_names = check.names("state.names", state.names, &[])?;
    let states = state_names.len();
    let state_low = check.limits("state.low", state.low, states, false)?;
    let state_high = check.limits("state.high", state.high, states, false)?;
    if let (Some(low), Some(high)) = (&state_low, &state_high) {
        check.below("state.low", low, high, &state_names)?;
    }
    let wraps = check.wraps(state.wrap, &state_names, [&state_low, &state_high])?;

    let limits = [&state_low, &state_high];
    let circles = check.circles(state.circle, &state_names, &wraps, limits)?;
    let written = check.written_states(raw.known, &state_names)?;

    let help = "add [action] with names, low and high";
    let action = check.present("action", raw.action, help)?;
    let action_names = check.names("action.names", action.names, &state_names)?;
    let actions = action_names.len();
    let action_low = check.limits("action.low", action.low, actions, true)?;
    let action_high = check.limits("action.high", action.high, actions, true)?;
    let help = "give one number per action; the policy's output is clipped to it";
    let action_low = check.present("action.low", action_low, help)?;
    let action_high = check.present("action.high", action_high, help)?;
    check.below("action.low", &action_low, &action_high, &action_names)?;

    let help = "add [initial] with kind = \"point\", \"uniform\", \"gaussian\", \"worst\" or \
                \"data\"";
    let initial = check.present("initial", raw.initial, help)?;
    let names = Names {
        state: &state_names,
        action: &action_names,
        horizon,
    };
    let mut compiler = Compiler::new(names);
    let inputs = raw.model.and_then(|model| model.inputs);
    let known = check.known(names, inputs, written, circles, &mut compiler)?;
    let Known {
        physics,
        features,
        lines: known,
        memory,
    } = known;
    let logged = state_names.len() - memory.len();
    let mut initial = check.initial(initial, &state_names[..logged])?;
    start_memory(&mut initial, &memory);
    let help = "add [reward] with expr = \"...\", for example \"-abs(x)\"";
    let reward = check.present("reward", raw.reward, help)?;
    let reward_bounds = check.reward_bounds(&reward)?;
    let return_bounds = check.return_bounds(&reward)?;
    let learned = reward.learned.unwrap_or(false);
    let reward = match (learned, reward.expr) {
        (true, Some(_)) => {
            let problem = "is true, and there is a `reward.expr` as well";
            let help = "remove one of them: a reward is learned from the log or computed";
            return check.fail("reward.learned", problem, help);
        }
        // Its expression is added to the finished task.
        (true, None) => 0,
        (false, expression) => {
            let expression = check.present("reward.expr", expression, help)?;
            check.compiled("reward.expr", compiler.add(&expression))?
        }
    };
    let termination = match raw.termination {
        Some(termination) => {
            let key = "termination.expr";
            let help = "write for example expr = \"abs(x) > 3\", or leave [termination] out";
            let expression = check.present(key, termination.expr, help)?;
            Some(check.compiled(key, compiler.add_condition(&expression))?)
        }
        None => None,
    };
    let power_off = match raw.power_off {
        Some(power_off) => Some(check.power_off(power_off, &mut compiler)?),
        None => None,
    };
    let constraints = check.constraints(raw.constraint, &mut compiler)?;

    let mut task = TaskFile {
        name,
        horizon,
        delta,
        discount,
        threshold: raw.threshold,
        distribution_free: raw.distribution_free,
        time_step,
        stationary: raw.stationary.unwrap_or(false),
        ops: compiler.finish(),
        state_names,
        state_low,
        state_high,
        wraps,
        physics,
        features,
        known,
        memory,
        action_names,
        action_low,
        action_high,
        initial,
        reward: Reward::Computed(reward),
        reward_bounds,
        return_bounds,
        termination,
        power_off,
        constraints,
    };
    if learned && let Err(error) = add_to_task(&mut task) {
        let help = "shorten the other expressions";
        return check.fail("reward.learned", format!("finds no room: {error}"), help);
    }
    Ok(task)
}
