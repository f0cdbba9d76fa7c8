//! `hambo rank`: several controllers of the README's first example in order, each bound that of
//! `hambo check`.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{Folder, POLICY, QUICK, TASK, log};
use serde_json::Value;

/// A search that takes little.
const LITTLE: &str = "--effort quick --trajectories 400 --searched 4 --sweeps 8";
const ALL: [&str; 3] = ["ca", "da1", "dainf"];

/// Exit code, output and errors.
fn run(folder: &Folder, line: &str) -> (Option<i32>, String, String) {
    let output = folder.command(line).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// The object of a command that says nothing on the way, whatever its exit code.
fn object(folder: &Folder, line: &str) -> Value {
    let (_, text, errors) = run(folder, line);
    assert_eq!(errors, "", "{line}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{line}: {error}: {text}"))
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap()
}

/// The README's log, smaller, and three ways around the disc: far, near, and through it.
fn point_safety() -> Folder {
    let folder = Folder::new("rank-point");
    let tasks = Path::new(env!("CARGO_MANIFEST_DIR")).join("tasks");
    let read = |name: &str| std::fs::read_to_string(tasks.join(name)).unwrap();
    folder.write("task.toml", &read("point_safety.toml"));
    std::fs::create_dir(folder.path("controllers")).unwrap();
    let way = read("pi_1.6.toml");
    folder.write("controllers/far.toml", &way);
    folder.write("controllers/near.toml", &way.replace("1.6", "1.4"));
    folder.write("controllers/through.toml", &read("pi_1.1.toml"));
    folder.done(
        "env rollout point_safety --policy controllers/far.toml --episodes 40 --action-noise 0.2 -o log.csv",
    );
    folder.done("fit task.toml --data log.csv --hidden 32,32 --steps 1500 -o m.hambo");
    folder
}

/// Every column of every row is the bound of `hambo check`, to the bit: of all controllers in one
/// check, and of one by itself at its share of delta. The rule of the order is evaluated anew.
#[test]
fn every_bound_is_that_of_check_and_the_order_is_by_the_rule() {
    let folder = point_safety();
    let rank =
        format!("rank task.toml --data log.csv --model m.hambo --policies controllers {LITTLE}");
    let ranking = object(&folder, &format!("{rank} --json"));
    let rows = ranking["controllers"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert_eq!(ranking["variants"], serde_json::json!(ALL));
    let share = 0.05_f32 / 3.0;
    for (column, variant) in ALL.into_iter().enumerate() {
        let check = format!(
            "check task.toml --data log.csv --model m.hambo {LITTLE} --variant {variant} --json"
        );
        let files = "controllers/through.toml controllers/far.toml controllers/near.toml";
        let together = object(&folder, &format!("{check} --policy {files}"));
        for row in rows {
            let own = together.as_array().unwrap().iter();
            let mut own = own.filter(|one| one["policy"] == row["policy"]);
            let own = own.next().unwrap();
            let bound = &row["bounds"][column];
            assert_eq!(text(bound, "variant"), variant);
            assert_eq!(text(bound, "bits"), text(own, "bound_bits"), "{row}");
            assert_eq!(bound["verdict"], own["verdict"]);
            let alone = format!("{check} --delta {share} --policy {}", text(row, "policy"));
            let alone = object(&folder, &alone);
            assert_eq!(text(bound, "bits"), text(&alone, "bound_bits"));
            if column == 0 {
                assert_eq!(row["bound_bits"], own["bound_bits"]);
                assert_eq!(row["reasons"], own["reasons"]);
                assert_eq!(row["neutral"], own["neutral"]);
            }
        }
    }

    // By hand: the good one first, the bad one last.
    let name = |place: usize| text(&rows[place], "name");
    assert_eq!(
        [name(0), name(1), name(2)],
        ["far.toml", "near.toml", "through.toml"]
    );
    assert_eq!(text(&rows[0], "verdict"), "deploy");
    assert_eq!(text(&rows[2], "verdict"), "reject");
    let number = |row: &Value, key: &str| row[key].as_f64().unwrap();
    let mut open = Vec::new();
    for (place, one) in rows.iter().enumerate() {
        let fit = |row: &Value| row["verdict"] != "abstain";
        let above = |one: &Value, other: &Value| {
            fit(one) && fit(other) && number(one, "bound") > number(other, "greatest")
        };
        let better = rows.iter().filter(|other| above(other, one)).count();
        let worse = rows.iter().filter(|other| above(one, other)).count();
        assert_eq!(one["places"], serde_json::json!([1 + better, 3 - worse]));
        assert!(number(one, "greatest") >= number(one, "neutral"));
        for other in &rows[place + 1..] {
            if !above(one, other) && !above(other, one) {
                open.push(serde_json::json!([one["name"], other["name"]]));
            }
        }
    }
    assert_eq!(ranking["unsettled"], serde_json::json!(open));
    // Something is settled, or the rule would say nothing.
    assert_eq!(rows[2]["places"], serde_json::json!([3, 3]), "{ranking}");

    outputs(&folder, &rank, &ranking);
    columns_and_codes(&folder, &rank, &ranking);
}

/// Text, CSV, page and saved runs say the same.
fn outputs(folder: &Folder, rank: &str, ranking: &Value) {
    let line = format!("{rank} --csv rank.csv --report page.html --save runs");
    let (code, table, errors) = run(folder, &line);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{table}");
    // Without --details at most 15 lines and one for each controller.
    assert!(table.lines().count() <= 15 + 3, "{table}");
    for part in [
        "try first: far.toml",
        "not at all: ",
        "the mean model",
        "hold together with probability 1 \u{2212} 0.05",
        "0.008333333 for each",
        "saved rank.csv",
        "saved page.html",
        "saved runs",
        "--details",
    ] {
        assert!(table.contains(part), "no `{part}` in {table}");
    }
    let csv = String::from_utf8(folder.read("rank.csv")).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 4, "{csv}");
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    for (row, line) in ranking["controllers"]
        .as_array()
        .unwrap()
        .iter()
        .zip(&lines[1..])
    {
        let name = text(row, "name");
        assert!(line.starts_with(&format!("{name},{},", text(row, "verdict"))));
        for bound in row["bounds"].as_array().unwrap() {
            assert!(line.contains(text(bound, "bits")), "{line}");
        }
        assert!(
            page.contains(&format!(">{name}<")),
            "{name} is not on the page"
        );
        // What `hambo check --save` would have written.
        let saved = folder.read(&format!("runs/{name}.run.json"));
        let saved: Value = serde_json::from_slice(&saved).unwrap();
        assert_eq!(saved["result"]["bound_bits"], row["bound_bits"]);
        assert_eq!(saved["result"]["controllers"], 3);
        assert_eq!(saved["inputs"]["files"][2]["path"], row["policy"]);
        folder.done(&format!("report runs/{name}.run.json -o {name}.html"));
    }
    let kept: Value = serde_json::from_slice(&folder.read("runs/ranking.json")).unwrap();
    assert_eq!(&kept, ranking);
    assert!(!folder.path("runs/model.hambo").exists());
    assert!(page.contains("scope=\"row\"") && page.contains("</html>"));
    let refused = folder.refused(&line);
    assert!(refused.contains("runs: ") && refused.contains("not empty"));
    let details = folder.done(&format!("{rank} --details"));
    for part in ["== far.toml", "== through.toml", "what adversaries found"] {
        assert!(details.contains(part), "no `{part}` in {details}");
    }
    assert!(details.contains(text(ranking, "rule")));
}

