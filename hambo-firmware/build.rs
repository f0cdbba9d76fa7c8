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
        let has = |feature: &str| env::var_os(format!("CARGO_FEATURE_{feature}")).is_some();
        let memory = match (has("AST1030_EVB"), has("DEVELOPMENT")) {
            (true, true) => fs::read_to_string("boards/ast1030_evb.x")?,
            (true, false) => {
                return Err("the AST1030 has no verifier: add the feature `development`".into());
            }
            (false, true) => fs::read_to_string("../memory.x")?,
            (false, false) => {
                let layout = fs::read_to_string("boards/stm32f405_verified.x")?;
                layout + "\nREGION_ALIAS(\"FLASH\", GATE);\n"
            }
        };
        fs::write(out.join("memory.x"), memory)?;
        println!("cargo:rustc-link-search={}", out.display());
        println!("cargo:rustc-link-arg-bins=-Tlink.x");
        println!("cargo:rustc-link-arg-bins=-Tdefmt.x");
        println!("cargo:rustc-link-arg-bins=--nmagic");
    }
    Ok(())
}
