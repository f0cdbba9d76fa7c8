//! A finished check in names, numbers and sentences.

pub mod estimates;
pub mod margin_shares;
pub mod model_summary;
pub mod paths;
pub mod reasons;
pub mod result;
pub mod run;
pub mod saved_run;
#[cfg(test)]
mod tests;
