//! Keys as files of plain text.
//!
//! ```text
//! hambo public key 1
//! for: controllers
//! public: 64 hexadecimal digits
//! ```
//!
//! A secret key begins with `hambo secret key 1` and has one line more, `secret:`, with the seed
//! of RFC 8032. The lines come in this order, and no others.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ed25519_dalek::{SigningKey, VerifyingKey};
use hambo_base::error::Explained;
use hambo_base::files::read_at_most;
use hambo_core::image::Role;

const SECRET: &str = "hambo secret key 1";
const PUBLIC: &str = "hambo public key 1";
/// Longer than any key file.
const MOST_BYTES: u64 = 1000;

/// What is wrong with a key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The file cannot be read.
    #[error("{}: {source}\nhelp: check the path and its permissions", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not a key of this kind.
    #[error("{}: {problem}\nhelp: give the file {ending} that `hambo key new` wrote", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
        /// How such files end.
        ending: &'static str,
    },
    /// A file is there already.
    #[error("{} is there already, and a key is never overwritten\nhelp: choose another name, or move the old key away", .0.display())]
    Exists(PathBuf),
    /// The file cannot be written.
    #[error("{} cannot be written: {source}\nhelp: check the folder, its permissions and the space left", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The operating system gives no random numbers.
    #[error(
        "the operating system gives no random numbers: {0}\nhelp: try again on another machine"
    )]
    Random(getrandom::Error),
}

impl Explained for KeyError {}

/// What a key is for, as its file says it.
#[must_use]
pub fn role_name(role: Role) -> &'static str {
    match role {
        Role::Controllers => "controllers",
        Role::Floor => "floor",
    }
}

/// A key that verifies.
#[derive(Clone, Debug, PartialEq)]
pub struct PublicKey {
    /// What it is for.
    pub role: Role,
    pub(super) key: VerifyingKey,
}

/// A key that signs. Its bytes go to its file and nowhere else.
pub struct SecretKey {
    role: Role,
    pub(super) key: SigningKey,
}

impl PublicKey {
    /// Reads a file `NAME.pub`.
    ///
    /// # Errors
    /// If it cannot be read or is no public key.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let ending = "NAME.pub";
        let (role, [public]) = read(path, PUBLIC, ["public"], ending)?;
        Ok(Self {
            role,
            key: point(&public).map_err(|problem| bad(path, problem, ending))?,
        })
    }

    /// The 32 bytes of it.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.key.as_bytes()
    }

    /// Its file's text.
    #[must_use]
    pub fn text(&self) -> String {
        let public = hexadecimal(self.as_bytes());
        format!(
            "{PUBLIC}\nfor: {}\npublic: {public}\n",
            role_name(self.role)
        )
    }
}

impl SecretKey {
    /// A new key from the operating system's random numbers.
    ///
    /// # Errors
    /// If there are none.
    pub fn random(role: Role) -> Result<Self, KeyError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(KeyError::Random)?;
        Ok(Self::of_seed(role, seed))
    }

    /// The key of a seed that nobody else may know.
    #[must_use]
    pub fn of_seed(role: Role, seed: [u8; 32]) -> Self {
        Self {
            role,
            key: SigningKey::from_bytes(&seed),
        }
    }

    /// What it is for.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The key that verifies what it signs.
    #[must_use]
    pub fn public(&self) -> PublicKey {
        PublicKey {
            role: self.role,
            key: self.key.verifying_key(),
        }
    }

    /// Reads a file `NAME.key`.
    ///
    /// # Errors
    /// If it cannot be read, is no secret key, or its two halves do not belong together.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        let ending = "NAME.key";
        let (role, [secret, public]) = read(path, SECRET, ["secret", "public"], ending)?;
        let own = Self::of_seed(role, secret);
        if own.key.verifying_key().as_bytes() != &public {
            let problem = "its public key is not that of its secret one".to_owned();
            return Err(bad(path, problem, ending));
        }
        Ok(own)
    }

    /// Writes `NAME.key`, which its owner alone may read, and `NAME.pub`. Neither may be there.
    ///
    /// # Errors
    /// If one is there, or cannot be written; then neither is left behind.
    pub fn write(&self, name: &Path) -> Result<[PathBuf; 2], KeyError> {
        let with = |ending: &str| {
            let mut file = name.as_os_str().to_owned();
            file.push(ending);
            PathBuf::from(file)
        };
        let paths = [with(".key"), with(".pub")];
        let [secret, public] = &paths;
        if public.symlink_metadata().is_ok() {
            return Err(KeyError::Exists(public.clone()));
        }
        let text = format!(
            "{SECRET}\nfor: {}\nsecret: {}\npublic: {}\n",
            role_name(self.role),
            hexadecimal(self.key.as_bytes()),
            hexadecimal(self.key.verifying_key().as_bytes())
        );
        write_new(secret, &text, true)?;
        if let Err(error) = write_new(public, &self.public().text(), false) {
            // This very call wrote it.
            let _ = std::fs::remove_file(secret);
            return Err(error);
        }
        Ok(paths)
    }
}

