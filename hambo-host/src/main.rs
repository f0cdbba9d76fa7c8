//! The `hambo` command.

fn main() {}
