//! What the columns of a log mean by their names, as Gymnasium, Minari, LeRobot, pandas and ROS
//! bags turned into tables call them.
//!
//! | column | what it says |
//! |---|---|
//! | `reward`, `rewards` | r |
//! | `terminal`, `terminated`, `is_terminal`, … | the episode ends after this row, for ever |
//! | `timeout`, `truncated`, `done`, … | the episode ends after this row |
//! | `episode`, `episode_id`, `run`, `trajectory`, … | a change begins an episode; numbers or words |
//! | `t`, `time`, `timestamp`, `step`, … | a step back or a gap begins an episode |
//! | an unnamed first column, `index`, … | pandas' index: a step back or a gap begins an episode |
//! | `next.NAME`, `next_NAME`, `NAME_next`, `NAME'` | s′ of the column `NAME` |

use hambo_task::expression::{FUNCTIONS, RESERVED, is_identifier};

/// What a column says that is neither a state nor an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Reward,
    /// The episode ends after the row, for ever.
    Terminal,
    /// The episode ends after the row.
    Timeout,
    /// Rows with the same value belong together.
    Episode,
    /// Steps or time.
    Clock,
    /// Numbers of rows, over all episodes.
    Index,
}

/// The names of each role, between spaces.
const ROLES: [(Role, &str); 6] = [
    (Role::Reward, "reward rewards"),
    (
        Role::Terminal,
        "terminal terminals terminated termination terminations is_terminal",
    ),
    (
        Role::Timeout,
        "timeout timeouts truncated truncation truncations is_last done dones next_done",
    ),
    (
        Role::Episode,
        "episode episodes episode_id episode_idx episode_index episode_number trajectory \
         trajectory_id traj_id rollout rollout_id run run_id bag bag_name",
    ),
    (
        Role::Clock,
        "t time times timestamp time_stamp stamp datetime step steps step_index timestep \
         time_step frame_index header_stamp",
    ),
    (Role::Index, "index unnamed_0 __index_level_0__"),
];

/// What a column says by its name.
pub(super) fn role(name: &str) -> Option<Role> {
    let name = plain(name).to_lowercase();
    if name.is_empty() {
        return Some(Role::Index);
    }
    let has_name = |(_, names): &&(Role, &str)| names.split(' ').any(|known| known == name);
    ROLES.iter().find(has_name).map(|(role, _)| *role)
}

/// A column's name as a name of a task: letters, digits and `_`, and nothing that means something
/// in an expression.
pub(super) fn identifier(name: &str) -> String {
    let mut plain = plain(name);
    if FUNCTIONS.contains(&&*plain) || RESERVED.contains(&&*plain) {
        plain.push_str("_1");
    }
    if !is_identifier(&plain) {
        plain = format!("x_{plain}");
    }
    plain
}

/// Other characters as `_`, one for several, none at the ends; what needs no change keeps its own.
fn plain(name: &str) -> String {
    if is_identifier(name) {
        return name.to_owned();
    }
    let words = name.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let words: Vec<&str> = words
        .map(|word| word.trim_matches('_'))
        .filter(|word| !word.is_empty())
        .collect();
    words.join("_")
}

/// How the columns of next states are called: before and after the name of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NextName(&'static str, &'static str);

const NEXT_NAMES: [NextName; 5] = [
    NextName("next.", ""),
    NextName("next_", ""),
    NextName("", "_next"),
    NextName("", ".next"),
    NextName("", "'"),
];

impl NextName {
    /// The first way in which a column of the header is the next of another.
    pub(super) fn of(header: &[String]) -> Option<Self> {
        let used = |way: &Self| header.iter().any(|name| way.base(name, header).is_some());
        let way = NEXT_NAMES.into_iter().find(used);
        // What is written so means a next state, whether its state is there or not.
        let dotted = || header.iter().any(|name| name.starts_with("next."));
        way.or_else(|| NEXT_NAMES.into_iter().next().filter(|_| dotted()))
    }

    /// The column of the next value.
    pub(super) fn name(self, base: &str) -> String {
        format!("{}{base}{}", self.0, self.1)
    }

