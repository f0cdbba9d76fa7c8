//! Bad logs, in every format.

use super::bytes::{array, zip};
use super::{Case, FIT, fixture, log, plain, with};
use crate::archive::npy;

pub fn cases() -> Vec<Case> {
    let csv = |name, text: &str, words: &[&'static str]| with(name, "bad.csv", text, FIT, words);
    let npz =
        |name, bytes: Vec<u8>, words: &[&'static str]| with(name, "bad.npz", bytes, FIT, words);
    let info = |name, file, bytes: Vec<u8>, words: &[&'static str]| {
        with(name, file, bytes, "data info @", words)
    };
    let cut = |name: &str, length: usize| fixture(name)[..length].to_vec();
    let rows = |from: &str, to: &str| log().replacen(from, to, 1);
    let (states, actions) = (array(30, 2), array(30, 1));
    let zeros = npy("<f4", "(25000000, 4)", &vec![0; 400_000_000]);
    vec![
        plain(
            "no such log",
            &FIT.replace('@', "none.csv"),
            &["none.csv", "check the path"],
        ),
        plain(
            "a folder as a log",
            &FIT.replace('@', "folder.csv"),
            &["folder.csv"],
        ),
        plain(
            "a device as a log",
            &FIT.replace('@', "/dev/zero"),
            &["/dev/zero", "not a plain file"],
        ),
        plain(
            "a pipe that nobody writes to",
            &FIT.replace('@', "pipe.csv"),
            &["pipe.csv", "not a plain file"],
        ),
        csv("empty log", "", &["bad.csv", "empty"]),
        csv("header only", "x,v,u\n", &["bad.csv", "no transition"]),
        csv(
            "a column is missing",
            "x,u\n0,0\n",
            &["`v`", "missing", "x, u"],
        ),
        csv("a column twice", "x,v,u,x\n0,0,0,0\n", &["two columns `x`"]),
        csv("half of next", "x,v,u,next.x\n0,0,0,0\n", &["next.v"]),
        csv("NaN", "x,v,u\n0,0,0\n0,NaN,0\n", &["line 3", "`v`", "NaN"]),
        csv("infinite", "x,v,u\n0,0,0\n0,1,-inf\n", &["line 3", "`u`"]),
        csv(
            "too large for f32",
            "x,v,u\n0,0,0\n0,1,1e60\n",
            &["line 3", "`u`"],
        ),
        csv(
            "a word for a number",
            "x,v,u\n0,fast,0\n",
            &["line 2", "fast"],
        ),
        csv(
            "a line too short",
            "x,v,u\n0,0,0\n0,1\n",
            &["bad.csv", "line: 3"],
        ),
        csv(
            "a flag that is neither 0 nor 1",
            "x,v,u,terminal\n0,0,0,2\n",
            &["terminal"],
        ),
        csv(
            "one transition",
            "x,v,u,next.x,next.v\n0,0,0,0.1,0\n",
            &["1 transition"],
        ),
        csv(
            "an action that never changes",
            &still(),
            &["`u`", "always 0.5"],
        ),
        csv(
            "quotes that never close",
            "x,v,u\n\"0,0,0\n0,0,0\n",
            &["bad.csv"],
        ),
        with(
            "not UTF-8",
            "bad.csv",
            b"x,v,u\n0,\xff\xfe,0\n",
            FIT,
            &["bad.csv", "line 2"],
        ),
        with(
            "binary as CSV",
            "bad.csv",
            b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
            FIT,
            &["bad.csv", "first bytes"],
        ),
        with(
            "unknown kind of file",
            "bad.mat",
            b"MATLAB\0\x01",
            FIT,
            &["bad.mat", "not known"],
        ),
        csv(
            "only NaN starts",
            &rows("\n", "\nnan,nan,nan,0,0,0\n"),
            &["line 2"],
        ),
        npz(
            "text as NPZ",
            b"observations,actions\n".to_vec(),
            &["bad.npz", "first bytes"],
        ),
        npz(
            "NPZ cut short",
            fixture("numpy_f32.npz")[..900].to_vec(),
            &["bad.npz"],
        ),
        npz(
            "NPZ without actions",
            zip(&[("observations.npy", &states, None)]),
            &["`actions`", "observations"],
        ),
        npz(
            "NPZ of another robot",
            zip(&[
                ("observations.npy", &array(30, 5), None),
                ("actions.npy", &actions, None),
            ]),
            &["observations", "5"],
        ),
        npz(
            "NPZ with ragged parts",
            zip(&[
                ("observations.npy", &states, None),
                ("actions.npy", &array(29, 1), None),
            ]),
            &["actions", "29"],
        ),
        npz(
            "NPZ that claims 8 TB",
            zip(&[
                (
                    "observations.npy",
                    &npy("<f4", "(1000000000000, 2)", &[]),
                    None,
                ),
                ("actions.npy", &actions, None),
            ]),
            &["observations", "bytes"],
        ),
        npz(
            "zip bomb",
            zip(&[
                ("observations.npy", &zeros, None),
                ("actions.npy", &actions, None),
            ]),
            &["observations", "far more"],
        ),
        npz(
            "zip bomb that lies about its size",
            zip(&[
                ("observations.npy", &zeros, Some(368)),
                ("actions.npy", &actions, None),
            ]),
            &["observations"],
        ),
        npz(
            "NPZ header without an end",
            zip(&[(
                "observations.npy",
                b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr':",
                None,
            )]),
            &["observations"],
        ),
        info(
            "NPZ of Python objects",
            "bad.npz",
            fixture("bad_object.npz"),
            &["object"],
        ),
        info(
            "NPZ of words",
            "bad.npz",
            fixture("bad_text.npz"),
            &["bad.npz"],
        ),
        info(
            "HDF5 cut short",
            "bad.hdf5",
            cut("h5py_f32.hdf5", 2000),
            &["bad.hdf5"],
        ),
        info(
            "HDF5 with huge sizes",
            "bad.hdf5",
            fixture("bad_huge_dimensions.hdf5"),
            &["claims"],
        ),
        info(
            "HDF5 with an unknown filter",
            "bad.hdf5",
            fixture("bad_filter.hdf5"),
            &["filter"],
        ),
        info(
            "Minari with ragged episodes",
            "bad.hdf5",
            fixture("bad_ragged_minari.hdf5"),
            &["episode"],
        ),
        info(
            "Parquet cut short",
            "bad.parquet",
            cut("pandas_plain.parquet", 3000),
            &["bad.parquet"],
        ),
        plain(
            "convert to an unknown kind",
            "data convert log.csv out.mat",
            &["out.mat"],
        ),
        plain(
            "convert into no folder",
            "data convert log.csv no/such/out.npz",
            &["no/such/out.npz", "folder"],
        ),
        csv(
            "no end of an episode",
            "x,v,u\n0,0,0\n1,1,1\n",
            &["bad.csv", "where an episode ends", "--episode-per-file"],
        ),
        csv(
            "no row is terminal and nothing else marks an end",
            "x,v,u,terminated\n0,0,0,False\n1,1,1,False\n",
            &["no row is marked as terminal"],
        ),
        csv(
            "states that jump while the steps go on",
            &jumping(),
            &["states jump after row 100"],
        ),
        npz(
            "arrays without an end of an episode",
            zip(&[
                ("observations.npy", &states, None),
                ("actions.npy", &actions, None),
            ]),
            &["where an episode ends"],
        ),
        csv(
            "a row without its episode",
            "x,v,u,episode\n0,0,0,a\n1,1,1,\n",
            &["line 3", "`episode`", "number or name"],
        ),
        csv(
            "an episode that is NaN",
            "x,v,u,episode_id\n0,0,0,1\n1,1,1,NaN\n",
            &["line 3", "`episode_id`"],
        ),
        csv(
            "a word for a time",
            "x,v,u,time\n0,0,0,noon\n1,1,1,1\n",
            &["line 2", "`time`", "noon", "date and time"],
        ),
        csv(
            "a day that there is not",
            "x,v,u,stamp\n0,0,0,2026-13-01 00:00:00\n1,1,1,2026-01-01 00:00:01\n",
            &["line 2", "`stamp`"],
        ),
        csv(
            "truncated is a number of seconds",
            "x,v,u,truncated\n0,0,0,0.5\n",
            &["`truncated`", "0.5", "0 or 1"],
        ),
        csv(
            "done in other words",
            "x,v,u,done\n0,0,0,nearly\n",
            &["`done`", "nearly"],
        ),
        csv(
            "points and commas for decimals",
            "x;v;u;episode\n0,5;0;0;0\n0.5;0;0;0\n",
            &["line 3", "`x`", "decimal sign"],
        ),
        csv(
            "thousands with points",
            "x;v;u;episode\n1.000,5;0;0;0\n2;0;0;0\n",
            &["line 2", "1.000,5"],
        ),
        csv(
            "decimal commas between commas",
            "x,v,u,episode\n0,5,0,0,0\n",
            &["bad.csv", "as many fields"],
        ),
        csv(
            "spaces between the fields",
            "x v u\n0 0 0\n1 1 1\n",
            &["`x`", "missing", "x v u"],
        ),
        csv(
            "half of next_",
            "x,v,u,next_x\n0,0,0,0\n",
            &["next_v", "for every state"],
        ),
        csv(
            "a column twice with other signs",
            "x,/v,v!,u,episode\n0,0,0,0,0\n",
            &["`v`", "missing"],
        ),
        csv(
            "a row of 1e30",
            &rows("\n-1.5,", "\n1e30,"),
            &["bad.csv, line", "`x`", "1e30"],
        ),
        with(
            "tabs and no numbers",
            "bad.tsv",
            "x\tv\tu\tepisode\n0\tfast\t0\t0\n",
            FIT,
            &["bad.tsv, line 2", "fast"],
        ),
        plain(
            "a second log without ends",
            "data convert log.csv log.csv out.mat --episode-per-file",
            &["out.mat"],
        ),
        with(
            "logs of two robots",
            "bad.csv",
            "y,w\n0,0\n1,1\n",
            "data info log.csv @",
            &["bad.csv"],
        ),
    ]
}

/// Two episodes under one count of steps.
fn jumping() -> String {
    let place = |i: i32| 0.01 * f64::from(i) + if i < 100 { 0.0 } else { 50.0 };
    let rows = (0..200).map(|i| format!("{i},{},{},0.5\n", place(i), (f64::from(i)).cos()));
    "t,x,v,u\n".to_owned() + &rows.collect::<String>()
}

/// A cart that is always pushed the same way.
fn still() -> String {
    let rows = (0..60).map(|i| format!("{},{},0.5,0\n", (i as f32).sin(), (i as f32).cos()));
    "x,v,u,episode\n".to_owned() + &rows.collect::<String>()
}
