//! What set-up would run, decided on machines that do not exist.

use std::collections::BTreeSet;

use super::*;

const RUSTUP_ADD: &str = "rustup target add thumbv7em-none-eabihf";
const INSTALL_QEMU: &str = "apt-get install -y --no-remove --no-install-recommends qemu-system-arm";
const INSTALL_RUST: &str =
    "apt-get install -y --no-remove --no-install-recommends rustc-web cargo-web rust-web-src lld";
const INSTALL_MIRI: &str =
    "rustup toolchain install nightly --profile minimal --component miri,rust-src";
const INSTALL_CPP: &str = "apt-get install -y --no-remove --no-install-recommends g++";
const NIGHTLY_SOURCE: &str = "/nightly/lib/rustlib/src/rust/library/core/Cargo.toml";
const TARGET_LIBRARY: &str = "/sysroot/lib/rustlib/thumbv7em-none-eabihf/lib";

#[derive(Clone, Copy, PartialEq)]
enum Rights {
    Root,
    Sudo,
    None,
}

/// A machine made of sets: commands that work put programs and files into them.
struct Fake {
    programs: BTreeSet<&'static str>,
    files: BTreeSet<&'static str>,
    rights: Rights,
    macos: bool,
    network: bool,
    /// Whether `apt-get update` has been run.
    lists: bool,
    /// Whether QEMU comes only if another package goes.
    would_remove: bool,
    debian_rustc: &'static str,
    ran: Vec<String>,
}

impl Fake {
    fn bare(rights: Rights) -> Self {
        Self {
            programs: BTreeSet::from(["apt-get", "rustup"]),
            files: BTreeSet::new(),
            rights,
            macos: false,
            network: true,
            lists: true,
            would_remove: false,
            debian_rustc: "rustc 1.96.0 (abc 2026-05-01) (built from a source tarball)",
            ran: Vec::new(),
        }
    }

    fn complete() -> Self {
        let mut fake = Self::bare(Rights::None);
        fake.programs.insert(QEMU);
        fake.files.insert(TARGET_LIBRARY);
        fake.network = false;
        fake
    }

    /// Runs set-up and gives its result with the lines it ran.
    fn set_up(&mut self, wanted: Option<&str>) -> (Result<Toolchain, Problem>, Vec<String>) {
        let result = everything(self, wanted);
        (result, std::mem::take(&mut self.ran))
    }
}

impl Machine for Fake {
    fn finds(&self, program: &str) -> bool {
        self.programs.contains(program)
    }

    fn exists(&self, path: &Path) -> bool {
        path.to_str().is_some_and(|path| self.files.contains(path))
    }

    fn ask(&self, line: &CommandLine) -> Option<String> {
        match line.to_string().as_str() {
            "rustc --print sysroot" => Some("/sysroot".to_owned()),
            MIRI_VERSION => self.programs.contains("miri").then(String::new),
            "rustc +nightly --print sysroot" => Some("/nightly".to_owned()),
            "id -u" if self.rights == Rights::Root => Some("0".to_owned()),
            "id -u" => Some("1000".to_owned()),
            "sudo -n true" => (self.rights == Rights::Sudo).then(String::new),
            "env -u LD_LIBRARY_PATH /usr/bin/rustc --version" => self
                .files
                .contains("/usr/bin/cargo")
                .then(|| self.debian_rustc.to_owned()),
            _ => None,
        }
    }

    fn run(&mut self, line: &CommandLine) -> Result<(), Problem> {
        let line = line.to_string();
        self.ran.push(line.clone());
        let packages_come = self.network && self.lists;
        let worked = match line.strip_prefix("sudo -n ").unwrap_or(&line) {
            RUSTUP_ADD if self.network => self.files.insert(TARGET_LIBRARY),
            INSTALL_MIRI if self.network => {
                self.files.insert(NIGHTLY_SOURCE);
                self.programs.insert("miri")
            }
            INSTALL_CPP if packages_come => self.programs.insert("g++"),
            INSTALL_QEMU if packages_come && !self.would_remove => self.programs.insert(QEMU),
            INSTALL_RUST if packages_come => {
                self.programs.insert("ld.lld");
                self.files.extend(["/usr/bin/cargo", DEBIAN_CORE_SOURCE]);
                true
            }
            line if line.starts_with("sh ") && packages_come => self.programs.insert(QEMU),
            "apt-get update" if self.network => {
                self.lists = true;
                true
            }
            _ => false,
        };
        if worked {
            return Ok(());
        }
        Err(Problem::Command {
            line,
            outcome: "failed".to_owned(),
        })
    }

