//! Logs in every format: files of the libraries that users have, round trips,
//! and files that are wrong.
#![allow(clippy::unwrap_used, reason = "tests")]

mod refused;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use hambo_data::{
    ColumnNames, FileEnds, Format, Log, Numbers, OutputOptions, Table, convert, read_logs,
    read_table, transitions, write_table,
};
use proptest::prelude::*;

fn fixture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    folder.join(name)
}

fn names() -> ColumnNames {
    ColumnNames {
        states: vec!["x".to_owned(), "v".to_owned()],
        actions: vec!["u".to_owned()],
    }
}

fn log(path: &Path) -> Log {
    let names = names();
    read_logs(&[path.to_owned()], &names).unwrap()
}

/// A folder that goes with its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hambo-data-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Every good fixture, by the library that wrote it.
const GOOD: [&str; 22] = [
    "numpy_f32.npz",
    "numpy_f64_compressed.npz",
    "numpy_uint8_flags.npz",
    "numpy_int64_flags.npz",
    "numpy_float_flags.npz",
    "numpy_big_endian.npz",
    "numpy_fortran.npz",
    "numpy_columns.npz",
    "h5py_f32.hdf5",
    "h5py_f64_gzip_shuffle.hdf5",
    "h5py_v114.hdf5",
    "h5py_v114_gzip.hdf5",
    "h5py_lzf_fletcher.hdf5",
    "h5py_uint8_flags.hdf5",
    "h5py_float_flags.hdf5",
    "h5py_growing.hdf5",
    "h5py_infos.hdf5",
    "minari.hdf5",
    "minari_v114_gzip.hdf5",
    "pandas.csv",
    "pandas_words.parquet",
    "pyarrow_v2_pages.parquet",
];
const PARQUET: [&str; 4] = ["snappy", "zstd", "gzip", "plain"];

#[test]
fn what_the_libraries_write_is_the_same_log() {
    let expected = log(&fixture("expected.csv"));
    assert_eq!(expected.len(), 15);
    let parquet = PARQUET.map(|kind| format!("pandas_{kind}.parquet"));
    for name in GOOD
        .iter()
        .copied()
        .chain(parquet.iter().map(String::as_str))
    {
        assert_eq!(log(&fixture(name)), expected, "{name}");
        let table = read_table(&[fixture(name)], Some(&names())).unwrap();
        let count =
            |flags: &Option<Vec<bool>>| flags.iter().flatten().filter(|flag| **flag).count();
        assert_eq!(
            (count(&table.terminals), count(&table.timeouts)),
            (1, 2),
            "{name}"
        );
    }
}

/// The size of a chunk counts from its dictionary on.
#[test]
fn columns_with_a_large_dictionary_are_read() {
    let names = ColumnNames {
        states: vec!["x".to_owned()],
        actions: vec!["u".to_owned()],
    };
    let file = fixture("pyarrow_dictionary.parquet");
    let table = read_table(&[file], Some(&names)).unwrap();
    let log = transitions(&table).unwrap();
    assert_eq!(log.len(), 2500);
    for (count, row) in log.rows().enumerate() {
        let x = count as f32;
        assert_eq!((row.state, row.action), (&[x][..], &[0.5 * x][..]));
        assert_eq!(row.next_state, [x + 1.0]);
    }
}

#[test]
fn without_next_states_the_last_step_of_an_episode_is_left_out() {
    let mut expected = Log::new(2, 1);
    let all = log(&fixture("expected.csv"));
    let last: Vec<usize> = vec![4, 8, 14];
    for (index, row) in all.rows().enumerate() {
        if !last.contains(&index) {
            expected.push(row).unwrap();
        }
    }
    for name in ["numpy_shifted.npz", "h5py_shifted.hdf5"] {
        assert_eq!(log(&fixture(name)), expected, "{name}");
    }
}

