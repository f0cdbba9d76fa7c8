//! The task file (TOML).
