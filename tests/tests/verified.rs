//! The verifier and the gate behind it under QEMU: what nobody signed never raises the pin, and the
//! log says why.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};

use hambo_core::image::{Bundle, Part, Role};
use hambo_core::link::device::Refusal;
use hambo_core::link::handover::Doubt;
use hambo_device::{DeviceReport, Qemu};
use hambo_task::image::{AlignedBytes, floor_of_trust};
use hambo_task::signing::{SecretKey, sign};
use hambo_tests::point_robot::PointBundle;
use hambo_tests::signed::{claiming, parts};

fn elf(variable: &str) -> PathBuf {
    let found = std::env::var_os(variable);
    found
        .unwrap_or_else(|| panic!("{variable} names the program: run `cargo xtask test`"))
        .into()
}

/// A key that the verifier of the tests knows.
fn key(name: &str) -> SecretKey {
    let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/keys");
    SecretKey::read(&keys.join(format!("test-only-{name}.key"))).unwrap()
}

fn signed(bytes: &[u8], key: &SecretKey) -> Vec<u8> {
    let signed = sign(&AlignedBytes::new(bytes), key).unwrap();
    signed.as_bytes().to_vec()
}

fn run(name: &str, bundle: &[u8], floor: &[u8]) -> DeviceReport {
    let folder = std::env::temp_dir();
    let own = format!("hambo-verified-{}-{name}", std::process::id());
    let [image, robot] = ["hmb", "floor"].map(|end| folder.join(format!("{own}.{end}")));
    fs::write(&image, bundle).unwrap();
    fs::write(&robot, floor).unwrap();
    let report = Qemu::new(elf("HAMBO_FIRMWARE_VERIFIED"))
        .with_verifier(elf("HAMBO_VERIFIER"))
        .with_floor(&robot)
        .run(&image);
    let _ = fs::remove_file(image);
    let _ = fs::remove_file(robot);
    report.unwrap()
}

#[test]
fn only_what_both_keys_have_signed_raises_the_pin() {
    let (controllers, owner) = (key("controllers"), key("owner"));
    let plain = PointBundle::default().bundle().unwrap();
    let plain = plain.as_bytes();
    let mut newer = PointBundle::default();
    newer.about.counter += 1;
    newer.gain = -0.45;
    let newer = newer.bundle().unwrap();
    let floor = floor_of_trust(plain).unwrap();
    let floor = floor.as_bytes();
    let good = signed(plain, &controllers);
    let good_floor = signed(floor, &owner);

    let report = run("good", &good, &good_floor);
    assert_eq!(report.result.decision(), "deploy", "{:?}", report.log);
    assert!(report.result.output_enabled);

    let stranger = SecretKey::of_seed(Role::Controllers, [7; 32]);
    let by_stranger = signed(plain, &stranger);
    // A bundle of its own signature, and of parts that both are signed.
    let mut mixed = parts(&good);
    let other = parts(&signed(newer.as_bytes(), &controllers));
    *mixed.last_mut().unwrap() = other.last().unwrap().clone();
    let mixed = mixed.concat();
    assert!(Bundle::parse(AlignedBytes::new(&mixed).as_bytes()).is_ok());
    let mut lifted = parts(&good);
    lifted[0] = other[0].clone();
    let of_owner = SecretKey::of_seed(Role::Controllers, [0; 32]);
    let wrong_floor = claiming(
        &signed(floor, &SecretKey::of_seed(Role::Floor, [7; 32])),
        owner.public().as_bytes(),
    );
    let bundles = [Part::Bundle; 6];
    let doubts = [
        Doubt::Unsigned,
        Doubt::OtherKey,
        Doubt::Wrong,
        Doubt::Wrong,
        Doubt::Unsigned,
        Doubt::OtherKey,
    ];
    let files = [
        plain.to_vec(),
        by_stranger.clone(),
        claiming(&by_stranger, controllers.public().as_bytes()),
        mixed,
        good[..good.len() - 16].to_vec(),
        signed(plain, &of_owner),
    ];
    for (number, ((file, part), doubt)) in files.iter().zip(bundles).zip(doubts).enumerate() {
        refused(&number.to_string(), file, &good_floor, (part, doubt));
    }
    // A manifest of another bundle: the gate cannot read it, whoever signed.
    let report = run("lifted", &lifted.concat(), &good_floor);
    assert!(report.result.verdict.is_err() && !report.result.output_enabled);
    for (number, (floor, doubt)) in [
        (floor.to_vec(), Doubt::Unsigned),
        (wrong_floor, Doubt::Wrong),
        // The number of the controllers' key on a floor.
        (
            signed(floor, &SecretKey::of_seed(Role::Floor, [8; 32])),
            Doubt::OtherKey,
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("floor-{number}");
        refused(&name, &good, &floor, (Part::Floor, doubt));
    }
}

/// The pin stays low, and the log says why.
fn refused(name: &str, bundle: &[u8], floor: &[u8], (part, doubt): (Part, Doubt)) {
    let report = run(name, bundle, floor);
    let said = Refusal::Unverified(part, doubt);
    assert_eq!(report.result.verdict, Err(said), "{name}: {:?}", report.log);
    assert!(!report.result.output_enabled, "{name}");
    let high = report
        .gpio_writes
        .iter()
        .any(|write| write.enables_outputs());
    assert!(!high, "{name}");
    let line = format!("{doubt:?}");
    assert!(
        report.log.iter().any(|said| said.contains(&line)),
        "{name}: {:?}",
        report.log
    );
}