#[test]
fn the_name_does_not_decide() {
    let folder = Folder::new("names");
    let expected = log(&fixture("expected.csv"));
    for (index, name) in ["numpy_f32.npz", "minari.hdf5", "pandas_snappy.parquet"]
        .iter()
        .enumerate()
    {
        for extension in ["csv", "npz", "bin"] {
            let path = folder.path(&format!("{index}.{extension}"));
            std::fs::copy(fixture(name), &path).unwrap();
            assert_eq!(log(&path), expected, "{name} as .{extension}");
        }
    }
}

/// All ways to write a log.
fn ways() -> Vec<(&'static str, OutputOptions)> {
    let way = |format, minari, compress| OutputOptions {
        format,
        minari,
        compress,
    };
    vec![
        ("a.csv", way(Format::Csv, false, false)),
        ("b.npz", way(Format::Npz, false, false)),
        ("c.npz", way(Format::Npz, false, true)),
        ("d.hdf5", way(Format::Hdf5, false, false)),
        ("e.h5", way(Format::Hdf5, false, true)),
        ("f.hdf5", way(Format::Hdf5, true, false)),
        ("g.hdf5", way(Format::Hdf5, true, true)),
        ("h.parquet", way(Format::Parquet, false, false)),
        ("i.parquet", way(Format::Parquet, false, true)),
    ]
}

/// Plain arrays pass from NPZ to HDF5 without a table; the file is the same.
#[test]
fn converting_a_fixture_writes_what_its_table_writes() {
    let folder = Folder::new("convert");
    let (converted, by_table) = (folder.path("converted.hdf5"), folder.path("table.hdf5"));
    let mut plain = ways();
    plain.retain(|(name, _)| *name == "d.hdf5");
    let archives = GOOD.iter().filter(|name| name.ends_with(".npz"));
    for name in archives.chain(&["numpy_shifted.npz"]) {
        let (names, options) = (names(), plain[0].1);
        let input = [fixture(name)];
        let rows = convert(&input, Some(&names), &converted, options, FileEnds::Marked).unwrap();
        let table = read_table(&input, Some(&names)).unwrap();
        write_table(&by_table, &table, options).unwrap();
        assert_eq!(rows, table.rows(), "{name}");
        let (converted, by_table) = (std::fs::read(&converted), std::fs::read(&by_table));
        assert!(converted.unwrap() == by_table.unwrap(), "{name}");
    }
}

/// The numbers of a table, bit by bit, and where its episodes end.
fn bits(table: &Table) -> (Vec<u64>, Vec<usize>, Option<Vec<bool>>) {
    let blocks = [
        Some(&table.states),
        Some(&table.actions),
        table.next_states.as_ref(),
        table.rewards.as_ref(),
    ];
    let bits = blocks.into_iter().flatten().flat_map(|block| {
        let numbers = block.numbers();
        (0..numbers.len()).map(|index| numbers.at(index).to_bits())
    });
    (
        bits.collect(),
        table.episode_lengths(),
        table.terminals.clone(),
    )
}

#[test]
fn round_trips_of_every_pair_keep_every_bit() {
    let folder = Folder::new("pairs");
    let original = folder.path("original.csv");
    // No number here is exact in f32, and most have no short decimal form.
    let mut text = "x,v,u,next.x,next.v,reward,terminal,timeout,episode\n".to_owned();
    let state = |step: u32| (f64::from(step).sin() * 1e-3, f64::from(step).sqrt());
    for step in 0..500_u32 {
        let ((x, v), (next_x, next_v)) = (state(step), state(step + 1));
        let (terminal, timeout) = (u8::from(step % 100 == 49), u8::from(step % 100 == 99));
        let (u, reward, episode) = (x / 3.0, v * 1e9, step / 50);
        text.push_str(&format!(
            "{x},{v},{u},{next_x},{next_v},{reward},{terminal},{timeout},{episode}\n"
        ));
    }
    std::fs::write(&original, text).unwrap();
    let first = read_table(&[original], None).unwrap();
    assert_eq!(first.episode_lengths(), [50; 10]);
    let expected = bits(&first);
    for (one, way) in ways() {
        let one = folder.path(one);
        write_table(&one, &first, way).unwrap();
        let second = read_table(std::slice::from_ref(&one), Some(&names())).unwrap();
        assert_eq!(bits(&second), expected, "{one:?}");
        for (other, way) in ways() {
            let other = folder.path(&format!("of-{other}"));
            write_table(&other, &second, way).unwrap();
            let third = read_table(std::slice::from_ref(&other), Some(&names())).unwrap();
            assert_eq!(bits(&third), expected, "{one:?} to {other:?}");
            assert_eq!(transitions(&third).unwrap(), transitions(&first).unwrap());
        }
    }
}

