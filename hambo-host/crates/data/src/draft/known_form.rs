//! What a next state can be that follows without learning: one step of an integrator, an action
//! that is remembered, another state one step later.

use super::rows::LoggedRows;
use super::steps::{Step, at};

/// From what a state follows; the numbers are columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    /// x′ = x + h v.
    Euler(usize),
    /// x′ = x + h v′.
    SemiImplicit(usize),
    /// x′ = x + h (v + v′) / 2.
    Trapezoid(usize),
    /// x′ = u.
    Action(usize),
    /// x′ = v.
    Delay(usize),
}

impl Form {
    /// All that the next value of `state` could be, the preferred first.
    pub(super) fn all(state: usize, log: &LoggedRows) -> impl Iterator<Item = Self> {
        let (states, actions) = (log.states.len(), log.actions.len());
        let others = move |form: fn(usize) -> Self| {
            let columns = (0..states).filter(move |column| *column != state);
            columns.map(form)
        };
        others(Self::Euler)
            .chain(others(Self::SemiImplicit))
            .chain(others(Self::Trapezoid))
            .chain((0..actions).map(Self::Action))
            .chain(others(Self::Delay))
    }

    /// Whether it adds to the state, with a time step that has to be found.
    pub(super) fn integrates(self) -> bool {
        matches!(
            self,
            Self::Euler(_) | Self::SemiImplicit(_) | Self::Trapezoid(_)
        )
    }

    /// The state whose next value has to be there first.
    pub(super) fn waits_for(self) -> Option<usize> {
        match self {
            Self::SemiImplicit(v) | Self::Trapezoid(v) => Some(v),
            Self::Euler(_) | Self::Action(_) | Self::Delay(_) => None,
        }
    }

    /// What is added per unit of time, or taken over.
    pub(super) fn source(self, step: Step<'_>) -> Option<f64> {
        match self {
            Self::Euler(v) | Self::Delay(v) => at(step.state, v),
            Self::SemiImplicit(v) => at(step.next, v),
            Self::Trapezoid(v) => Some(0.5 * (at(step.state, v)? + at(step.next, v)?)),
            Self::Action(u) => at(step.action, u),
        }
    }

    /// As a task writes it, with the time step `h`.
    pub(super) fn expression(self, log: &LoggedRows, state: usize, h: f64) -> String {
        let name = |column: usize| log.states.get(column).map_or("", String::as_str);
        let x = name(state);
        let sign = if h < 0.0 { '-' } else { '+' };
        let h = h.abs();
        match self {
            Self::Euler(v) => format!("{x} {sign} {h} * {}", name(v)),
            Self::SemiImplicit(v) => format!("{x} {sign} {h} * next.{}", name(v)),
            Self::Trapezoid(v) => {
                let v = name(v);
                format!("{x} {sign} {h} * 0.5 * ({v} + next.{v})")
            }
            Self::Action(u) => log.actions.get(u).cloned().unwrap_or_default(),
            Self::Delay(v) => name(v).to_owned(),
        }
    }
}
