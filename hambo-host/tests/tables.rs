//! Tables as people have them: logged with Gymnasium, saved by pandas, polars and DuckDB, or
//! made of a ROS bag (`data/tables/make_fixtures.py`). No column is renamed by hand.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

use crate::common::Folder;
use hambo_data::{ColumnNames, Log, read_logs, read_table, transitions};

fn fixture(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tables");
    folder.join(name)
}

/// The log as a file's own names tell it, with those names.
fn told(name: &str) -> (Log, String, String) {
    let table = read_table(&[fixture(name)], None).unwrap();
    assert!(table.roles_known, "{name}");
    let (states, actions) = (table.names.states.join(" "), table.names.actions.join(" "));
    (transitions(&table).unwrap(), states, actions)
}

/// State, action, reward, next state and episode of every transition.
type Row = (Vec<f32>, Vec<f32>, f32, Vec<f32>, u32);

fn rows(log: &Log) -> Vec<Row> {
    let rows = log.rows().map(|row| {
        let [state, action, next] = [row.state, row.action, row.next_state].map(<[f32]>::to_vec);
        (state, action, row.reward, next, row.episode)
    });
    rows.collect()
}

#[test]
fn columns_of_gymnasium_need_no_other_names() {
    let expected = rows(&told("expected.csv").0);
    // 24 of the 25 steps of an episode have a next row.
    assert_eq!(expected.len(), 12 * 24);
    for name in [
        "gymnasium.csv",
        "done.csv",
        "episode_words.parquet",
        "semicolon.csv",
        "tab.tsv",
    ] {
        let (log, states, actions) = told(name);
        assert_eq!(states, "obs_0 obs_1 obs_2", "{name}");
        assert_eq!(actions, "action_0", "{name}");
        assert_eq!(rows(&log), expected, "{name}");
    }
    let (log, states, actions) = told("step.csv");
    assert_eq!(
        (states.as_str(), actions.as_str()),
        ("cos_1 sin_1 speed", "action")
    );
    assert_eq!(rows(&log), expected);
}

#[test]
fn next_observations_are_taken_as_they_are() {
    let (log, states, actions) = told("gymnasium_next.parquet");
    assert_eq!(
        (states.as_str(), actions.as_str()),
        ("obs_0 obs_1 obs_2", "action_0")
    );
    // Also of the last step.
    assert_eq!(log.len(), 12 * 25);
    let expected = rows(&told("expected.csv").0);
    let found = rows(&log);
    for (episode, wanted) in expected.chunks(24).enumerate() {
        assert_eq!(&found[25 * episode..25 * episode + 24], wanted);
    }
}

#[test]
fn a_pause_in_the_stamps_of_a_bag_is_a_gap() {
    let names = ColumnNames {
        states: (0..3).map(|i| format!("pendulum_position_{i}")).collect(),
        actions: vec!["cmd_torque".to_owned()],
    };
    let expected = rows(&told("expected.csv").0);
    for name in ["bag.csv", "bag.parquet"] {
        let log = read_logs(&[fixture(name)], &names).unwrap();
        // The bag has no rewards.
        let found = rows(&log);
        assert_eq!(found.len(), expected.len(), "{name}");
        for (found, wanted) in found.iter().zip(&expected) {
            assert_eq!(
                (&found.0, &found.3, found.4),
                (&wanted.0, &wanted.3, wanted.4),
                "{name}"
            );
        }
    }
}

#[test]
fn every_library_writes_parquet_that_is_read() {
    let names = ColumnNames {
        states: vec!["x".to_owned()],
        actions: vec!["u".to_owned()],
    };
    let read = |name: &str| read_logs(&[fixture(name)], &names).unwrap();
    let expected = read("many_pandas.parquet");
    assert_eq!(expected.len(), 4000 - 40);
    for name in [
        "many_pyarrow_groups.parquet",
        "many_pyarrow_plain_v2.parquet",
        "many_pyarrow_zstd_v2.parquet",
        "many_polars.parquet",
        "many_polars_snappy.parquet",
        "many_duckdb.parquet",
        "many_duckdb_zstd.parquet",
    ] {
        assert_eq!(read(name), expected, "{name}");
    }
}

#[test]
fn where_no_end_is_marked_nothing_is_invented() {
    let folder = Folder::new("ends");
    for name in ["no_ends.csv", "never_terminated.csv"] {
        std::fs::copy(fixture(name), folder.path(name)).unwrap();
        let error = folder.refused(&format!("task new --from {name}"));
        assert!(
            error.contains(name) && error.contains("where an episode ends"),
            "{error}"
        );
        let error = folder.refused(&format!("data convert {name} out.csv"));
        assert!(error.contains("--episode-per-file"), "{error}");
        let text = folder.done(&format!("data info {name}"));
        assert!(text.contains("where an episode ends"), "{text}");
    }
    // If the user says so, each file is one episode.
    folder.done("data convert no_ends.csv no_ends.csv two.csv --episode-per-file");
    let text = folder.done("data info two.csv");
    assert!(text.contains("2 episodes of 300 to 300 rows"), "{text}");
}

#[test]
fn columns_may_come_in_any_order() {
    let folder = Folder::new("order");
    folder.write("one.csv", "x,v,u,episode\n0,1,2,0\n3,4,5,0\n");
    folder.write("other.csv", "u,episode,v,x\n2,0,1,0\n5,0,4,3\n");
    for line in [
        "data info one.csv other.csv --json",
        "data info one.csv other.csv --task task.toml --json",
    ] {
        let info = folder.json(line);
        assert_eq!(
            (&info["rows"], &info["episodes"]),
            (&4.into(), &2.into()),
            "{line}"
        );
    }
}

/// From a file to a verdict: task, fit, check.
fn walk(name: &str, data: &str) {
    let folder = Folder::new(name);
    std::fs::copy(fixture(data), folder.path(data)).unwrap();
    folder.done(&format!("task new --from {data} -o own.toml"));
    let task = std::fs::read_to_string(folder.path("own.toml")).unwrap();
    let task = task.replace("# expr = \"\"", "learned = true");
    folder.write("own.toml", &format!("threshold = -1e6\n{task}"));
    folder.done(&format!(
        "fit own.toml --data {data} --hidden 8 --steps 300 --members 2 --withhold 0.4 -o own.hambo"
    ));
    folder.write(
        "own_pd.toml",
        "kind = 'linear'\ngain = [[0, -1, -0.2]]\nbias = [0]\n",
    );
    let line = format!(
        "check own.toml --data {data} --model own.hambo --policy own_pd.toml --effort quick \
         --trajectories 200 --horizon 10"
    );
    let output = folder.command(&line).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 1 | 3)),
        "{text}{error}"
    );
    assert!(
        text.contains("the log's own 12 episodes of 10 steps return"),
        "{text}"
    );
    assert!(
        text.contains("trajectories start from 12 different states"),
        "{text}"
    );
}

#[test]
fn the_walk_from_a_csv_of_gymnasium() {
    walk("walk-csv", "gymnasium.csv");
}

#[test]
fn the_walk_from_a_parquet_of_pandas() {
    walk("walk-parquet", "gymnasium_next.parquet");
}
