//! Files that are wrong, one way each: the message names the file and the place and says what to
//! do, the exit code is 2, and it takes no second.

use std::time::{Duration, Instant};

use super::{Folder, fixture, hambo};
use crate::archive::{Entry, entry, f32s, npy, zip};

const TASK: &str = "name = 'cart'\nhorizon = 20\ndelta = 0.1\n[state]\nnames = ['x', 'v']\n\
    [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\nexpr = '-x^2'\n\
    [initial]\nkind = 'point'\nvalue = [1, 0]\n";

/// Three good rows, and one entry instead of a good one or beside them.
fn archive(other: Entry) -> Vec<u8> {
    let mut entries = vec![
        entry(
            "observations.npy",
            &f32s("(3, 2)", &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        ),
        entry("actions.npy", &f32s("(3, 1)", &[0.0, 1.0, 2.0])),
    ];
    entries.retain(|entry| entry.name != other.name);
    entries.push(other);
    zip(&entries)
}

/// Such an archive with this array.
fn with(key: &str, shape: &str, numbers: &[f32]) -> Vec<u8> {
    archive(entry(&format!("{key}.npy"), &f32s(shape, numbers)))
}

fn rewards() -> Entry {
    entry("rewards.npy", &f32s("(3,)", &[0.0; 3]))
}

/// A thousand times smaller than it becomes.
fn bomb() -> Vec<u8> {
    let rows = 50_000_000_u32;
    let header = npy("<f4", &format!("({rows}, 2)"), &[]);
    let zeros = [header.as_slice(), &vec![0; 16 << 20]].concat();
    archive(Entry {
        size: header.len() as u32 + rows * 8,
        ..entry("observations.npy", &zeros).deflated()
    })
}

/// What is written, what is run with it, and what the message must say, between `|`. `@` is the
/// file.
type Case = (&'static str, Vec<u8>, &'static str, &'static str);

fn case(
    name: &'static str,
    bytes: impl AsRef<[u8]>,
    line: &'static str,
    words: &'static str,
) -> Case {
    (name, bytes.as_ref().to_vec(), line, words)
}

fn info(name: &'static str, bytes: impl AsRef<[u8]>, words: &'static str) -> Case {
    case(name, bytes, "data info @", words)
}

fn cases() -> Vec<Case> {
    let copy = |name: &str| std::fs::read(fixture(name)).unwrap();
    let cut = |name: &str, bytes: usize| {
        let mut all = copy(name);
        all.truncate(all.len() - bytes);
        all
    };
    let nested = format!("{{'descr': '<f4', 'shape': {}", "[{(".repeat(20_000));
    let mut nested_array = b"\x93NUMPY\x02\x00".to_vec();
    nested_array.extend((nested.len() as u32).to_le_bytes());
    nested_array.extend(nested.bytes());
    vec![
        info(
            "no_key.npz",
            zip(&[entry("observations.npy", &f32s("(3, 2)", &[0.0; 6]))]),
            "@: the key `actions` is missing|the file has: observations",
        ),
        case(
            "no_column.csv",
            "x,u\n0,0\n1,0\n",
            "data info @ --task task.toml",
            "@: the column `v` is missing|x, u",
        ),
        case(
            "no_column.parquet",
            copy("pandas_snappy.parquet"),
            "data info @ --task other.toml",
            "@: the column `y` is missing",
        ),
        case(
            "nan.npz",
            with("actions", "(3, 1)", &[0.0, f32::NAN, 0.0]),
            "data convert @ out.csv",
            "@, row 2, `a0`: NaN is not a finite number|mend or remove",
        ),
        case(
            "nan_plain.npz",
            with("actions", "(3, 1)", &[0.0, 0.0, f32::NAN]),
            "data convert @ out.hdf5",
            "@, row 3, `a0`: NaN is not a finite number",
        ),
        case(
            "nan.csv",
            "x,v,u\n0,0,0\n1,NaN,0\n2,0,0\n",
            "fit task.toml --data @ -o m.hambo",
            "@, line 3, column `v`|NaN",
        ),
        case(
            "huge.csv",
            "s0,a0\n0,0\n1e300,0\n",
            "data convert @ out.npz",
            "@, line 3, `s0`: 1e|f32",
        ),
        info(
            "object.npz",
            copy("bad_object.npz"),
            "@, `observations`: it holds pickled Python objects|unequal length",
        ),
        info(
            "ragged.hdf5",
            copy("bad_ragged_minari.hdf5"),
            "@, `episode_0/observations`: 15 rows for 15 actions",
        ),
        info(
            "unequal.npz",
            with("rewards", "(2,)", &[0.0; 2]),
            "@, `rewards`: 2 rows, `observations` has 3",
        ),
        info(
            "cut.npz",
            cut("numpy_f32.npz", 300),
            "@: the archive has no directory|write it anew",
        ),
        info(
            "cut.hdf5",
            cut("h5py_f32.hdf5", 900),
            "@|cannot be read|cut short",
        ),
        info(
            "cut.parquet",
            cut("pandas_snappy.parquet", 20),
            "@: this Parquet file cannot be read|cut short",
        ),
        info(
            "text.npz",
            "x,v,u\n0,0,0\n",
            "@: its first bytes are not those of NPZ data|wrong name",
        ),
        info(
            "noise.hdf5",
            b"\x01\x02\x03\x00\xff",
            "@: its first bytes are not those of HDF5 data",
        ),
        info(
            "noise.bin",
            b"\x01\x02\x03\x00\xff",
            "@: a log of this kind is not known|CSV with a header, NPZ, HDF5 or Parquet",
        ),
        info(
            "bomb.npz",
            bomb(),
            "@, `observations`: it claims 400000000 bytes",
        ),
        info(
            "lie.npz",
            with("observations", "(1000, 2)", &[0.0; 6]),
            "@, `observations`: its shape [1000, 2] needs 8000 bytes, it has 24",
        ),
        info(
            "overflow.npz",
            with("observations", "(4611686018427387904, 8)", &[]),
            "@, `observations`: it claims more than 2^64 bytes",
        ),
        info(
            "header.npz",
            archive(entry(
                "observations.npy",
                b"\x93NUMPY\x02\x00\xff\xff\xff\x7f{",
            )),
            "@, `observations`: its header claims 2147483647 bytes",
        ),
        info(
            "huge.hdf5",
            copy("bad_huge_dimensions.hdf5"),
            "@, `observations`: it claims 17592186044416 bytes",
        ),
        info(
            "text_type.npz",
            copy("bad_text.npz"),
            "@, `rewards`: the type `<U1`|float32",
        ),
        info(
            "string.hdf5",
            copy("bad_string.hdf5"),
            "@, `rewards`: its type is string",
        ),
        info("zero.csv", "x,v,u\n", "@: there is no transition|no row"),
        info(
            "zero.npz",
            with("observations", "(0, 2)", &[]),
            "@, `actions`: 3 rows, `observations` has 0",
        ),
        info("empty.csv", "", "@: the file is empty"),
        case("x", "", "data info .", ".: this is a folder|main_data.hdf5"),
        case(
            "x",
            "",
            "data info no/such.npz",
            "cannot read no/such.npz|check the path",
        ),
        info(
            "filter.hdf5",
            copy("bad_filter.hdf5"),
            "@, `rewards`: it is compressed with Zstandard (filter 32015)|h5repack",
        ),
        info(
            "layout.hdf5",
            copy("bad_layout_5.hdf5"),
            "@, `observations`|libver=\"v114\"",
        ),
        info(
            "dictionary.hdf5",
            copy("bad_dictionary_space.hdf5"),
            "`episode_0/observations`: it is a group|flatten",
        ),
        info(
            "method.npz",
            archive(Entry {
                method: 12,
                ..rewards()
            }),
            "@, `rewards`: its compression, number 12, is not known",
        ),
        info(
            "secret.npz",
            archive(Entry {
                flags: 1,
                ..rewards()
            }),
            "@, `rewards`: it is encrypted",
        ),
        info(
            "crc.npz",
            archive(Entry {
                crc: 7,
                ..rewards()
            }),
            "@, `rewards`: its checksum is wrong",
        ),
        info(
            "flag.npz",
            with("terminals", "(3,)", &[0.0, 0.5, 1.0]),
            "@, row 2, `terminals`: 0.5 is not 0 or 1",
        ),
        info(
            "cube.npz",
            with("observations", "(3, 2, 1)", &[0.0; 6]),
            "@, `observations`: its shape is [3, 2, 1], not rows × numbers",
        ),
        case(
            "wide.npz",
            with("observations", "(3, 3)", &[0.0; 9]),
            "data info @ --task task.toml",
            "@, `observations`: 3 numbers a row, the task names 2: x, v",
        ),
        info(
            "one.npy",
            f32s("(3, 2)", &[0.0; 6]),
            "@: this is one array, not a log|numpy.savez",
        ),
        info(
            "p.pkl",
            b"\x80\x04\x95",
            "@: this looks like a Python pickle|never loaded",
        ),
        info(
            "log.csv.gz",
            b"\x1f\x8b\x08\x00",
            "@: this is a gzip file|gunzip",
        ),
        info(
            "torch.npz",
            zip(&[entry("archive/data.pkl", b"\x80\x02")]),
            "@: the key `observations` is missing|archive/data.pkl",
        ),
        case(
            "roles.csv",
            "x,v,u,run\n0,0,0,0\n1,0,0,0\n",
            "data convert @ out.npz",
            "@: nothing tells its states from its actions|--task",
        ),
        case(
            "good.npz",
            copy("numpy_f32.npz"),
            "data convert @ out.mat",
            "out.mat: the end of the name says no format|.parquet",
        ),
        case(
            "good.npz",
            copy("numpy_f32.npz"),
            "data convert @ no/folder/out.npz",
            "no/folder/out.npz: cannot be written|create the folder",
        ),
        case(
            "good.npz",
            copy("numpy_shifted.npz"),
            "data info @ full.npz",
            "full.npz, next states: given here, missing in @",
        ),
        case(
            "gap.csv",
            "s0,a0,next.s0,episode\n0,0,1,0\n5,1,6,0\n",
            "data convert @ out.hdf5 --layout minari",
            "@, row 1|Minari|--layout d4rl",
        ),
        info(
            "nested.npz",
            archive(entry("observations.npy", &nested_array)),
            "@, `observations`: its header is damaged",
        ),
        info(
            "size.npz",
            archive(Entry {
                size: 7,
                ..rewards()
            }),
            "@, `rewards`: |larger than its declared|write it anew",
        ),
        info(
            "short.npz",
            archive(Entry {
                stored: rewards().stored[..75].to_vec(),
                ..rewards()
            }),
            "@, `rewards`: its checksum is wrong|write it anew",
        ),
        info(
            "few.npz",
            archive(entry("rewards.npy", &f32s("(3,)", &[0.0; 2]))),
            "@, `rewards`: its shape [3] needs 12 bytes, it has 8|write it anew",
        ),
        info(
            "corrupt.npz",
            archive(Entry {
                method: 8,
                ..rewards()
            }),
            "@, `rewards`: |write it anew",
        ),
    ]
}

#[test]
fn bad_input_is_refused_with_its_place_and_a_remedy() {
    let folder = Folder::new("refused");
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path(name), bytes).unwrap();
    write("task.toml", TASK.as_bytes());
    write(
        "other.toml",
        TASK.replace("['x', 'v']", "['x', 'y']").as_bytes(),
    );
    std::fs::copy(fixture("numpy_f32.npz"), folder.path("full.npz")).unwrap();
    let mut wrong = Vec::new();
    for (name, bytes, line, words) in cases() {
        write(name, &bytes);
        let (line, words) = (line.replace('@', name), words.replace('@', name));
        let start = Instant::now();
        let (code, out, error) = hambo(&folder.0, &line);
        let time = start.elapsed();
        let missing = words.split('|').any(|words| !error.contains(words));
        let plain = error.starts_with("hambo: ") && error.contains("\nhelp: ");
        if code != Some(2) || missing || !plain || error.contains("panicked") {
            wrong.push(format!("{line}: {code:?} {out}{error}"));
        }
        if time > Duration::from_secs(5) {
            wrong.push(format!("{line}: {time:?}"));
        }
        for left in "out.csv out.npz out.hdf5 out.mat m.hambo out.hdf5.part".split(' ') {
            if folder.path(left).exists() {
                wrong.push(format!("{line} leaves {left}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
