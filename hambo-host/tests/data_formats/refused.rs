//! Files that are wrong, one way each: the message names the file and the
//! place and says what to do, the exit code is 2, and it takes no second.

use std::io::Write as _;
use std::time::{Duration, Instant};

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use super::{Folder, fixture, hambo};

const TASK: &str = "name = 'cart'\nhorizon = 20\ndelta = 0.1\n[state]\nnames = ['x', 'v']\n\
    [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\nexpr = '-x^2'\n\
    [initial]\nkind = 'point'\nvalue = [1, 0]\n";

/// An array in NumPy's form.
fn npy(kind: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

fn f32s(kind: &str, shape: &str, numbers: &[f32]) -> Vec<u8> {
    let data: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    npy(kind, shape, &data)
}

/// An entry of an archive, with claims that need not be true.
struct Entry {
    name: &'static str,
    method: u16,
    flags: u16,
    stored: Vec<u8>,
    size: u32,
    crc: u32,
}

fn entry(name: &'static str, bytes: Vec<u8>) -> Entry {
    let mut crc = Crc::new();
    crc.update(&bytes);
    Entry {
        name,
        method: 0,
        flags: 0,
        size: bytes.len() as u32,
        crc: crc.sum(),
        stored: bytes,
    }
}

fn zip(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut directory = Vec::new();
    for entry in entries {
        let offset = bytes.len() as u32;
        let mut common = Vec::new();
        common.extend(20_u16.to_le_bytes());
        common.extend(entry.flags.to_le_bytes());
        common.extend(entry.method.to_le_bytes());
        common.extend([0; 4]);
        common.extend(entry.crc.to_le_bytes());
        common.extend((entry.stored.len() as u32).to_le_bytes());
        common.extend(entry.size.to_le_bytes());
        common.extend((entry.name.len() as u16).to_le_bytes());
        common.extend([0; 2]);
        bytes.extend(b"PK\x03\x04");
        bytes.extend(&common);
        bytes.extend(entry.name.as_bytes());
        bytes.extend(&entry.stored);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(entry.name.as_bytes());
    }
    let start = bytes.len() as u32;
    let count = entries.len() as u16;
    bytes.extend(&directory);
    bytes.extend(b"PK\x05\x06\x00\x00\x00\x00");
    bytes.extend(count.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend((directory.len() as u32).to_le_bytes());
    bytes.extend(start.to_le_bytes());
    bytes.extend([0; 2]);
    bytes
}

/// Three good rows, and one entry instead of a good one or beside them.
fn archive(other: Entry) -> Vec<u8> {
    let good = [
        entry(
            "observations.npy",
            f32s("<f4", "(3, 2)", &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        ),
        entry("actions.npy", f32s("<f4", "(3, 1)", &[0.0, 1.0, 2.0])),
    ];
    let mut entries: Vec<Entry> = good.into_iter().filter(|e| e.name != other.name).collect();
    entries.push(other);
    zip(&entries)
}

/// A thousand times smaller than it becomes.
fn bomb() -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    let rows = 50_000_000_u32;
    let header = npy("<f4", &format!("({rows}, 2)"), &[]);
    encoder.write_all(&header).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..16 {
        encoder.write_all(&zeros).unwrap();
    }
    archive(Entry {
        method: 8,
        size: header.len() as u32 + rows * 8,
        stored: encoder.finish().unwrap(),
        ..entry("observations.npy", Vec::new())
    })
}

/// What is written, what is run, and what the message must say.
type Case = (&'static str, Vec<u8>, &'static str, &'static [&'static str]);

fn cases() -> Vec<Case> {
    let cut = |name: &str, bytes: usize| {
        let mut all = std::fs::read(fixture(name)).unwrap();
        all.truncate(all.len() - bytes);
        all
    };
    let copy = |name: &str| std::fs::read(fixture(name)).unwrap();
    let good_states = || f32s("<f4", "(3, 2)", &[0.0; 6]);
    vec![
        (
            "no_key.npz",
            zip(&[entry("observations.npy", good_states())]),
            "data info no_key.npz",
            &[
                "no_key.npz: the key `actions` is missing",
                "the file has: observations",
            ],
        ),
        (
            "no_column.csv",
            b"x,u\n0,0\n1,0\n".to_vec(),
            "data info no_column.csv --task task.toml",
            &["no_column.csv: the column `v` is missing", "x, u"],
        ),
        (
            "no_column.parquet",
            copy("pandas_snappy.parquet"),
            "data info no_column.parquet --task other.toml",
            &["no_column.parquet: the column `y` is missing"],
        ),
        (
            "nan.npz",
            archive(entry(
                "actions.npy",
                f32s("<f4", "(3, 1)", &[0.0, f32::NAN, 0.0]),
            )),
            "data convert nan.npz out.csv",
            &[
                "nan.npz, row 2, `a0`: NaN is not a finite number",
                "mend or remove",
            ],
        ),
        (
            "nan_plain.npz",
            archive(entry(
                "actions.npy",
                f32s("<f4", "(3, 1)", &[0.0, 0.0, f32::NAN]),
            )),
            "data convert nan_plain.npz out.hdf5",
            &["nan_plain.npz, row 3, `a0`: NaN is not a finite number"],
        ),
        (
            "nan.csv",
            b"x,v,u\n0,0,0\n1,NaN,0\n2,0,0\n".to_vec(),
            "fit task.toml --data nan.csv -o m.hambo",
            &["nan.csv, line 3, column `v`", "NaN"],
        ),
        (
            "huge.csv",
            b"s0,a0\n0,0\n1e300,0\n".to_vec(),
            "data convert huge.csv out.npz",
            &["huge.csv, line 3, `s0`: 1e", "f32"],
        ),
        (
            "object.npz",
            copy("bad_object.npz"),
            "data info object.npz",
            &[
                "object.npz, `observations`: it holds pickled Python objects",
                "unequal length",
            ],
        ),
        (
            "ragged.hdf5",
            copy("bad_ragged_minari.hdf5"),
            "data info ragged.hdf5",
            &["ragged.hdf5, `episode_0/observations`: 15 rows for 15 actions"],
        ),
        (
            "unequal.npz",
            archive(entry("rewards.npy", f32s("<f4", "(2,)", &[0.0; 2]))),
            "data info unequal.npz",
            &["unequal.npz, `rewards`: 2 rows, `observations` has 3"],
        ),
        (
            "cut.npz",
            cut("numpy_f32.npz", 300),
            "data info cut.npz",
            &["cut.npz: the archive has no directory", "write it anew"],
        ),
        (
            "cut.hdf5",
            cut("h5py_f32.hdf5", 900),
            "data info cut.hdf5",
            &["cut.hdf5", "cannot be read", "cut short"],
        ),
        (
            "cut.parquet",
            cut("pandas_snappy.parquet", 20),
            "data info cut.parquet",
            &["cut.parquet: this Parquet file cannot be read", "cut short"],
        ),
        (
            "text.npz",
            b"x,v,u\n0,0,0\n".to_vec(),
            "data info text.npz",
            &[
                "text.npz: its first bytes are not those of NPZ data",
                "wrong name",
            ],
        ),
        (
            "noise.hdf5",
            b"\x01\x02\x03\x00\xff".to_vec(),
            "data info noise.hdf5",
            &["noise.hdf5: its first bytes are not those of HDF5 data"],
        ),
        (
            "noise.bin",
            b"\x01\x02\x03\x00\xff".to_vec(),
            "data info noise.bin",
            &[
                "noise.bin: a log of this kind is not known",
                "CSV with a header, NPZ, HDF5 or Parquet",
            ],
        ),
        (
            "bomb.npz",
            bomb(),
            "data info bomb.npz",
            &["bomb.npz, `observations`: it claims 400000000 bytes"],
        ),
        (
            "lie.npz",
            archive(entry(
                "observations.npy",
                f32s("<f4", "(1000, 2)", &[0.0; 6]),
            )),
            "data info lie.npz",
            &["lie.npz, `observations`: its shape [1000, 2] needs 8000 bytes, it has 24"],
        ),
        (
            "overflow.npz",
            archive(entry(
                "observations.npy",
                f32s("<f4", "(4611686018427387904, 8)", &[]),
            )),
            "data info overflow.npz",
            &["overflow.npz, `observations`: it claims more than 2^64 bytes"],
        ),
        (
            "header.npz",
            archive(entry(
                "observations.npy",
                b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{".to_vec(),
            )),
            "data info header.npz",
            &["header.npz, `observations`: its header claims 2147483647 bytes"],
        ),
        (
            "huge.hdf5",
            copy("bad_huge_dimensions.hdf5"),
            "data info huge.hdf5",
            &["huge.hdf5, `observations`: it claims 17592186044416 bytes"],
        ),
        (
            "text_type.npz",
            copy("bad_text.npz"),
            "data info text_type.npz",
            &["text_type.npz, `rewards`: the type `<U1`", "float32"],
        ),
        (
            "string.hdf5",
            copy("bad_string.hdf5"),
            "data info string.hdf5",
            &["string.hdf5, `rewards`: its type is string"],
        ),
        (
            "zero.csv",
            b"x,v,u\n".to_vec(),
            "data info zero.csv",
            &["zero.csv: there is no transition", "no row"],
        ),
        (
            "zero.npz",
            archive(entry("observations.npy", f32s("<f4", "(0, 2)", &[]))),
            "data info zero.npz",
            &["zero.npz, `actions`: 3 rows, `observations` has 0"],
        ),
        (
            "empty.csv",
            Vec::new(),
            "data info empty.csv",
            &["empty.csv: the file is empty"],
        ),
        (
            "x",
            Vec::new(),
            "data info .",
            &[".: this is a folder", "main_data.hdf5"],
        ),
        (
            "x",
            Vec::new(),
            "data info no/such.npz",
            &["cannot read no/such.npz", "check the path"],
        ),
        (
            "filter.hdf5",
            copy("bad_filter.hdf5"),
            "data info filter.hdf5",
            &[
                "filter.hdf5, `rewards`: it is compressed with Zstandard (filter 32015)",
                "h5repack",
            ],
        ),
        (
            "layout.hdf5",
            copy("bad_layout_5.hdf5"),
            "data info layout.hdf5",
            &["layout.hdf5, `observations`", "libver=\"v114\""],
        ),
        (
            "dictionary.hdf5",
            copy("bad_dictionary_space.hdf5"),
            "data info dictionary.hdf5",
            &["`episode_0/observations`: it is a group", "flatten"],
        ),
        (
            "method.npz",
            archive(Entry {
                method: 12,
                ..entry("rewards.npy", f32s("<f4", "(3,)", &[0.0; 3]))
            }),
            "data info method.npz",
            &["method.npz, `rewards`: its compression, number 12, is not known"],
        ),
        (
            "secret.npz",
            archive(Entry {
                flags: 1,
                ..entry("rewards.npy", f32s("<f4", "(3,)", &[0.0; 3]))
            }),
            "data info secret.npz",
            &["secret.npz, `rewards`: it is encrypted"],
        ),
        (
            "crc.npz",
            archive(Entry {
                crc: 7,
                ..entry("rewards.npy", f32s("<f4", "(3,)", &[0.0; 3]))
            }),
            "data info crc.npz",
            &["crc.npz, `rewards`: its checksum is wrong"],
        ),
        (
            "flag.npz",
            archive(entry(
                "terminals.npy",
                f32s("<f4", "(3,)", &[0.0, 0.5, 1.0]),
            )),
            "data info flag.npz",
            &["flag.npz, row 2, `terminals`: 0.5 is not 0 or 1"],
        ),
        (
            "cube.npz",
            archive(entry(
                "observations.npy",
                f32s("<f4", "(3, 2, 1)", &[0.0; 6]),
            )),
            "data info cube.npz",
            &["cube.npz, `observations`: its shape is [3, 2, 1], not rows × numbers"],
        ),
        (
            "wide.npz",
            archive(entry("observations.npy", f32s("<f4", "(3, 3)", &[0.0; 9]))),
            "data info wide.npz --task task.toml",
            &["wide.npz, `observations`: 3 numbers a row, the task names 2: x, v"],
        ),
        (
            "one.npy",
            good_states(),
            "data info one.npy",
            &["one.npy: this is one array, not a log", "numpy.savez"],
        ),
        (
            "p.pkl",
            b"\x80\x04\x95".to_vec(),
            "data info p.pkl",
            &["p.pkl: this looks like a Python pickle", "never loaded"],
        ),
        (
            "log.csv.gz",
            b"\x1f\x8b\x08\x00".to_vec(),
            "data info log.csv.gz",
            &["log.csv.gz: this is a gzip file", "gunzip"],
        ),
        (
            "torch.npz",
            zip(&[entry("archive/data.pkl", b"\x80\x02".to_vec())]),
            "data info torch.npz",
            &[
                "torch.npz: the key `observations` is missing",
                "archive/data.pkl",
            ],
        ),
        (
            "roles.csv",
            b"x,v,u,run\n0,0,0,0\n1,0,0,0\n".to_vec(),
            "data convert roles.csv out.npz",
            &[
                "roles.csv: nothing tells its states from its actions",
                "--task",
            ],
        ),
        (
            "good.npz",
            copy("numpy_f32.npz"),
            "data convert good.npz out.mat",
            &["out.mat: the end of the name says no format", ".parquet"],
        ),
        (
            "good.npz",
            copy("numpy_f32.npz"),
            "data convert good.npz no/folder/out.npz",
            &["no/folder/out.npz: cannot be written", "create the folder"],
        ),
        (
            "good.npz",
            copy("numpy_shifted.npz"),
            "data info good.npz full.npz",
            &["full.npz, next states: given here, missing in good.npz"],
        ),
        (
            "gap.csv",
            b"s0,a0,next.s0,episode\n0,0,1,0\n5,1,6,0\n".to_vec(),
            "data convert gap.csv out.hdf5 --layout minari",
            &["gap.csv, row 1", "Minari", "--layout d4rl"],
        ),
    ]
}

#[test]
fn bad_input_is_refused_with_its_place_and_a_remedy() {
    let folder = Folder::new("refused");
    std::fs::write(folder.path("task.toml"), TASK).unwrap();
    std::fs::write(
        folder.path("other.toml"),
        TASK.replace("['x', 'v']", "['x', 'y']"),
    )
    .unwrap();
    std::fs::copy(fixture("numpy_f32.npz"), folder.path("full.npz")).unwrap();
    let mut wrong = Vec::new();
    for (name, bytes, line, parts) in cases() {
        std::fs::write(folder.path(name), bytes).unwrap();
        let start = Instant::now();
        let (code, out, error) = hambo(&folder.0, line);
        let time = start.elapsed();
        let missing = parts.iter().any(|part| !error.contains(part));
        let plain = error.starts_with("hambo: ") && error.contains("\nhelp: ");
        if code != Some(2) || missing || !plain || error.contains("panicked") {
            wrong.push(format!("{line}: {code:?} {out}{error}"));
        }
        if time > Duration::from_secs(5) {
            wrong.push(format!("{line}: {time:?}"));
        }
        for left in [
            "out.csv",
            "out.npz",
            "out.hdf5",
            "out.mat",
            "m.hambo",
            "out.hdf5.part",
        ] {
            if folder.path(left).exists() {
                wrong.push(format!("{line} leaves {left}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
