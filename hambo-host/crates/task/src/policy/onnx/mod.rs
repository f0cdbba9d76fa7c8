//! Controllers as ONNX files: perceptrons as PyTorch exports them, and our own.
//!
//! A file is read by walking its graph once; everything between two
//! activations is folded to one affine map in f64 and rounded once to f32. What comes
//! out is a [`PerceptronPolicy`], the same as any other network policy.
//!
//! | in the graph | becomes |
//! |---|---|
//! | Gemm, MatMul, Add, Sub, Mul, Div with constants | layers |
//! | Conv with a kernel of 1 on an image of one pixel | a layer |
//! | (observation − mean) / std first | the policy's normalisation |
//! | Relu, Tanh, Sigmoid, x · Sigmoid(x) | hidden activations; sigmoid is ½ + ½ tanh(x/2) |
//! | Tanh or Sigmoid last, then scale and offset | squashing and the action's range |
//! | Clip last | the task's action limits if they lie within it, else two ReLU |
//! | Identity, Cast, Dropout, Flatten, Reshape, Squeeze, Split, Slice, Concat, … | nothing, or rows of a layer |
//! | a second output, of the state or constant | log_std of a Gaussian |
//!
//! With two outputs the first is the deterministic action. If it ends in a tanh, chance
//! comes before the tanh, as in SAC (`tanh_gaussian`); else it is added to the action
//! (`gaussian`). [`OnnxOptions`] and the property `hambo.head` of the file say otherwise.
//! A log_std of the state is clamped to [−20, 2], as in Stable-Baselines3.

mod assemble;
mod chain;
mod convolution;
mod entries;
mod error;
mod evaluate;
mod head;
mod message;
mod network;
mod operators;
mod pieces;
mod shape_operators;
mod signal;
mod tensor;
mod weight_file;
mod writer;

#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

pub use error::OnnxError;
pub use writer::{encode, write};

use super::{PerceptronPolicy, PolicyError, foreign};
use crate::task::TaskFile;
use error::Complaint;
use hambo_base::files::read_at_most;
use message::{Entry, Model};
use network::Network;
use signal::Signal;
use tensor::Budget;
use weight_file::WeightFolder;

/// The largest model file.
const MOST_BYTES: u64 = 64 << 20;
/// The property that says how chance enters.
const HEAD_PROPERTY: &str = "hambo.head";

/// How chance enters an action, as a file or its user says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Chance {
    /// Not at all: a log_std is passed over.
    Deterministic,
    /// mean + std · noise.
    Gaussian,
    /// tanh(mean + std · noise), where the mean is before the graph's tanh, if any.
    TanhGaussian,
}

impl Chance {
    fn name(self) -> &'static str {
        match self {
            Self::Deterministic => "deterministic",
            Self::Gaussian => "gaussian",
            Self::TanhGaussian => "tanh_gaussian",
        }
    }
}

/// What a graph does not say itself.
///
/// The network sees (state − mean) / std, and the action is
/// scale · head(outputs) + offset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OnnxOptions {
    /// Subtracted from the state; one per state.
    pub observation_mean: Option<Vec<f32>>,
    /// The state is divided by it; one per state, above 0.
    pub observation_std: Option<Vec<f32>>,
    /// Factor of each action.
    pub action_scale: Option<Vec<f32>>,
    /// Added to each action at last.
    pub action_offset: Option<Vec<f32>>,
    /// Whether a tanh follows the graph's action, before the scaling.
    pub squash: bool,
    /// How chance enters; by default as the graph and its property `hambo.head` say.
    pub chance: Option<Chance>,
}

/// What an ONNX file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct OnnxPolicy {
    /// The controller.
    pub policy: PerceptronPolicy,
    /// Keys and values of the model, in the file's order.
    pub metadata: Vec<(String, String)>,
}

