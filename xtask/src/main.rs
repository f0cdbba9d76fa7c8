//! Set-up, builds and runs.

fn main() {}
