//! `hambo sweep`: the same table from every engine, each bound that of `hambo check`, nothing
//! computed twice, and the sentences for what goes wrong. Ray and Slurm themselves are started by
//! `studies/sweeps/trial.sh`; here stand-ins take their places.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::common::{Folder, POLICY, log};
use serde_json::Value;

const FIT: &str = "--hidden 8 --members 2 --steps 40";
const CHECK: &str = "--effort quick --trajectories 60 --searched 2 --sweeps 2";

/// Two controllers, two log sizes, two seeds: 4 fits and 8 checks.
fn plan() -> String {
    format!(
        "task = 'task.toml'\ndata = 'log.csv'\npolicies = 'controllers'\nseeds = 2\n\
         episodes = [8, 12]\nhorizons = [6]\ncheck = '{CHECK}'\n\
         [[model]]\nname = 'small'\nfit = '{FIT}'\n"
    )
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    fs::create_dir(folder.path("controllers")).unwrap();
    folder.write("controllers/brisk.toml", POLICY);
    folder.write(
        "controllers/slow.toml",
        &POLICY.replace("[-1, -1]", "[-0.2, -0.5]"),
    );
    folder.write("log.csv", &log(12, 10));
    folder.write("plan.toml", &plan());
    folder
}

/// Runs a line with programs of the test before those of the machine; exit code, output, errors.
fn run(folder: &Folder, line: &str) -> (Option<i32>, String, String) {
    let mut command = folder.command(&format!("{line} --quiet"));
    let programs = folder.path("programs");
    if programs.exists() {
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", programs.display()));
        command.env("PYTHONPATH", &programs);
    }
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn done(folder: &Folder, line: &str) -> String {
    let (code, out, errors) = run(folder, line);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{line}: {out}");
    out
}

/// Table and page of a sweep that is complete.
fn gathered(folder: &Folder, sweep: &str) -> [Vec<u8>; 3] {
    done(folder, &format!("sweep gather {sweep}"));
    ["table.csv", "table.parquet", "report.html"]
        .map(|name| folder.read(&format!("{sweep}/{name}")))
}

/// Every file below a folder, with what tells a file from one that took its place.
fn files(root: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let inode = fs::metadata(&path).unwrap().ino();
            found.push((path, inode));
        }
    }
    found.sort();
    found
}

fn program(folder: &Folder, name: &str, text: &str) {
    fs::create_dir_all(folder.path("programs")).unwrap();
    let path = folder.path(&format!("programs/{name}"));
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A field of the table.
fn field(table: &[u8], cell: usize, column: &str) -> String {
    let text = String::from_utf8(table.to_vec()).unwrap();
    let mut lines = text.lines();
    let head = lines.next().unwrap().split(',');
    let place = head
        .enumerate()
        .find(|(_, name)| *name == column)
        .unwrap()
        .0;
    let row = lines.nth(cell).unwrap();
    row.split(',').nth(place).unwrap().to_owned()
}

#[test]
fn a_bound_is_that_of_check_and_what_is_there_is_not_computed_again() {
    let folder = folder("sweep-local");
    let said = done(&folder, "sweep plan.toml --dry-run");
    assert!(said.starts_with("12 cells: 4 fits"), "{said}");
    assert!(!folder.path("plan.sweep").exists());
    let said = done(&folder, "sweep plan.toml --threads 2");
    assert!(said.contains("12 of 12 cells are done"), "{said}");
    let all = gathered(&folder, "plan.sweep");

    // Cell 3 is the fit of the whole log with seed 1; 10 and 11 are its checks.
    folder.done(&format!(
        "fit task.toml --data log.csv {FIT} --seed 1 -o m.hambo"
    ));
    assert_eq!(
        folder.read("m.hambo"),
        folder.read("plan.sweep/models/0000003.hambo")
    );
    for (cell, policy) in [(10, "brisk"), (11, "slow")] {
        let line = format!(
            "check task.toml --model m.hambo --data log.csv --policy controllers/{policy}.toml \
             {CHECK} --seed 1 --horizon 6 --json"
        );
        let (_, text, _) = run(&folder, &line);
        let result: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            result["bound_bits"],
            field(&all[0], cell, "bound_bits").as_str()
        );
        assert_eq!(result["digest"], field(&all[0], cell, "digest").as_str());
        assert_eq!(format!("{policy}.toml"), field(&all[0], cell, "policy"));
    }
    // A smaller log is another log, of whole episodes.
    assert_eq!(field(&all[0], 0, "rows"), "80");
    assert_ne!(
        field(&all[0], 4, "bound_bits"),
        field(&all[0], 8, "bound_bits")
    );

    // Nothing is written anew, and what was lost comes back with the same bytes.
    let before = files(&folder.path("plan.sweep/rows"));
    done(&folder, "sweep plan.toml");
    assert_eq!(files(&folder.path("plan.sweep/rows")), before);
    fs::remove_file(folder.path("plan.sweep/models/0000002.hambo")).unwrap();
    for cell in [2, 8, 9] {
        fs::remove_file(folder.path(&format!("plan.sweep/rows/0000/{cell:07}.json"))).unwrap();
    }
    let (code, said, _) = run(&folder, "sweep gather plan.sweep");
    assert!(code == Some(2) && said.contains("3 missing"), "{said}");
    // A check whose fit is lost fits by itself.
    done(&folder, "sweep cell plan.sweep 9");
    assert!(folder.path("plan.sweep/rows/0000/0000002.json").exists());
    done(&folder, "sweep plan.toml");
    assert_eq!(gathered(&folder, "plan.sweep"), all);
    assert!(!folder.path("plan.sweep/parts").exists());
}