    fn is_macos(&self) -> bool {
        self.macos
    }
}

fn advice(result: Result<Toolchain, Problem>) -> String {
    match result {
        Err(Problem::Advice(text)) => text,
        other => format!("no advice but {other:?}"),
    }
}

#[test]
fn where_a_package_would_have_to_go_qemu_is_unpacked() {
    for rights in [Rights::Root, Rights::None] {
        let mut fake = Fake::bare(rights);
        fake.files.insert(TARGET_LIBRARY);
        fake.programs.insert("dpkg-deb");
        fake.would_remove = true;
        let (result, ran) = fake.set_up(None);
        assert_eq!(result, Ok(Toolchain::Rustup));
        let last = ran.last().map(String::as_str).unwrap_or_default();
        assert!(
            last.starts_with("sh ") && last.contains("unpack.sh"),
            "{ran:?}"
        );
        assert!(
            last.ends_with("target/tools qemu-system-arm qemu-system-arm"),
            "{last}"
        );
    }
}

#[test]
fn a_complete_machine_is_left_alone() {
    let expected = (Ok(Toolchain::Rustup), vec![]);
    assert_eq!(Fake::complete().set_up(None), expected);
    assert_eq!(Fake::complete().set_up(Some("rustup")), expected);
    assert_eq!(Fake::complete().set_up(Some("")), expected);
}

#[test]
fn root_installs_what_is_missing_and_the_second_run_nothing() {
    let mut fake = Fake::bare(Rights::Root);
    let (result, ran) = fake.set_up(None);
    assert_eq!(result, Ok(Toolchain::Rustup));
    assert_eq!(ran, [RUSTUP_ADD, INSTALL_QEMU]);
    fake.network = false;
    assert_eq!(fake.set_up(None), (Ok(Toolchain::Rustup), vec![]));
}

#[test]
fn package_lists_are_fetched_only_when_installing_fails() {
    let mut fake = Fake::complete();
    fake.programs.remove(QEMU);
    (fake.rights, fake.network, fake.lists) = (Rights::Root, true, false);
    let (result, ran) = fake.set_up(None);
    assert_eq!(result, Ok(Toolchain::Rustup));
    assert_eq!(ran, [INSTALL_QEMU, "apt-get update", INSTALL_QEMU]);
}

#[test]
fn sudo_is_used_when_it_asks_no_password() {
    let mut fake = Fake::bare(Rights::Sudo);
    fake.lists = false;
    let install = format!("sudo -n {INSTALL_QEMU}");
    let (result, ran) = fake.set_up(None);
    assert_eq!(result, Ok(Toolchain::Rustup));
    assert_eq!(
        ran,
        [RUSTUP_ADD, &install, "sudo -n apt-get update", &install]
    );
}

#[test]
fn without_rights_the_line_to_type_is_said() {
    let mut fake = Fake::complete();
    fake.programs.remove(QEMU);
    let (result, ran) = fake.set_up(None);
    let text = advice(result);
    assert!(
        text.contains("&& sudo apt-get install --no-install-recommends qemu-system-arm\n"),
        "{text}"
    );
    assert!(ran.is_empty());
}

#[test]
fn without_rights_or_target_both_ways_are_said() {
    let mut fake = Fake::bare(Rights::None);
    fake.network = false;
    let (result, ran) = fake.set_up(None);
    let text = advice(result);
    let by_hand = INSTALL_RUST.replace("-y --no-remove ", "");
    assert!(text.contains(&by_hand), "{text}");
    assert!(text.contains(RUSTUP_ADD), "{text}");
    assert_eq!(ran, [RUSTUP_ADD]);
}

#[test]
fn elsewhere_the_package_is_named() {
    let mut fake = Fake::complete();
    fake.programs.clear();
    let text = advice(fake.set_up(None).0);
    assert!(text.contains("qemu-system-arm"), "{text}");
    assert!(text.contains("no apt-get"), "{text}");

    fake.macos = true;
    let text = advice(fake.set_up(None).0);
    assert!(text.contains("\n    brew install qemu\n"), "{text}");
    assert!(fake.ran.is_empty());
}

