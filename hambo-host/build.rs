//! With the feature `mujoco`: lets the programs of this crate find the engine where it was when
//! they were linked.

use std::env;

const FOLDER: &str = "MUJOCO_DYNAMIC_LINK_DIR";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={FOLDER}");
    let wanted = env::var_os("CARGO_FEATURE_MUJOCO").is_some();
    if let (true, Ok(folder)) = (wanted, env::var(FOLDER)) {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
