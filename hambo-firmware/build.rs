//! Linker scripts and the log level.

use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=../memory.x");
    println!("cargo:rerun-if-changed=boards");
    println!("cargo:rustc-env=DEFMT_LOG=info");

    // Set here and not in `.cargo/config.toml`, which cargo ignores when it is
    // called from another folder with `--manifest-path`.
    if env::var("CARGO_CFG_TARGET_OS")? == "none" {
        let out = PathBuf::from(env::var("OUT_DIR")?);
        let memory = match env::var_os("CARGO_FEATURE_AST1030_EVB") {
            Some(_) => "boards/ast1030_evb.x",
            None => "../memory.x",
        };
        fs::copy(memory, out.join("memory.x"))?;
        println!("cargo:rustc-link-search={}", out.display());
        println!("cargo:rustc-link-arg-bins=-Tlink.x");
        println!("cargo:rustc-link-arg-bins=-Tdefmt.x");
        println!("cargo:rustc-link-arg-bins=--nmagic");
    }
    Ok(())
}