#[test]
fn f32_stays_f32() {
    let folder = Folder::new("width");
    let table = read_table(&[fixture("numpy_f32.npz")], None).unwrap();
    for (name, way) in ways()
        .into_iter()
        .filter(|(_, way)| way.format != Format::Csv)
    {
        let path = folder.path(name);
        write_table(&path, &table, way).unwrap();
        let back = read_table(&[path], None).unwrap();
        assert!(
            matches!(back.states.numbers(), Numbers::Single(_)),
            "{name}"
        );
        assert!(
            matches!(back.actions.numbers(), Numbers::Single(_)),
            "{name}"
        );
    }
}

#[test]
fn episodes_never_run_across_files() {
    let folder = Folder::new("files");
    let (one, two) = (folder.path("1.csv"), folder.path("2.csv"));
    std::fs::write(&one, "s0,a0\n0,0\n1,0\n").unwrap();
    std::fs::write(&two, "s0,a0\n2,0\n3,0\n").unwrap();
    for (name, way) in ways() {
        let both = folder.path(name);
        let table = read_table(&[one.clone(), two.clone()], None).unwrap();
        write_table(&both, &table, way).unwrap();
        let table = read_table(&[both], None).unwrap();
        let log = transitions(&table).unwrap();
        let steps: Vec<(f32, f32)> = log.rows().map(|r| (r.state[0], r.next_state[0])).collect();
        assert_eq!(steps, [(0.0, 1.0), (2.0, 3.0)], "{name}");
    }
}

/// The command with its output.
fn hambo(folder: &Path, line: &str) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hambo"));
    let output = command
        .args(line.split(' '))
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn info_says_what_is_there() {
    let folder = fixture("");
    let (code, text, _) = hambo(&folder, "data info minari.hdf5");
    assert_eq!(code, Some(0));
    for part in [
        "15 rows, 15 transitions",
        "3 episodes of 4 to 6 rows",
        "1 terminals, 2 timeouts",
        "s1",
        "a0",
        "█",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (_, text, _) = hambo(&folder, "data info numpy_f32.npz numpy_f32.npz --json");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (json["rows"].as_u64(), json["episodes"].as_u64()),
        (Some(30), Some(6))
    );
    assert_eq!(json["columns"][0]["mean"].as_f64(), Some(1.375));
    let odd = json["odd"].to_string();
    assert!(odd.contains("15 rows repeat"), "{odd}");
}