/// Slurm's commands: an array's tasks are run at once, and of the first array of fits and the
/// first of checks the third is lost, as with a node.
const SBATCH: &str = r##"#!/bin/sh
set -eu
for script in "$@"; do :; done
here=$(dirname "$0")
number=$(ls "$here" | grep -c '^submitted' || true)
cp "$script" "$here/submitted-$number"
last=$(sed -n 's/^#SBATCH --array=0-//p' "$script")
for task in $(seq 0 "$last"); do
    if [ "$number" = 0 ] || [ "$number" = 2 ]; then
        if [ $((task % 3)) -eq 2 ]; then continue; fi
    fi
    SLURM_ARRAY_TASK_ID=$task sh "$script" || true
done
echo "$((100 + number));cluster"
"##;

/// What Ray offers to the program that `hambo sweep` starts; the first try of every fifth task dies
/// with its worker.
const RAY: &str = r#"
import itertools
tried = itertools.count()
def init(address, **options):
    assert address == "local" and options["num_cpus"] == 2, (address, options)
def cluster_resources():
    return {"CPU": 2.0}
def remote(**options):
    assert options["max_retries"] > 0
    def wrapped(function):
        class Task:
            @staticmethod
            def remote(*given):
                if next(tried) % 5 == 4:
                    function(*given)  # The work was done, and nobody heard of it.
                return lambda: function(*given)
        return Task
    return wrapped
def wait(tasks, num_returns):
    return tasks[:1], tasks[1:]
def get(task):
    return task()
def shutdown():
    pass
"#;

#[test]
fn ray_and_slurm_give_the_same_table() {
    let folder = folder("sweep-engines");
    done(&folder, "sweep plan.toml -o local");
    let local = gathered(&folder, "local");

    program(&folder, "sbatch", SBATCH);
    program(&folder, "scontrol", "#!/bin/sh\necho 'MaxArraySize = 3'\n");
    program(&folder, "squeue", "#!/bin/sh\n");
    let slurm = "sweep plan.toml -o slurm --engine slurm --sbatch=--time=5";
    let said = done(&folder, slurm);
    assert!(said.contains("12 of 12 cells are done"), "{said}");
    assert_eq!(gathered(&folder, "slurm"), local);
    // Two arrays of fits and three of checks, then the check that was lost; the fit that was lost
    // its checks made up for.
    let scripts = fs::read_dir(folder.path("programs")).unwrap();
    let scripts = scripts.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("submitted")
    });
    assert_eq!(scripts.count(), 6);
    let script = String::from_utf8(folder.read("programs/submitted-2")).unwrap();
    for line in [
        "#SBATCH --time=5",
        "#SBATCH --array=0-2",
        "afterany:100:101",
    ] {
        assert!(script.contains(line), "{script}");
    }

    fs::create_dir_all(folder.path("programs")).unwrap();
    folder.write("programs/ray.py", RAY);
    let said = done(&folder, "sweep plan.toml -o ray --engine ray --threads 2");
    assert!(said.contains("12 of 12 cells are done"), "{said}");
    assert_eq!(gathered(&folder, "ray"), local);
}

