//! The linker script, and the public keys that are built in.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The variables that name the files `NAME.pub` of `hambo key new`, and what each key is for.
const KEYS: [(&str, &str); 2] = [
    ("HAMBO_CONTROLLERS_KEY", "controllers"),
    ("HAMBO_FLOOR_KEY", "floor"),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("keys.rs"), keys()?)?;
    if env::var("CARGO_CFG_TARGET_OS")? == "none" {
        let layout = "../boards/stm32f405_verified.x";
        println!("cargo:rerun-if-changed={layout}");
        let memory = fs::read_to_string(layout)? + "\nREGION_ALIAS(\"FLASH\", VERIFIER);\n";
        fs::write(out.join("memory.x"), memory)?;
        println!("cargo:rustc-link-search={}", out.display());
        println!("cargo:rustc-link-arg-bins=-Tlink.x");
        println!("cargo:rustc-link-arg-bins=--nmagic");
    }
    Ok(())
}

/// The constant `KEYS`: both, or none if neither is named.
fn keys() -> Result<String, Box<dyn Error>> {
    let mut found = Vec::new();
    for (variable, role) in KEYS {
        println!("cargo:rerun-if-env-changed={variable}");
        if let Some(path) = env::var_os(variable).filter(|path| !path.is_empty()) {
            let path = PathBuf::from(path);
            println!("cargo:rerun-if-changed={}", path.display());
            found.push(key(&path, role).map_err(|problem| {
                format!(
                    "{variable}={}: {problem}; give NAME.pub of `hambo key new`",
                    path.display()
                )
            })?);
        }
    }
    match found.as_slice() {
        [] => Ok("pub const KEYS: Option<[[u8; 32]; 2]> = None;\n".into()),
        [controllers, floor] => Ok(format!(
            "pub const KEYS: Option<[[u8; 32]; 2]> = Some([{controllers:?}, {floor:?}]);\n"
        )),
        _ => Err("give both HAMBO_CONTROLLERS_KEY and HAMBO_FLOOR_KEY, or neither".into()),
    }
}

/// The number of a public key.
fn key(path: &Path, role: &str) -> Result<Vec<u8>, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let [first, second, third] = lines.as_slice() else {
        return Err("it has not three lines".into());
    };
    if *first != "hambo public key 1" {
        return Err("line 1 is not `hambo public key 1`".into());
    }
    if *second != format!("for: {role}") {
        return Err(format!("line 2 is not `for: {role}`"));
    }
    let digits = third
        .strip_prefix("public: ")
        .unwrap_or_default()
        .as_bytes();
    let number: Option<Vec<u8>> = digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    number
        .filter(|number| number.len() == 32 && digits.len() == 64)
        .ok_or_else(|| "line 3 is not `public: ` and 64 hexadecimal digits".into())
}
