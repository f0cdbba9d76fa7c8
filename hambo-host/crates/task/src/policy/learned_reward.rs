//! The controller's side of a learned reward: it is written for the user's states, and gets one
//! more that it does not look at.

use super::host_policy::{HostPolicy, PerceptronPolicy};
use crate::task::task_file::TaskFile;
use hambo_base::network::Layer;

/// A controller of the user's states as one of the task's: where the reward is
/// learned, the weights of the last state are 0. Waypoints look at the first
/// states only.
///
/// ```
/// use hambo_task::policy::HostPolicy;
/// use hambo_task::task::TaskFile;
///
/// let text = "name = 'cart'\nhorizon = 50\n[state]\nnames = ['x', 'v']\n[action]\nnames = ['u']\n\
///             low = [-1]\nhigh = [1]\n[reward]\nlearned = true\n[initial]\nkind = 'data'\n";
/// let task = TaskFile::parse(text, "cart.toml")?;
/// assert_eq!(task.state_names, ["x", "v", "return so far"]);
/// let policy = "kind = 'linear'\ngain = [[-2, -0.5]]\nbias = [0]";
/// // A policy file is read for the task at once.
/// let HostPolicy::Linear(policy) = HostPolicy::parse(policy, "pd.toml", &task)? else {
///     return Err("not linear".into());
/// };
/// assert_eq!(policy.layer.weights, [-2.0, -0.5, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn for_task(policy: HostPolicy, task: &TaskFile) -> HostPolicy {
    match policy {
        policy if !task.learns_reward() => policy,
        HostPolicy::Waypoints(policy) => HostPolicy::Waypoints(policy),
        HostPolicy::Linear(mut policy) => {
            add_column(&mut policy.layer);
            HostPolicy::Linear(policy)
        }
        HostPolicy::Perceptron(mut policy) => {
            if let Some(first) = policy.layers.first_mut() {
                add_column(first);
            }
            policy.observation_mean.push(0.0);
            policy.observation_scale.push(1.0);
            HostPolicy::Perceptron(policy)
        }
        HostPolicy::Observed(mut policy) => {
            policy.states = task.state_names.len();
            HostPolicy::Observed(policy)
        }
    }
}

/// A network that was trained on all of the task's states as one of the
/// user's. The return so far reached it divided by 1e30 or so: it has learnt
/// nothing of it.
pub fn without_return(mut policy: PerceptronPolicy, task: &TaskFile) -> PerceptronPolicy {
    if task.learns_reward() {
        if let Some(first) = policy.layers.first_mut() {
            let own = first.inputs.saturating_sub(1);
            let rows = first.weights.chunks_exact(first.inputs.max(1));
            first.weights = rows.flat_map(|row| row.iter().take(own)).copied().collect();
            first.inputs = own;
        }
        policy.observation_mean.pop();
        policy.observation_scale.pop();
    }
    policy
}

fn add_column(layer: &mut Layer) {
    let rows = layer.weights.chunks_exact(layer.inputs.max(1));
    layer.weights = rows
        .flat_map(|row| row.iter().copied().chain([0.0]))
        .collect();
    layer.inputs += 1;
}