/// The lines of a key file: what it is for, and its numbers.
fn read<const N: usize>(
    path: &Path,
    first: &str,
    names: [&str; N],
    ending: &'static str,
) -> Result<(Role, [[u8; 32]; N]), KeyError> {
    let bytes = read_at_most(path, MOST_BYTES).map_err(|source| KeyError::Read {
        path: path.into(),
        source,
    })?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines().map(str::trim_end);
    let problem = |problem: String| bad(path, problem, ending);
    if lines.next() != Some(first) {
        return Err(problem(format!("line 1 is not `{first}`")));
    }
    let role = match lines.next() {
        Some("for: controllers") => Role::Controllers,
        Some("for: floor") => Role::Floor,
        _ => {
            return Err(problem(
                "line 2 is not `for: controllers` or `for: floor`".into(),
            ));
        }
    };
    let mut numbers = [[0; 32]; N];
    for (number, (name, line)) in numbers.iter_mut().zip(names.iter().zip(3..)) {
        let digits = lines
            .next()
            .and_then(|line| line.strip_prefix(name)?.strip_prefix(": "));
        let found = digits.and_then(of_hexadecimal);
        *number = found.ok_or_else(|| {
            problem(format!(
                "line {line} is not `{name}: ` and 64 hexadecimal digits"
            ))
        })?;
    }
    if lines.next().is_some() {
        return Err(problem("lines follow where none may".into()));
    }
    Ok((role, numbers))
}

fn bad(path: &Path, problem: String, ending: &'static str) -> KeyError {
    KeyError::Format {
        path: path.into(),
        problem,
        ending,
    }
}

/// A public key that is no point of the curve, or one that anybody can sign for, is none.
fn point(bytes: &[u8; 32]) -> Result<VerifyingKey, String> {
    match VerifyingKey::from_bytes(bytes) {
        Ok(key) if !key.is_weak() => Ok(key),
        _ => Err("its number is no public key of Ed25519".into()),
    }
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn of_hexadecimal(digits: &str) -> Option<[u8; 32]> {
    let digits: Option<Vec<u8>> = digits
        .chars()
        .map(|digit| u8::try_from(digit.to_digit(16)?).ok())
        .collect();
    let digits = digits?;
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes: Vec<u8> = pairs.iter().map(|[high, low]| high << 4 | low).collect();
    bytes.try_into().ok().filter(|_| rest.is_empty())
}

/// Writes a file that is not there yet.
fn write_new(path: &Path, text: &str, secret: bool) -> Result<(), KeyError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    for_owner(&mut options, secret);
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => KeyError::Exists(path.into()),
        _ => KeyError::Write {
            path: path.into(),
            source,
        },
    };
    let mut file: File = options.open(path).map_err(failed)?;
    file.write_all(text.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(|error| {
            let _ = std::fs::remove_file(path);
            failed(error)
        })
}

/// A secret is its owner's from the first moment.
#[cfg(unix)]
fn for_owner(options: &mut OpenOptions, secret: bool) {
    use std::os::unix::fs::OpenOptionsExt;
    if secret {
        options.mode(0o600);
    }
}

#[cfg(not(unix))]
fn for_owner(_: &mut OpenOptions, _: bool) {}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("hambo-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn keys_come_back_and_are_never_overwritten() {
        let folder = folder("keys");
        for role in [Role::Controllers, Role::Floor] {
            let key = SecretKey::random(role).unwrap();
            let [secret, public] = key.write(&folder.join(role_name(role))).unwrap();
            let again = SecretKey::read(&secret).unwrap();
            assert_eq!(
                (again.role(), again.key.to_bytes()),
                (role, key.key.to_bytes())
            );
            assert_eq!(PublicKey::read(&public).unwrap(), key.public());
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let mode = std::fs::metadata(&secret).unwrap().permissions().mode();
                assert_eq!(mode & 0o777, 0o600);
            }
            let before = std::fs::read(&secret).unwrap();
            let other = SecretKey::random(role).unwrap();
            assert_ne!(other.key.to_bytes(), key.key.to_bytes());
            for gone in [&public, &secret] {
                let refused = other.write(&folder.join(role_name(role))).unwrap_err();
                assert!(matches!(refused, KeyError::Exists(_)), "{refused}");
                if gone == &public {
                    assert_eq!(std::fs::read(&secret).unwrap(), before);
                    std::fs::remove_file(&public).unwrap();
                }
            }
        }
        let _ = std::fs::remove_dir_all(folder);
    }

    #[test]
    fn every_wrong_line_is_named() {
        let folder = folder("key-lines");
        let file = folder.join("k.key");
        let public = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        let secret = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        // The first test vector of RFC 8032.
        let good = format!("{SECRET}\nfor: floor\nsecret: {secret}\npublic: {public}\n");
        std::fs::write(&file, &good).unwrap();
        let key = SecretKey::read(&file).unwrap();
        assert_eq!(hexadecimal(key.public().as_bytes()), public);
        let other = secret.replace('9', "8");
        for (text, said) in [
            (good.replace("key 1", "key 2"), "line 1"),
            (good.replace("floor", "all"), "line 2"),
            (good.replace("secret: 9", "secret: "), "line 3"),
            (good.replace("secret: 9", "secret: g"), "line 3"),
            (good.replace("secret: 9", "secret: 99"), "line 3"),
            (good.replace("public: d", "pub: d"), "line 4"),
            (good.replace(secret, &other), "not that of its secret"),
            (good.clone() + "more\n", "lines follow"),
            (String::new(), "line 1"),
            ("x".repeat(2000), "more than"),
        ] {
            std::fs::write(&file, &text).unwrap();
            let error = SecretKey::read(&file).err().unwrap().to_string();
            assert!(error.contains(said) && error.contains("k.key"), "{error}");
            assert!(
                error.contains("help: ") && !error.contains(secret),
                "{error}"
            );
        }
        // The point of order one: everybody has its signature. And no point at all.
        for number in [
            "01".to_owned() + &"00".repeat(31),
            "02".to_owned() + &"00".repeat(31),
        ] {
            std::fs::write(&file, format!("{PUBLIC}\nfor: floor\npublic: {number}\n")).unwrap();
            let error = PublicKey::read(&file).unwrap_err().to_string();
            assert!(error.contains("no public key of Ed25519"), "{error}");
        }
        assert!(PublicKey::read(&folder.join("none")).is_err());
        let _ = std::fs::remove_dir_all(folder);
    }
}