#[test]
fn models_are_fitted_to_every_format_alike() {
    let folder = Folder::new("fit");
    let task = "name = 'cart'\nhorizon = 20\ndelta = 0.1\n[state]\nnames = ['x', 'v']\n\
        [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\nexpr = '-x^2'\n\
        [initial]\nkind = 'point'\nvalue = [1, 0]\n";
    std::fs::write(folder.path("task.toml"), task).unwrap();
    let mut text = "x,v,u,reward,episode\n".to_owned();
    for episode in 0..8_u32 {
        let (mut x, mut v) = (0.5 * f64::from(episode), 0.0);
        for step in 0..20_u32 {
            let u = f64::from((step * 7 + episode * 3) % 11) / 8.0 - 0.5;
            text.push_str(&format!("{x},{v},{u},{},{episode}\n", -x));
            (x, v) = (x + 0.1 * v, v + 0.1 * u);
        }
    }
    std::fs::write(folder.path("log.csv"), text).unwrap();
    let fit = |data: &str| {
        let line =
            format!("fit task.toml --data {data} --model bnn --hidden 8 --steps 50 -o m.hambo");
        let (code, _, error) = hambo(&folder.0, &line);
        assert_eq!(code, Some(0), "{data}: {error}");
        let (code, _, error) = hambo(
            &folder.0,
            &format!("predict m.hambo --data {data} -o out.csv"),
        );
        assert_eq!(code, Some(0), "{data}: {error}");
        std::fs::read(folder.path("out.csv")).unwrap()
    };
    let expected = fit("log.csv");
    for name in ["log.npz", "log.hdf5", "log.parquet"] {
        let (code, text, error) = hambo(
            &folder.0,
            &format!("data convert log.csv {name} --task task.toml"),
        );
        assert_eq!((code, error.as_str()), (Some(0), ""));
        assert!(text.contains("160 rows"), "{text}");
        assert!(fit(name) == expected, "{name}: other predictions");
    }
}

#[test]
fn a_failed_write_leaves_what_was_there() {
    let folder = Folder::new("atomic");
    std::fs::write(folder.path("nan.csv"), "s0,a0\n0,0\nNaN,1\n").unwrap();
    // The states do not follow each other, so Minari's layout refuses them.
    std::fs::write(
        folder.path("gap.csv"),
        "s0,a0,next.s0,episode\n0,0,1,0\n5,1,6,0\n",
    )
    .unwrap();
    for line in [
        "data convert nan.csv out.hdf5",
        "data convert gap.csv out.hdf5 --layout minari",
    ] {
        std::fs::write(folder.path("out.hdf5"), "precious").unwrap();
        let (code, _, _) = hambo(&folder.0, line);
        assert_eq!(code, Some(2), "{line}");
        assert_eq!(std::fs::read(folder.path("out.hdf5")).unwrap(), b"precious");
        assert!(!folder.path("out.hdf5.part").exists(), "{line}");
    }
}

/// Peak memory of this process in MiB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let number: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(number / 1024)
}

/// Fixtures with a structure of their own.
const SEEDS: [&str; 12] = [
    "numpy_f32.npz",
    "numpy_f64_compressed.npz",
    "h5py_f32.hdf5",
    "h5py_f64_gzip_shuffle.hdf5",
    "h5py_v114_gzip.hdf5",
    "h5py_growing.hdf5",
    "minari.hdf5",
    "minari_v114_gzip.hdf5",
    "pandas_snappy.parquet",
    "pandas_zstd.parquet",
    "pyarrow_v2_pages.parquet",
    "pandas.csv",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn damaged_files_never_panic(
        seed in 0..SEEDS.len(),
        flips in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        end in proptest::option::weighted(0.3, any::<prop::sample::Index>()),
    ) {
        let mut bytes = std::fs::read(fixture(SEEDS[seed])).unwrap();
        for (place, byte) in flips {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Some(end) = end {
            bytes.truncate(end.index(bytes.len()));
        }
        let file = std::env::temp_dir().join(format!("hambo-flips-{}", std::process::id()));
        std::fs::write(&file, bytes).unwrap();
        let start = Instant::now();
        let result = read_table(std::slice::from_ref(&file), None);
        let time = start.elapsed();
        prop_assert!(time < Duration::from_secs(5), "{time:?}");
        if let Err(error) = result {
            let text = error.to_string();
            prop_assert!(text.contains("hambo-flips") && text.contains("help: "), "{text}");
        }
        let peak = peak_memory().unwrap_or(0);
        prop_assert!(peak < 1024, "{peak} MiB");
    }
}

/// More by hand: HAMBO_CASES=100000.
fn cases() -> u32 {
    let cases = std::env::var("HAMBO_CASES").ok();
    cases.and_then(|cases| cases.parse().ok()).unwrap_or(2000)
}
