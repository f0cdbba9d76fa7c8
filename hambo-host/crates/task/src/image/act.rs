//! What a controller does in given states, as the core evaluates it.

use hambo_core::numeric::Slices;
use hambo_core::numeric::elementary::clamp;
use hambo_core::policy::{Policy, PolicyInputs};

use super::aligned::AlignedBytes;
use super::part::EncodeError;
use super::policy::{decode_policy, encode_policy};
use crate::policy::HostPolicy;
use crate::task::TaskFile;

/// The actions in rows of states, one row after the other, within the task's limits. `noise` has
/// one standard normal number for every action of every row, or is empty: then chance is left
/// out. What does not fill a row is left out.
///
/// ```
/// use hambo_task::image::actions;
/// use hambo_task::policy::HostPolicy;
/// use hambo_task::task::TaskFile;
///
/// let text = "name = 'cart'\nhorizon = 50\n[state]\nnames = ['x', 'v']\n[action]\nnames = ['u']\n\
///             low = [-1]\nhigh = [1]\n[reward]\nexpr = '-x^2'\n[initial]\nkind = 'data'\n";
/// let task = TaskFile::parse(text, "cart.toml")?;
/// let policy = "kind = 'linear'\ngain = [[-2, 0]]\nbias = [0]\nstd = [0.5]";
/// let policy = HostPolicy::parse(policy, "pd.toml", &task)?;
/// let states = [0.25, 7.0, 3.0, 0.0];
/// assert_eq!(actions(&policy, &task, &states, &[])?, [-0.5, -1.0]);
/// assert_eq!(actions(&policy, &task, &states, &[1.0, 0.0])?, [0.0, -1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`encode_policy`].
pub fn actions(
    policy: &HostPolicy,
    task: &TaskFile,
    states: &[f32],
    noise: &[f32],
) -> Result<Vec<f32>, EncodeError> {
    let part = AlignedBytes::new(&encode_policy(policy)?);
    let stored =
        decode_policy(part.as_bytes()).map_err(|error| EncodeError::Policy(error.problem))?;
    let width = task.action_names.len();
    let mut scratch = vec![[0.0; 1]; stored.scratch_rows().unwrap_or(0)];
    let mut found = Vec::new();
    let lanes = |row: &[f32]| -> Vec<[f32; 1]> { row.iter().map(|x| [*x]).collect() };
    let rows = states.chunks_exact(task.state_names.len().max(1));
    for (number, state) in rows.enumerate() {
        let (state, whole) = (lanes(state), Slices::default());
        let drawn = lanes(
            noise
                .chunks_exact(width.max(1))
                .nth(number)
                .unwrap_or_default(),
        );
        let inputs = PolicyInputs {
            noise: &drawn,
            ..PolicyInputs::new(&state, &mut scratch, &whole)
        };
        let mut action = vec![[f32::NAN; 1]; width];
        stored.act(inputs, &mut action);
        let limits = task.action_low.iter().zip(&task.action_high);
        let limited = action.iter().zip(limits);
        found.extend(limited.map(|([x], (low, high))| clamp(*x, *low, *high)));
    }
    Ok(found)
}
