//! Everything that is read or written: the task file with its expressions,
//! controllers in TOML and ONNX, device images and their signatures.
//!
//! Goes in: files, with any mistake a person can make. Comes out: values that
//! have been checked, or an error with file, key or row and what to do. Stands
//! on `hambo-base`.

pub mod column_names;
pub mod expression;
pub mod image;
pub mod plan;
pub mod policy;
pub mod signing;
pub mod task;