#[test]
fn a_job_in_the_queue_is_not_submitted_twice() {
    let folder = folder("sweep-queue");
    program(
        &folder,
        "sbatch",
        "#!/bin/sh\necho 'sbatch: error: not now' >&2\nexit 1\n",
    );
    program(&folder, "scontrol", "#!/bin/sh\necho 'MaxArraySize = 64'\n");
    program(
        &folder,
        "squeue",
        "#!/bin/sh\nprintf '7|Priority\\n7|Resources\\n8|Dependency\\n'\n",
    );
    let said = done(&folder, "sweep plan.toml --engine slurm --no-wait");
    assert!(said.contains("submitted: jobs 7, 8"), "{said}");
    program(
        &folder,
        "squeue",
        "#!/bin/sh\nprintf '7|launch failed requeued held\\n'\n",
    );
    let (code, _, errors) = run(&folder, "sweep plan.toml --engine slurm");
    assert!(
        code == Some(2) && errors.contains("scontrol release 7"),
        "{errors}"
    );
    program(&folder, "squeue", "#!/bin/sh\n");
    let (code, _, errors) = run(&folder, "sweep plan.toml --engine slurm");
    assert!(code == Some(2) && errors.contains("not now"), "{errors}");
}

/// What is wrong, and which words say it.
#[test]
fn a_bad_plan_is_refused_before_anything_is_written() {
    let folder = folder("sweep-bad");
    folder.write("other.toml", "kind = 'linear'\ngain = [[1]]\nbias = [0]\n");
    let with = |from: &str, to: &str| {
        let text = plan();
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    let cases: [(String, &[&str]); 13] = [
        (
            with("policies", "polices"),
            &["polices", "line 3", "help: "],
        ),
        (
            with("'controllers'", "'nowhere.toml'"),
            &["nowhere.toml", "help: "],
        ),
        (
            with("'controllers'", "'other.toml'"),
            &["other.toml", "nothing was begun"],
        ),
        (with("'log.csv'", "'log.npz'"), &["log.npz"]),
        (with("'task.toml'", "'no.toml'"), &["no.toml"]),
        (with("[8, 12]", "[8, 13]"), &["episodes: 13", "1 to 12"]),
        (with("[6]", "[6, 6]"), &["horizons: 6 is there twice"]),
        (with("[6]", "[0]"), &["horizons", "at least 1"]),
        (
            with("seeds = 2", "seeds = 0"),
            &["seeds: give at least one"],
        ),
        (
            with("seeds = 2", "seeds = 'all'"),
            &["list of seeds", "line 4"],
        ),
        (
            with("--hidden 8", "--hiden 16"),
            &["[[model]] small", "--hiden"],
        ),
        (with("--effort quick", "--seed 3"), &["check: ", "--seed"]),
        (with("seeds = 2", "seeds = 4000000"), &["at most 1000000"]),
    ];
    for (text, parts) in cases {
        folder.write("plan.toml", &text);
        let (code, out, errors) = run(&folder, "sweep plan.toml");
        assert_eq!((code, out.as_str()), (Some(2), ""), "{text}: {errors}");
        for part in parts.iter().chain(&["hambo: "]) {
            assert!(errors.contains(part), "{part} is not in {errors}");
        }
        assert!(!folder.path("plan.sweep").exists(), "{errors}");
    }
}

#[test]
fn an_engine_that_is_not_there_says_so_and_writes_no_row() {
    let folder = folder("sweep-absent");
    program(&folder, "python3", "#!/bin/sh\nexec /bin/sh -c 'exit 1'\n");
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let lines = [
        (
            format!("--engine ray --address {address}"),
            "nobody answers there",
        ),
        ("--engine ray --python no-python".to_owned(), "no-python"),
        ("--engine ray".to_owned(), "ended after 0 of 12 cells"),
        ("--address auto".to_owned(), "--address is for ray"),
        ("--engine ray --per-task 3".to_owned(), "for slurm"),
    ];
    for (words, part) in lines {
        let (code, _, errors) = run(&folder, &format!("sweep plan.toml {words}"));
        assert_eq!(code, Some(2), "{words}");
        assert!(
            errors.contains(part) && errors.contains("help: "),
            "{words}: {errors}"
        );
        assert!(!folder.path("plan.sweep/rows").exists(), "{words}");
    }
}

/// A limit on the size of files stands for a full disk: no model fits below it.
#[test]
fn a_full_disk_leaves_nothing_half_written_and_the_next_call_goes_on() {
    let folder = folder("sweep-full");
    let hambo = env!("CARGO_BIN_EXE_hambo");
    let line = format!("trap '' XFSZ; ulimit -f 8; exec '{hambo}' sweep plan.toml --quiet");
    let mut command = std::process::Command::new("sh");
    let output = command
        .args(["-c", &line])
        .current_dir(&folder.0)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("0 of 12 cells are done") && said.contains("0000000.hambo"),
        "{said}"
    );
    let left = files(&folder.path("plan.sweep"));
    let names: Vec<_> = left
        .iter()
        .map(|(path, _)| path.file_name().unwrap())
        .collect();
    assert_eq!(names, ["sweep.json"]);
    done(&folder, "sweep plan.toml");
}