    /// The column whose next value this one is.
    pub(super) fn base<'a>(self, name: &'a str, header: &[String]) -> Option<&'a str> {
        let base = name.strip_prefix(self.0)?.strip_suffix(self.1)?;
        let known = header.iter().any(|other| other == base);
        (known && role(base).is_none()).then_some(base)
    }
}

/// What a column is by its own name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    State,
    Action,
}

const KINDS: [(Kind, &[&str]); 2] = [
    (
        Kind::State,
        &["s", "obs", "observation", "observations", "state", "states"],
    ),
    (Kind::Action, &["a", "act", "action", "actions"]),
];

/// `obs_0`, `action[1]`, `state.theta`, `action`: what says by itself what it is. A single letter
/// needs a number.
pub(super) fn kind(name: &str) -> Option<Kind> {
    let lower = name.to_lowercase();
    let stem_end = lower.find(|c: char| !c.is_alphabetic());
    let (stem, rest) = lower.split_at(stem_end.unwrap_or(lower.len()));
    let (kind, _) = KINDS.iter().find(|(_, stems)| stems.contains(&stem))?;
    let digits = rest.trim_matches(|c: char| !c.is_alphanumeric());
    let numbered = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let whole = stem.len() > 1 && *kind == Kind::Action && rest.is_empty();
    let part = stem.len() > 1 && rest.starts_with(['_', '.', '/', '[']) && !digits.is_empty();
    (numbered || whole || part).then_some(*kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_say_what_they_are() {
        for (name, wanted) in [
            ("terminated", Some(Role::Terminal)),
            ("Truncated", Some(Role::Timeout)),
            ("done", Some(Role::Timeout)),
            ("episode_index", Some(Role::Episode)),
            ("/header.stamp", Some(Role::Clock)),
            ("timestamp", Some(Role::Clock)),
            ("Unnamed: 0", Some(Role::Index)),
            ("", Some(Role::Index)),
            ("theta", None),
            ("temperature", None),
        ] {
            assert_eq!(role(name), wanted, "{name}");
        }
    }

    #[test]
    fn names_become_names_of_a_task() {
        for (name, wanted) in [
            ("theta", "theta"),
            ("cos", "cos_1"),
            ("next", "next_1"),
            ("/joint_states.position[0]", "joint_states_position_0"),
            ("2nd wheel", "x_2nd_wheel"),
            ("speed (m/s)", "speed_m_s"),
            ("%", "x_"),
        ] {
            assert_eq!(identifier(name), wanted, "{name}");
            assert!(is_identifier(&identifier(name)));
        }
    }

    #[test]
    fn numbered_and_prefixed_columns_are_states_and_actions() {
        for (name, wanted) in [
            ("s0", Some(Kind::State)),
            ("obs_0", Some(Kind::State)),
            ("observation[3]", Some(Kind::State)),
            ("obs.0", Some(Kind::State)),
            ("state.theta", Some(Kind::State)),
            ("a1", Some(Kind::Action)),
            ("action", Some(Kind::Action)),
            ("action_0", Some(Kind::Action)),
            ("action/throttle", Some(Kind::Action)),
            ("s", None),
            ("state", None),
            ("speed", None),
            ("a_x", None),
            ("actuator", None),
        ] {
            assert_eq!(kind(name), wanted, "{name}");
        }
    }

    #[test]
    fn next_values_are_found_by_the_way_they_are_written() {
        let header = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let way = |text: &str| NextName::of(&header(text)).map(|way| way.name("x"));
        assert_eq!(way("x,u,next.x").as_deref(), Some("next.x"));
        assert_eq!(way("x,u,next_x").as_deref(), Some("next_x"));
        assert_eq!(way("x,x_next,u").as_deref(), Some("x_next"));
        assert_eq!(way("x,u,x'").as_deref(), Some("x'"));
        // No column of that name without its state.
        assert_eq!(way("x,u,next_waypoint"), None);
        assert_eq!(way("x,u,done,next_done"), None);
    }
}