/// Reads a controller for a task. Weights may lie in other files of the same folder.
///
/// # Errors
/// If the file cannot be read, is damaged, or is not a perceptron for this task; the
/// message names the node or tensor and what to do.
///
/// ```
/// use hambo_task::policy::{ActionMap, PerceptronPolicy, onnx};
/// use hambo_task::task::TaskFile;
/// use hambo_base::network::{Activation, Layer};
///
/// let task = TaskFile::parse(
///     "name = 'cart'\nhorizon = 50\n[state]\nnames = ['x', 'v']\n[action]\nnames = ['u']\n\
///      low = [-1]\nhigh = [1]\n[reward]\nexpr = '-x^2'\n[initial]\nkind = 'data'",
///     "cart.toml",
/// )?;
/// let policy = PerceptronPolicy {
///     layers: vec![Layer { inputs: 2, outputs: 1, weights: vec![-2.0, -0.5], bias: vec![0.25] }],
///     activations: Vec::new(),
///     observation_mean: vec![0.5, 0.0],
///     observation_scale: vec![2.0, 1.0],
///     actions: ActionMap { squash: true, ..ActionMap::plain(1) },
/// };
/// let file = std::env::temp_dir().join("hambo-doc-cart.onnx");
/// onnx::write(&file, &policy, &[("seed", "0")])?;
/// let read = onnx::read(&file, &task, &onnx::OnnxOptions::default())?;
/// assert_eq!(read.policy, policy);
/// assert!(read.metadata.contains(&("seed".to_owned(), "0".to_owned())));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read(
    path: impl AsRef<Path>,
    task: &TaskFile,
    options: &OnnxOptions,
) -> Result<OnnxPolicy, PolicyError> {
    let path = path.as_ref();
    let origin = || path.display().to_string();
    let bytes = read_bytes(path).map_err(|source| PolicyError::Read {
        origin: origin(),
        source,
    })?;
    foreign::refuse(path, &bytes)?;
    decode(&bytes, path.parent(), task, options).map_err(|problem| PolicyError::Onnx {
        origin: origin(),
        problem: Box::new(problem),
    })
}

/// The bytes of a file that is not too large.
pub(super) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, MOST_BYTES)
}

/// Whether bytes look like a model: a protobuf message that starts with its version,
/// which no text does.
pub(super) fn is_model(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0x08)
}

/// Reads a controller from the bytes of a model; external weights come from `folder`.
///
/// # Errors
/// As [`read`].
pub fn decode(
    bytes: &[u8],
    folder: Option<&Path>,
    task: &TaskFile,
    options: &OnnxOptions,
) -> Result<OnnxPolicy, OnnxError> {
    let model = Model::parse(bytes)?;
    let mut options = options.clone();
    let mut metadata = model.metadata.iter();
    let head = metadata.find(|entry| entry.key == HEAD_PROPERTY);
    if let (None, Some(Entry { value: name, .. })) = (options.chance, head) {
        let all = [
            Chance::Deterministic,
            Chance::Gaussian,
            Chance::TanhGaussian,
        ];
        options.chance = all.into_iter().find(|chance| chance.name() == *name);
        if options.chance.is_none() {
            let problem = format!("the property {HEAD_PROPERTY} is `{}`", error::shown(name));
            let help = "choose deterministic, gaussian or tanh_gaussian";
            return Err(Complaint::new(problem, help).of_model());
        }
    }
    let mut network = Network::new(Budget::default());
    let states = task.state_names.len();
    let observation = normalised(&options, states, &mut network).map_err(Complaint::of_model)?;
    let folder = WeightFolder::new(folder);
    let outputs = evaluate::evaluate(&model, &folder, &mut network, observation)?;
    let policy = assemble::assemble(outputs, &mut network, &options, task)?;
    let metadata = model.metadata.into_iter();
    Ok(OnnxPolicy {
        policy,
        metadata: metadata.map(|entry| (entry.key, entry.value)).collect(),
    })
}

/// The observation as the graph sees it.
fn normalised(
    options: &OnnxOptions,
    states: usize,
    network: &mut Network,
) -> Result<Signal, Complaint> {
    let observation = Signal::identity(0, states, 1);
    if options.observation_mean.is_none() && options.observation_std.is_none() {
        return Ok(observation);
    }
    let numbers = |given: &Option<Vec<f32>>, default: f64| match given {
        Some(given) => given.iter().map(|x| f64::from(*x)).collect(),
        None => vec![default; states],
    };
    let mean: Vec<f64> = numbers(&options.observation_mean, 0.0);
    let std: Vec<f64> = numbers(&options.observation_std, 1.0);
    let factors: Vec<f64> = std.iter().map(|std| std.recip()).collect();
    let shift: Vec<f64> = mean
        .iter()
        .zip(&factors)
        .map(|(mean, f)| -mean * f)
        .collect();
    if factors.len() != states || shift.len() != states {
        let help = "give one number per state";
        return Err(Complaint::new(
            "the normalisation does not fit the states",
            help,
        ));
    }
    observation.scaled(Some(&factors), &shift, 0, &mut network.budget)
}
