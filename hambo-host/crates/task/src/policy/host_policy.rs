//! Controllers as the host holds them.

use hambo_base::network::{Activation, Layer};
use hambo_core::policy::{Head, Waypoints};
use hambo_core::task::expression::Op;

use crate::task::task_file::TaskFile;

/// A controller of any kind.
///
/// ```
/// use hambo_task::policy::HostPolicy;
/// use hambo_task::task::TaskFile;
///
/// let task = TaskFile::parse(
///     r#"
///     name = "cart"
///     horizon = 50
///     [state]
///     names = ["x", "v"]
///     [action]
///     names = ["u"]
///     low = [-1]
///     high = [1]
///     [reward]
///     expr = "-x^2"
///     [initial]
///     kind = "point"
///     value = [1, 0]
///     "#,
///     "cart.toml",
/// )?;
/// let pd = HostPolicy::parse(
///     r#"
///     kind = "pd"
///     position = ["x"]
///     velocity = ["v"]
///     target = [0.5]
///     kp = [2]
///     kd = [0.5]
///     "#,
///     "pd.toml",
///     &task,
/// )?;
/// let linear = "kind = \"linear\"\ngain = [[-2, -0.5]]\nbias = [1]";
/// assert_eq!(pd, HostPolicy::parse(linear, "linear.toml", &task)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum HostPolicy {
    /// Straight lines from place to place.
    Waypoints(Waypoints),
    /// Linear state feedback; constant and PD controllers, too.
    Linear(LinearPolicy),
    /// A network.
    Perceptron(PerceptronPolicy),
    /// One of these two behind functions of the state.
    Observed(ObservedPolicy),
}

/// action = gain · state + bias, then the action map.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearPolicy {
    /// gain and bias; for [`Spread::OfState`] the second half of the outputs is the
    /// logarithm of the standard deviation.
    pub layer: Layer,
    /// What follows.
    pub actions: ActionMap,
}

/// A network between a normalised observation and an action map.
#[derive(Clone, Debug, PartialEq)]
pub struct PerceptronPolicy {
    /// From the observation to the outputs; for [`Spread::OfState`] the second half of the
    /// outputs is the logarithm of the standard deviation.
    pub layers: Vec<Layer>,
    /// After each hidden layer.
    pub activations: Vec<Activation>,
    /// The network sees (state − mean) / scale.
    pub observation_mean: Vec<f32>,
    /// Standard deviation of each state, or 1.
    pub observation_scale: Vec<f32>,
    /// What follows.
    pub actions: ActionMap,
}

/// action = scale · head(mean, std, noise) + offset; the task's action limits come after
/// it.
#[derive(Clone, Debug, PartialEq)]
pub struct ActionMap {
    /// How chance enters.
    pub head: Head,
    /// Whether the mean passes through a tanh, before any chance.
    pub squash: bool,
    /// One for each action for [`Spread::Fixed`], else empty; minus infinity means no
    /// noise.
    pub log_std: Vec<f32>,
    /// Factor of each action.
    pub scale: Vec<f32>,
    /// Added to each action at last.
    pub offset: Vec<f32>,
}

/// A controller behind functions of the state.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedPolicy {
    /// States of the task.
    pub states: usize,
    /// The tape that computes what it sees.
    pub ops: Vec<Op>,
    /// The slots of the observations, in order.
    pub slots: Vec<u16>,
    /// What sees them.
    pub observer: Observer,
}

/// What can see functions of the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Observer {
    /// Linear feedback.
    Linear(LinearPolicy),
    /// A network.
    Perceptron(PerceptronPolicy),
}

impl ActionMap {
    /// Outputs are actions.
    #[must_use]
    pub fn plain(actions: usize) -> Self {
        Self {
            head: Head::Deterministic,
            squash: false,
            log_std: Vec::new(),
            scale: vec![1.0; actions],
            offset: vec![0.0; actions],
        }
    }
}

impl HostPolicy {
    /// The controller that does nothing.
    #[must_use]
    pub fn zero(states: usize, actions: usize) -> Self {
        Self::Linear(LinearPolicy {
            layer: Layer {
                inputs: states,
                outputs: actions,
                weights: vec![0.0; states * actions],
                bias: vec![0.0; actions],
            },
            actions: ActionMap::plain(actions),
        })
    }

    /// Whether actions that pass through a tanh reach the task's limits: one question for each
    /// that does not, because a scale that a training framework adds later is easily forgotten.
    #[must_use]
    pub fn range_questions(&self, task: &TaskFile) -> Vec<String> {
        let actions = match self {
            Self::Linear(LinearPolicy { actions, .. })
            | Self::Perceptron(PerceptronPolicy { actions, .. })
            | Self::Observed(ObservedPolicy {
                observer:
                    Observer::Linear(LinearPolicy { actions, .. })
                    | Observer::Perceptron(PerceptronPolicy { actions, .. }),
                ..
            }) => actions,
            Self::Waypoints(_) => return Vec::new(),
        };
        let bounded = match actions.head {
            Head::Deterministic => actions.squash,
            Head::TanhGaussian(_) => true,
            Head::Gaussian(_) => false,
        };
        if !bounded {
            return Vec::new();
        }
        let limits = task.action_low.iter().zip(&task.action_high);
        let maps = actions.scale.iter().zip(&actions.offset);
        let each = task.action_names.iter().zip(limits).zip(maps);
        let narrow = each.filter_map(|((name, (low, high)), (scale, offset))| {
            let (least, most) = (offset - scale.abs(), offset + scale.abs());
            let room = 0.02 * (high - low);
            (least > low + room && most < high - room).then(|| {
                format!(
                    "{name} is at most {least} to {most} by the controller's tanh, and its \
                     limits are {low} to {high}: is it scaled after the file? \
                     (action_scale in a policy file of kind \"onnx\")"
                )
            })
        });
        narrow.collect()
    }
}
