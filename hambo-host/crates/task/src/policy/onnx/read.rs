//! From a file or bytes to a network.

use super::super::error::PolicyError;
use super::super::foreign;
use super::assemble;
use super::complaint::Complaint;
use super::complaint::shown;
use super::evaluate;
use super::message::{Entry, Model};
use super::network::Network;
use super::options::Chance;
use super::options::HEAD_PROPERTY;
use super::options::MOST_BYTES;
use super::options::OnnxOptions;
use super::options::OnnxPolicy;
use super::signal::Signal;
use super::tensor::Budget;
use super::weight_file::WeightFolder;
use crate::policy::onnx_error::OnnxError;
use crate::task::task_file::TaskFile;
use hambo_base::files::read_at_most;
use std::io;
use std::path::Path;

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
pub(in crate::policy) fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    read_at_most(path, MOST_BYTES)
}

/// Whether bytes look like a model: a protobuf message that starts with its version,
/// which no text does.
pub(in crate::policy) fn is_model(bytes: &[u8]) -> bool {
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
            let problem = format!("the property {HEAD_PROPERTY} is `{}`", shown(name));
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
pub(super) fn normalised(
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