#[test]
fn what_changed_since_the_plan_is_noticed_and_kept_out() {
    let folder = folder("sweep-changed");
    done(&folder, "sweep plan.toml");
    // Another plan in the same folder.
    folder.write("plan.toml", &plan().replace("seeds = 2", "seeds = 3"));
    let (code, _, errors) = run(&folder, "sweep plan.toml");
    assert!(
        code == Some(2) && errors.contains("another sweep is there: seeds differs"),
        "{errors}"
    );
    folder.write("plan.toml", &plan());
    // A row that is not of its cell, a model that is not of its row.
    let row = folder.path("plan.sweep/rows/0000/0000005.json");
    let text = fs::read_to_string(&row).unwrap();
    fs::write(&row, text.replace("\"cell\":5", "\"cell\":6")).unwrap();
    let (code, _, errors) = run(&folder, "sweep gather plan.sweep");
    assert!(
        code == Some(2) && errors.contains("the row of cell 6"),
        "{errors}"
    );
    fs::remove_file(&row).unwrap();
    let model = folder.path("plan.sweep/models/0000000.hambo");
    let bytes = fs::read(&model).unwrap();
    fs::copy(folder.path("plan.sweep/models/0000001.hambo"), &model).unwrap();
    let (code, _, errors) = run(&folder, "sweep cell plan.sweep 5");
    assert!(
        code == Some(2) && errors.contains("not the model of its row"),
        "{errors}"
    );
    fs::write(&model, bytes).unwrap();
    // A log, a controller.
    for name in ["log.csv", "controllers/slow.toml"] {
        let bytes = folder.read(name);
        let text = String::from_utf8(bytes.clone()).unwrap();
        folder.write(name, &text.replacen("0.2", "0.3", 1));
        let (code, _, errors) = run(&folder, "sweep cell plan.sweep 5");
        assert!(
            code == Some(2) && errors.contains("has changed since"),
            "{errors}"
        );
        assert!(!row.exists());
        fs::write(folder.path(name), bytes).unwrap();
    }
    done(&folder, "sweep cell plan.sweep 5");
    assert_eq!(fs::read_to_string(&row).unwrap(), text);
    // A second result that differs is not taken, and is told.
    fs::write(&row, text.replace("\"neutral\":-", "\"neutral\":-1")).unwrap();
    let changed = fs::read(&row).unwrap();
    done(&folder, "sweep cell plan.sweep 5");
    assert_eq!(
        fs::read(&row).unwrap(),
        changed,
        "a row that is there is skipped"
    );
}

/// A cell that cannot be is a row with its sentence; the others go on.
#[test]
fn a_cell_that_fails_says_why_on_the_page() {
    let folder = folder("sweep-failed");
    let model = "[[model]]\nname = 'wild'\nfit = '--hidden 8 --members 2 --steps 40 --learning-rate 1e30'\n";
    folder.write(
        "plan.toml",
        &(plan()
            .replace("[8, 12]", "[12]")
            .replace("seeds = 2", "seeds = 1")
            + model),
    );
    done(&folder, "sweep plan.toml");
    let (code, said, _) = run(&folder, "sweep gather plan.sweep");
    let table = String::from_utf8(folder.read("plan.sweep/table.csv")).unwrap();
    println!("{said}{table}");
    assert!(code == Some(2) && said.contains("3 failed"), "{said}");
    assert!(table.contains("no model was fitted: "), "{table}");
    let page = String::from_utf8(folder.read("plan.sweep/report.html")).unwrap();
    assert!(page.contains("no model was fitted: "));
}