/// The first variant decides, `--each` shares nothing, and the exit code is that of the first.
fn columns_and_codes(folder: &Folder, rank: &str, ranking: &Value) {
    let other = object(folder, &format!("{rank} --variant dainf,ca --json"));
    assert_eq!(other["variants"], serde_json::json!(["dainf", "ca"]));
    let find = |ranking: &Value, name: &str| -> Value {
        let rows = ranking["controllers"].as_array().unwrap();
        rows.iter().find(|row| row["name"] == name).unwrap().clone()
    };
    let (mine, theirs) = (find(&other, "far.toml"), find(ranking, "far.toml"));
    assert_eq!(mine["bounds"][0]["bits"], theirs["bounds"][2]["bits"]);
    assert_eq!(mine["bounds"][1]["bits"], theirs["bounds"][0]["bits"]);
    assert_eq!(mine["bound_bits"], mine["bounds"][0]["bits"]);
    let each = object(folder, &format!("{rank} --variant ca --each --json"));
    assert_eq!(
        (each["sharing"].as_u64(), each["delta"].as_f64()),
        (Some(1), ranking["delta"].as_f64())
    );
    assert_ne!(find(&each, "far.toml")["bound_bits"], theirs["bound_bits"]);
    let one = format!("{rank} --variant ca");
    assert_eq!(run(folder, &format!("{one} --threshold 1000")).0, Some(1));
    let (code, table, _) = run(folder, &format!("{one} --threshold 1000"));
    assert!(
        code == Some(1) && table.contains("try first: none of them"),
        "{table}"
    );
}

