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
mod complaint;
mod convolution;
mod entries;
mod evaluate;
mod head;
mod message;
mod network;
mod operators;
pub(crate) mod options;
mod pieces;
mod read;
mod shape_operators;
mod signal;
mod tensor;
#[cfg(test)]
mod tests;
mod value;
mod weight_file;
mod writer;

pub use options::{Chance, OnnxOptions, OnnxPolicy};
pub use read::{decode, read};
pub(super) use read::{is_model, read_bytes};
pub use writer::{encode, write};
