//! Images: what is written is read, and any wrong byte is refused.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::path::Path;

use hambo_check::parallel::{Watch, check};
use hambo_core::image::{Image, ImageError, Part, Problem};
use hambo_core::policy::Policy;
use hambo_learn::calibration::{CalibrationMode, CalibrationStatus, Gate, ModelCalibration};
use hambo_learn::ensemble::EnsembleOptions;
use hambo_learn::model_file::{
    DataSummary, LogSample, Metadata, ModelFile, ModelFileError, NetworkSummary, TrainingSummary,
};
use hambo_task::image::{AlignedBytes, BundleAbout, NoisePools, encode_bundle};
use hambo_task::task::TaskFile;
use hambo_tests::fixture;
use rayon::prelude::*;

fn parse(bytes: &[u8]) -> Result<(), ImageError> {
    Image::parse(AlignedBytes::new(bytes).as_bytes()).map(|_| ())
}

#[test]
fn round_trip() {
    for seed in 0..50 {
        let bytes = fixture::image(seed).unwrap();
        let image = Image::parse(bytes.as_bytes()).unwrap();
        let (model, task) = (image.model(), image.task());
        assert!(image.policy().state_dimension() <= task.state_dimension());
        assert_eq!(model.dynamics.outputs(), task.moved_states());
        assert_eq!(model.dynamics.features(), task.physics.features());
        assert!(image.task().horizon >= 3 && image.task().delta == 0.1);
        assert_eq!(image.task().threshold, Some(-5.0));
        assert_eq!(image.task().action_limits.low[0], -0.4);
        assert_eq!(image.task().plan.effort.seed, seed);
        assert!(image.model().confidence.beta > 0.9);
        let columns = image.model().support.centre.len();
        assert_eq!(image.model().support.rows.len() % columns, 0);
    }
}

/// Fuzzing and the comparison of processors begin with them.
#[test]
fn the_fuzz_corpus_is_of_this_format() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/image");
    let seeds: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
    assert!(seeds.len() >= 31);
    for seed in seeds {
        let path = seed.unwrap().path();
        let read = parse(&std::fs::read(&path).unwrap());
        assert_eq!(
            read,
            Ok(()),
            "{}: cargo run --release -p hambo-tests --example fuzz_corpus -- fuzz/corpus",
            path.display()
        );
    }
}

/// hambo-core/examples/own_firmware.rs has an image without the host.
#[test]
fn the_image_of_the_cores_example_is_what_the_host_writes() {
    let written = fixture::point().unwrap();
    let bundle = encode_bundle(written.as_bytes(), &BundleAbout::default(), None).unwrap();
    let floor = fixture::point_floor(written.as_bytes()).unwrap();
    for (name, wanted) in [
        ("point.hmb", &written),
        ("point_bundle.hmb", &bundle),
        ("point.floor", &floor),
    ] {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../hambo-core/examples");
        let path = examples.join(name);
        let stored = std::fs::read(&path).unwrap_or_default();
        if stored != wanted.as_bytes() {
            let new = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
            std::fs::write(&new, wanted.as_bytes()).unwrap();
            panic!("cp {} {}", new.display(), path.display());
        }
    }
    // Not only the same robot: the same numbers.
    let image = Image::parse(written.as_bytes()).unwrap();
    let example = hambo_core::example::image().unwrap();
    let digest = |image: &Image<'_>| check::<4>(image, Watch::NONE).unwrap().outcome.digest();
    assert_eq!(digest(&image), digest(&example));
}

#[test]
fn every_corrupted_byte_is_refused() {
    let original = fixture::image(1).unwrap();
    let original = original.as_bytes();
    let problems: Vec<ImageError> = (0..original.len())
        .into_par_iter()
        .flat_map_iter(|position| {
            // Each bit alone, all bits, and a zero.
            let flips = (0..8)
                .map(|bit| 1_u8 << bit)
                .chain([0xFF, original[position]]);
            flips.filter(|flip| *flip != 0).map(move |flip| {
                let mut bytes = original.to_vec();
                bytes[position] ^= flip;
                match parse(&bytes) {
                    Ok(()) => panic!("byte {position} ^ {flip:02x} was accepted"),
                    Err(error) => error,
                }
            })
        })
        .collect();
    let with = |problem| {
        problems
            .iter()
            .filter(|error| error.problem == problem)
            .count()
    };
    assert!(
        with(Problem::Magic) > 0 && with(Problem::EarlierVersion) > 0 && with(Problem::Length) > 0
    );
    assert!(with(Problem::Checksum) > problems.len() / 2);
    for part in [Part::Model, Part::Task, Part::Policy] {
        assert!(problems.iter().any(|error| error.part == part));
    }
}

#[test]
fn other_versions_are_refused() {
    let mut bytes = fixture::image(1).unwrap().as_bytes().to_vec();
    let error = |bytes: &[u8]| hambo_base::Error::from(parse(bytes).unwrap_err()).to_string();
    bytes[4] -= 1;
    let earlier =
        "the image's model part: it was written by an earlier version of hambo; export it again";
    assert_eq!(error(&bytes), earlier);
    bytes[4] += 2;
    let later = "it was written by a later version of hambo than this one";
    assert!(error(&bytes).contains(later));
}