/// Without a model one is fitted, and it is that of `hambo fit`.
#[test]
fn a_model_is_fitted_as_fit_does_it() {
    let folder = Folder::new("rank-fit");
    folder.write("slow.toml", &POLICY.replace("-1, -1", "-0.5, -1"));
    folder.done("fit task.toml --data log.csv --model gp -o m.hambo");
    let rank = format!("rank task.toml --data log.csv --policies pd.toml slow.toml {LITTLE}");
    let own = object(&folder, &format!("{rank} --fit gp --json --save runs"));
    let given = object(&folder, &format!("{rank} --model m.hambo --json"));
    assert_eq!(own, given);
    assert_eq!(folder.read("runs/model.hambo"), folder.read("m.hambo"));
    let saved: Value = serde_json::from_slice(&folder.read("runs/pd.toml.run.json")).unwrap();
    assert_eq!(saved["inputs"]["files"][1]["path"], "runs/model.hambo");
    // A Gaussian process has no networks to choose from, and that is said.
    assert_eq!(own["variants"], serde_json::json!(["ca"]));
    let table = run(&folder, &format!("{rank} --model m.hambo")).1;
    assert!(table.contains("da1 and dainf need networks"), "{table}");
    let refused = folder.refused(&format!("{rank} --model m.hambo --variant da1"));
    assert!(refused.contains("needs networks"), "{refused}");
}

/// What is certain of a model is said at once, and a log that takes long is not even read.
#[test]
fn an_abstain_that_is_certain_is_said_before_the_check() {
    let folder = Folder::new("rank-certain");
    folder.write("few.csv", &log(4, 25));
    folder.done(
        &QUICK
            .replace("log.csv", "few.csv")
            .replace("m.hambo", "few.hambo"),
    );
    folder.done(QUICK);
    folder.write("slow.toml", &POLICY.replace("-1, -1", "-0.5, -1"));
    let rank = |rest: &str| format!("rank task.toml --policies pd.toml slow.toml {rest}");
    let start = Instant::now();
    // No check would end so soon with so many trajectories, and this log is none.
    let line = rank("--model few.hambo --data pd.toml --trajectories 1000000 --save runs");
    let (code, said, errors) = run(&folder, &line);
    assert_eq!((code, errors.as_str()), (Some(3), ""), "{said}");
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "it took {:?}",
        start.elapsed()
    );
    for part in [
        "abstain: ",
        "not calibrated",
        "2 controllers",
        "none was checked",
    ] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    assert!(!folder.path("runs").exists());
    let object = object(&folder, &rank("--model few.hambo --json"));
    assert_eq!(object["verdict"], "abstain");
    // The same model may serve fewer steps than it was tested for, and then it is checked.
    let (code, said, _) = run(&folder, &rank("--model m.hambo --horizon 9000"));
    assert!(code == Some(3) && said.contains("at most"), "{said}");
    // What only the log tells: the same first state in every episode.
    folder.write(
        "data.toml",
        &TASK.replace("kind = 'point'\nvalue = [1, 0]", "kind = 'data'"),
    );
    folder.write("same.csv", &log(3, 25));
    let line = rank("--model m.hambo --data same.csv").replace("task.toml", "data.toml");
    let (code, said, _) = run(&folder, &line);
    assert!(
        code == Some(3) && said.contains("3 different first states"),
        "{said}"
    );
    // A model that serves is not stopped.
    let (code, said, _) = run(&folder, &rank(&format!("--model m.hambo {LITTLE}")));
    assert!(code != Some(2) && said.contains("try first"), "{said}");
}

/// Bad input is named, and nothing is written.
#[test]
fn bad_controllers_are_named_and_nothing_is_written() {
    let folder = Folder::new("rank-bad");
    folder.done(QUICK);
    for name in ["empty", "one", "other"] {
        std::fs::create_dir(folder.path(name)).unwrap();
    }
    folder.write("one/pd.toml", POLICY);
    folder.write("other/pd.toml", POLICY);
    folder.write("one/wide.toml", &POLICY.replace("-1, -1", "-1, -1, -1"));
    let rank = |policies: &str| {
        format!(
            "rank task.toml --model m.hambo --policies {policies} --csv r.csv --report r.html --save runs {LITTLE}"
        )
    };
    for (policies, words) in [
        ("empty", &["empty: no controller", "help: "] as &[&str]),
        (
            "one/pd.toml other",
            &["one/pd.toml", "other/pd.toml", "called pd.toml"],
        ),
        (
            "pd.toml pd.toml",
            &["called pd.toml", "give each file once"],
        ),
        ("one", &["one/wide.toml", "nothing was ranked"]),
        ("pd.toml none.onnx", &["none.onnx", "nothing was ranked"]),
    ] {
        let said = folder.refused(&rank(policies));
        for word in words {
            assert!(said.contains(word), "{policies}: no `{word}` in {said}");
        }
    }
    let said = folder.refused("rank task.toml --policies pd.toml");
    assert!(
        said.contains("--data") && said.contains("--model"),
        "{said}"
    );
    let said = folder.refused(&rank("pd.toml").replace("r.csv", "m.hambo"));
    assert!(said.contains("m.hambo: a model is there"), "{said}");
    for name in ["r.csv", "r.html", "runs"] {
        assert!(!folder.path(name).exists(), "{name} is left");
    }
    // Alone it is ranked: the first of one.
    let (_, table, errors) = run(&folder, &rank("one/pd.toml"));
    assert!(
        errors.is_empty() && table.contains(": 1 controller over"),
        "{table}{errors}"
    );
}