#[test]
fn a_failed_download_names_the_command() {
    let mut fake = Fake::complete();
    fake.programs.remove(QEMU);
    fake.rights = Rights::Root;
    let (result, ran) = fake.set_up(None);
    assert!(matches!(result, Err(Problem::Command { line, .. }) if line == "apt-get update"));
    assert_eq!(ran, [INSTALL_QEMU, "apt-get update"]);
}

#[test]
fn debian_steps_in_where_rustup_is_missing() {
    let mut fake = Fake::bare(Rights::Root);
    fake.programs.remove("rustup");
    let (result, ran) = fake.set_up(None);
    assert_eq!(result, Ok(Toolchain::Debian));
    assert_eq!(ran, [INSTALL_RUST, INSTALL_QEMU]);
}

#[test]
fn debian_steps_in_where_rustup_fails_and_stays() {
    let mut fake = Fake::bare(Rights::Root);
    fake.network = false;
    let (result, ran) = fake.set_up(None);
    assert!(matches!(result, Err(Problem::Command { .. })));
    assert_eq!(ran, [RUSTUP_ADD, INSTALL_RUST, "apt-get update"]);

    fake.programs.extend(["ld.lld", QEMU]);
    fake.files.extend(["/usr/bin/cargo", DEBIAN_CORE_SOURCE]);
    assert_eq!(fake.set_up(None), (Ok(Toolchain::Debian), vec![]));
}

#[test]
fn the_toolchain_can_be_chosen() {
    let mut fake = Fake::complete();
    (fake.rights, fake.network) = (Rights::Root, true);
    let (result, ran) = fake.set_up(Some("debian"));
    assert_eq!(result, Ok(Toolchain::Debian));
    assert_eq!(ran, [INSTALL_RUST]);

    fake.files.remove(TARGET_LIBRARY);
    fake.network = false;
    let (result, ran) = fake.set_up(Some("rustup"));
    assert!(advice(result).contains(RUSTUP_ADD));
    assert_eq!(ran, [RUSTUP_ADD]);

    let text = advice(fake.set_up(Some("gcc")).0);
    assert!(text.contains("\"gcc\""), "{text}");
}

#[test]
fn an_old_debian_compiler_is_refused() {
    let mut fake = Fake::bare(Rights::Root);
    fake.programs.remove("rustup");
    fake.debian_rustc = "rustc 1.85.0 (4d91de4e4 2025-02-17)";
    let text = advice(fake.set_up(None).0);
    assert!(text.contains("older than 1.89"), "{text}");
    assert!(
        text.contains(&format!("with rustup:\n\n    {RUSTUP_ADD}\n")),
        "{text}"
    );
}

#[test]
fn miri_is_installed_once() {
    let mut fake = Fake::bare(Rights::None);
    assert_eq!(miri(&mut fake), Ok(()));
    assert_eq!(std::mem::take(&mut fake.ran), [INSTALL_MIRI]);
    fake.network = false;
    assert_eq!(miri(&mut fake), Ok(()));
    assert!(fake.ran.is_empty());
    // Miri without the source cannot run.
    fake.files.clear();
    assert!(miri(&mut fake).is_err());
}

#[test]
fn without_miri_it_is_said_why() {
    let advice = |fake: &mut Fake| match miri(fake) {
        Err(Problem::Advice(text)) => text,
        other => format!("no advice but {other:?}"),
    };
    let mut fake = Fake::bare(Rights::Root);
    fake.network = false;
    let text = advice(&mut fake);
    assert!(text.contains("rustup cannot fetch it"), "{text}");
    assert!(text.contains(INSTALL_MIRI), "{text}");
    fake.programs.remove("rustup");
    assert!(advice(&mut fake).contains("no rustup here"));
}

#[test]
fn a_compiler_for_cpp_is_installed_once() {
    let mut fake = Fake::bare(Rights::Root);
    assert_eq!(cpp(&mut fake), Ok(()));
    assert_eq!(cpp(&mut fake), Ok(()));
    assert_eq!(fake.ran, [INSTALL_CPP]);
    let mut fake = Fake::bare(Rights::None);
    assert!(cpp(&mut fake).is_err());
}

#[test]
fn versions_are_read() {
    assert_eq!(rust_version("rustc 1.89.0"), Some((1, 89)));
    assert_eq!(rust_version("rustc 1.96.0-nightly (x)"), Some((1, 96)));
    assert_eq!(rust_version("rustc"), None);
    assert_eq!(rust_version(""), None);
}