#[test]
fn every_truncation_and_extension_is_refused() {
    let original = fixture::image(2).unwrap();
    let original = original.as_bytes();
    (0..original.len()).into_par_iter().for_each(|length| {
        assert!(
            parse(&original[..length]).is_err(),
            "{length} bytes were accepted"
        );
    });
    let mut longer = original.to_vec();
    longer.push(0);
    assert_eq!(
        parse(&longer),
        Err(ImageError {
            part: Part::Image,
            problem: Problem::TrailingBytes
        })
    );
    // In flash the image is followed by whatever was there.
    let longer = AlignedBytes::new(&longer);
    assert!(Image::parse_prefix(longer.as_bytes()).is_ok());
}

#[test]
fn parts_in_the_wrong_place_are_refused() {
    let original = fixture::image(3).unwrap();
    let bytes = original.as_bytes();
    let length = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    let rest = &bytes[64 + length..];
    assert_eq!(
        parse(rest),
        Err(ImageError {
            part: Part::Model,
            problem: Problem::Kind
        })
    );
    // The task and policy of another robot.
    let other = (4..100)
        .map(|seed| fixture::image(seed).unwrap())
        .find(|other| other.as_bytes()[64] != bytes[64])
        .unwrap();
    let mut mixed = other.as_bytes().to_vec();
    let other_length = u32::from_le_bytes(mixed[8..12].try_into().unwrap()) as usize;
    mixed.truncate(64 + other_length);
    mixed.extend(rest);
    assert_eq!(
        parse(&mixed),
        Err(ImageError {
            part: Part::Task,
            problem: Problem::Dimension
        })
    );
}

#[test]
fn a_misaligned_image_is_refused() {
    let original = fixture::image(4).unwrap();
    let mut shifted = vec![0; 4];
    shifted.extend(original.as_bytes());
    let shifted = AlignedBytes::new(&shifted);
    assert_eq!(
        Image::parse(&shifted.as_bytes()[4..]).map(|_| ()),
        Err(ImageError {
            part: Part::Model,
            problem: Problem::Alignment
        })
    );
}

#[test]
fn model_files_keep_everything_and_refuse_damage() {
    let image = fixture::image(5).unwrap();
    let bytes = image.as_bytes();
    let length = u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    let task = "name = 'line'\nhorizon = 4\n[state]\nnames = ['x']\n[action]\nnames = ['u']\n\
                low = [-1]\nhigh = [1]\n[reward]\nexpr = '-x^2'\n[initial]\nkind = 'data'\n";
    let task = TaskFile::parse(task, "line.toml").unwrap();
    let metadata = Metadata {
        hambo_version: "0.1.0".to_owned(),
        seed: 5,
        data: DataSummary {
            hash: [7; 32],
            rows: 240,
            training_rows: 192,
            validation_rows: 0,
            withheld_rows: 48,
            split_by_episodes: true,
            recordings: 12,
            stationary: false,
            judging: vec![2, 7],
            exploration: vec![None],
        },
        sample: LogSample::default(),
        judging_rows: hambo_learn::near_path::JudgingRows::default(),
        state_names: vec!["x".to_owned()],
        action_names: vec!["u".to_owned()],
        view: task.model_view(),
        learned_reward: false,
        training: TrainingSummary::Networks(NetworkSummary {
            options: EnsembleOptions::demo(),
            losses: vec![-1.0, -2.0],
            validation_loss: None,
            best_step: 1000,
        }),
        delta: Some(0.05),
        calibration_mode: CalibrationMode::Paper,
        calibration: ModelCalibration {
            status: CalibrationStatus::Calibrated,
            choosing_rows: 16,
            gate: Gate {
                widening: 1.0,
                rows: 32,
                episodes: 4,
                share: 1.0,
                episodes_outside: 0,
                episodes_outside_upper: 0.5,
                share_lower: 0.91,
                windows: Vec::new(),
            },
            noise_factor: Vec::new(),
            noise_pools: NoisePools::default(),
            stays: Vec::new(),
            regions: Vec::new(),
            beta: 2.0,
            dimensions: Vec::new(),
            joint_epistemic_coverage: 0.9,
        },
        backtest: None,
    };
    let file = ModelFile::new(metadata.clone(), &bytes[..64 + length]).unwrap();
    let folder = std::env::temp_dir().join(format!("hambo-model-file-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("m.hambo");
    file.write(&path).unwrap();
    let read = ModelFile::read(&path).unwrap();
    assert_eq!(read.metadata(), &metadata);
    assert_eq!(read.model_part(), file.model_part());

    let whole = std::fs::read(&path).unwrap();
    for position in (0..whole.len()).step_by(37) {
        let mut damaged = whole.clone();
        damaged[position] ^= 0x10;
        std::fs::write(&path, &damaged).unwrap();
        let error = ModelFile::read(&path).unwrap_err();
        assert!(matches!(error, ModelFileError::Damaged { .. }), "{error}");
        assert!(error.to_string().contains("m.hambo"));
    }
    let mut earlier = whole.clone();
    earlier[4] -= 1;
    std::fs::write(&path, &earlier).unwrap();
    let error = ModelFile::read(&path).unwrap_err().to_string();
    let expected = "m.hambo: written by an earlier version of hambo: fit again";
    assert!(error.ends_with(expected), "{error}");
    let missing = ModelFile::read(&folder.join("none.hambo")).unwrap_err();
    assert!(missing.to_string().contains("none.hambo"), "{missing}");
    std::fs::remove_dir_all(&folder).unwrap();
}
