//! `hambo reproduce`: the quick version as a user runs it, and what the kept rows must show.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use crate::common::Folder;
use hambo_base::study::rows::{Record, Table};
use hambo_base::study::run::file;
use hambo_base::study::{Row, Study};
use hambo_lab::reproduce::control::Control;
use hambo_lab::reproduce::control_summary::{self, Axis, ControlPoint};
use hambo_lab::reproduce::convergence::Convergence;
use hambo_lab::reproduce::convergence_summary;
use hambo_lab::reproduce::effort::ReproductionEffort;
use hambo_lab::reproduce::locomotion::Locomotion;
use hambo_lab::reproduce::offline::{CELLS, Offline};
use hambo_lab::reproduce::offline_effort::OfflineEffort;

#[test]
fn the_quick_version_makes_every_figure_and_goes_on_where_it_stopped() {
    let folder = Folder::new("reproduce");
    let text = folder.done("reproduce all --quick");
    for part in [
        "quick version: 2 seeds",
        "horizons divided by 5",
        "pi_1.1",
        "point_env",
        "pendulum, rows 6000",
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    for name in ["fig1", "fig2", "fig3", "fig4"] {
        let svg = String::from_utf8(folder.read(&format!("results-quick/{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.len() > 3000, "{name}");
        let png = folder.read(&format!("results-quick/{name}.png"));
        assert_eq!(&png[1..4], b"PNG");
    }
    // Table 1 is made, or the text says what it needs.
    if cfg!(feature = "mujoco") {
        check_table_1(&text, &folder);
    } else {
        assert!(text.contains("table 1 needs HalfCheetah"), "{text}");
    }
    // Figure 3 holds the usual horizon of every log, figure 4 every horizon of the largest.
    let settings = |name: &str| {
        let csv = String::from_utf8(folder.read(name)).unwrap();
        let setting = |line: &str| {
            line.split(',')
                .skip(1)
                .take(2)
                .collect::<Vec<_>>()
                .join(" ")
        };
        let mut settings: Vec<String> = csv.lines().skip(1).map(setting).collect();
        settings.dedup();
        settings
    };
    assert_eq!(settings("results-quick/fig3.csv"), ["2000 40", "6000 40"]);
    let horizons = ["6000 40", "6000 20", "6000 80"];
    assert_eq!(settings("results-quick/fig4.csv"), horizons);
    // A bound is below what it bounds, in every seed.
    let rows = String::from_utf8(folder.read("results-quick/control.csv")).unwrap();
    let study = Control(ReproductionEffort::quick());
    let table = Table::parse(&rows, &study).unwrap();
    assert_eq!(table.rows().count(), study.cells() * study.rows_per_cell());
    check_valid(&control_summary::points(&table), "nested");

    // Rows that were lost are made again, the same; the others are left alone.
    let (kept, lost) = rows.trim_end().rsplit_once('\n').unwrap();
    let other = kept.replacen(",pendulum,2000,", ",pendulum,2000.0,", 1);
    folder.write("results-quick/control.csv", &format!("{other}\n"));
    folder.done("reproduce fig3 --quick");
    let again = String::from_utf8(folder.read("results-quick/control.csv")).unwrap();
    assert!(again.contains(lost) && again.contains(",pendulum,2000.0,"));
}

/// The quick version of table 1: all cells, and one that was lost is made again, the same but
/// for the times.
fn check_table_1(text: &str, folder: &Folder) {
    assert!(text.contains("| random | 1000 |") && text.contains("| medium | 1000 |"));
    let rows = String::from_utf8(folder.read("results-quick/table1.csv")).unwrap();
    assert_eq!(rows.lines().count(), 1 + CELLS.len());
    let (kept, lost) = rows.trim_end().rsplit_once('\n').unwrap();
    folder.write("results-quick/table1.csv", &format!("{kept}\n"));
    folder.done("reproduce table1 --quick");
    let again = String::from_utf8(folder.read("results-quick/table1.csv")).unwrap();
    let without_times = |row: &str| {
        let fields: Vec<String> = row.split(',').map(str::to_owned).collect();
        fields[..fields.len() - 4].to_vec()
    };
    let made = again.trim_end().rsplit_once('\n').unwrap().1;
    assert_eq!(without_times(made), without_times(lost));
}

#[test]
fn table_1_without_mujoco_says_what_it_needs() {
    if cfg!(feature = "mujoco") {
        return;
    }
    let folder = Folder::new("table1");
    let text = folder.refused("reproduce table1 --quick");
    assert!(text.contains("cargo xtask mujoco"), "{text}");
    // Kept rows are shown, and called so.
    let rows = std::fs::read_to_string(results().join("table1.csv")).unwrap();
    std::fs::create_dir(folder.path("results")).unwrap();
    folder.write("results/table1.csv", &rows);
    let text = folder.done("reproduce table1");
    let note = "table1: 4 of 4 cells are kept rows, which this program cannot compute";
    assert!(text.contains(note) && text.contains("| medium |"), "{text}");
}

/// What is learned from a log scores more than the log.
#[test]
fn the_kept_rows_of_table_1_are_those_of_its_cells() {
    let study = Offline::new(OfflineEffort::full());
    let table = kept(&study);
    assert_eq!(table.rows().count(), CELLS.len());
    for (row, cell) in table.rows().zip(&CELLS) {
        assert_eq!(row.text("log"), cell.log.name());
        assert_eq!(row.text("variant"), cell.opponent);
        assert_eq!(row.number("paper"), cell.paper);
        let (score, error) = (row.number("score"), row.number("score_error"));
        let logged = row.number("log_score");
        assert!(score - 2.0 * error > logged, "{} {score}", row.text("cell"));
    }
    let text = study.summary(&table).text;
    assert_eq!(text.matches("| random | ").count(), 2);
    assert_eq!(text.matches("| medium | ").count(), 2);
}

/// In every cell with the nested beta CA ≤ DA1 ≤ DAinf.
fn check_order(table: &Table) {
    let nested = || table.rows().filter(|row| row.text("beta") == "nested");
    let mean = |of: &Record<'_>, variant: &str| {
        let key = |row: &Record<'_>| ["cell", "horizon"].map(|name| row.text(name).to_owned());
        let same = |row: &Record<'_>| key(row) == key(of) && row.text("variant") == variant;
        nested().find(same).unwrap().number("mean")
    };
    for row in nested() {
        let [ca, da1, dainf] = ["ca", "da1", "dainf"].map(|variant| mean(&row, variant));
        assert!(ca <= da1 && da1 <= dainf, "cell {}", row.text("cell"));
    }
}

/// The bounds' means over seeds rise with the log within two standard errors.
fn check_rising(points: &[ControlPoint]) {
    let is_bound = |point: &&ControlPoint| ["ca", "da1", "dainf"].contains(&point.variant.as_str());
    let key = |p: &ControlPoint| {
        (
            p.system.clone(),
            p.horizon,
            p.beta.clone(),
            p.variant.clone(),
        )
    };
    let mut compared = 0;
    for fewer in points.iter().filter(is_bound) {
        for more in points.iter().filter(|more| key(more) == key(fewer)) {
            if more.rows <= fewer.rows {
                continue;
            }
            assert!(fewer.seeds > 1 && more.seeds > 1, "{fewer:?} {more:?}");
            let chance = fewer.mean.std_error.hypot(more.mean.std_error);
            assert!(
                more.mean.mean >= fewer.mean.mean - 2.0 * chance,
                "{fewer:?} {more:?}"
            );
            compared += 1;
        }
    }
    assert!(compared > 0);
}

/// No lower bound of CA above the truth, and CA ≤ DA1 ≤ DAinf.
fn check_valid(points: &[ControlPoint], beta: &str) {
    let wide: Vec<_> = points.iter().filter(|point| point.beta == beta).collect();
    assert!(!wide.is_empty());
    for point in &wide {
        let mean = |variant: &str| {
            let same = |other: &&&ControlPoint| {
                let setting = |p: &ControlPoint| (p.system.clone(), p.rows, p.horizon);
                other.variant == variant && setting(other) == setting(point)
            };
            wide.iter().find(same).unwrap().mean.mean
        };
        assert!(mean("ca") <= mean("da1") + 1e-9, "{point:?}");
        assert!(mean("da1") <= mean("dainf") + 1e-9, "{point:?}");
        if point.variant == "ca" {
            assert_eq!(point.above, 0, "{point:?}");
        }
    }
}

fn results() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../results")
}

fn kept(study: &dyn Study) -> Table {
    let table = Table::read(&file(&results(), study), study).unwrap();
    table.whole_cells(study)
}

#[test]
fn the_kept_bounds_hold_and_approach_the_truth() {
    let study = Convergence(ReproductionEffort::full());
    let table = kept(&study);
    let points = convergence_summary::points(&table);
    for system in ["point_env", "pendulum"] {
        let closed = convergence_summary::closed(&points, system).unwrap();
        assert!(closed >= 0.9, "{system}: {closed}");
        // More rows do not lower the bound by more than chance.
        let own: Vec<_> = points.iter().filter(|one| one.system == system).collect();
        for pair in own.windows(2) {
            let [fewer, more] = pair else { continue };
            let chance = fewer.mean.std_error.hypot(more.mean.std_error);
            assert!(fewer.rows < more.rows, "{own:?}");
            assert!(more.mean.mean >= fewer.mean.mean - 2.0 * chance, "{own:?}");
        }
    }
    assert!(points.iter().all(|point| point.above == 0), "{points:?}");
    // A cell is what its rows say.
    let again: Vec<Row> = study.run(0).unwrap();
    assert_eq!(table.of_cell(0), again.iter().collect::<Vec<_>>());
}

#[test]
fn the_kept_bounds_of_networks_hold() {
    let table = kept(&Control(ReproductionEffort::full()));
    let points = control_summary::points(&table);
    check_valid(&points, "nested");
    check_order(&table);
    check_rising(&points);
}

#[test]
fn kept_rows_stand_under_the_numbers_of_their_cells() {
    let study = Control(ReproductionEffort::full());
    let settings = study.settings();
    let table = kept(&study);
    for row in table.rows() {
        let setting = &settings[row.number("cell") as usize];
        assert_eq!(row.text("system"), setting.agents.system);
        assert_eq!(row.text("rows"), setting.rows.to_string());
        assert_eq!(row.text("horizon"), setting.horizon.to_string());
        assert_eq!(row.text("seed"), setting.seed.to_string());
        assert_eq!(row.text("beta"), setting.width.name());
    }
}

#[test]
fn rows_of_mujoco_are_shown_by_a_program_without_it() {
    let effort = ReproductionEffort::full();
    let mujoco = Locomotion(effort.clone());
    let mut points = control_summary::points(&kept(&Control(effort.clone())));
    points.extend(control_summary::points(&kept(&mujoco)));
    let summary = control_summary::summary(&points, Axis::Rows, &effort);
    for system in ["pendulum", "hopper", "half_cheetah"] {
        assert!(summary.text.contains(&format!("\n{system}, horizon")));
        assert!(summary.svg.contains(&format!("{system}, horizon")));
    }
    assert!(Control(effort).can_run(0));
    assert_eq!(mujoco.can_run(0), cfg!(feature = "mujoco"));
}

/// The nested bounds of MuJoCo's systems hold, and without noise DAinf is no farther from the truth
/// than in the authors' published numbers.
#[test]
fn the_kept_bounds_on_mujoco_hold_and_are_tight() {
    let study = Locomotion(ReproductionEffort::full());
    let table = kept(&study);
    let cells = study.all();
    for row in table.rows() {
        let cell = &cells[row.number("cell") as usize];
        assert_eq!(row.text("system"), cell.agents.system);
        assert_eq!(row.text("rows"), cell.rows.to_string());
        assert_eq!(row.text("seed"), cell.seed.to_string());
        assert!(cell.horizons.contains(&(row.number("horizon") as u32)));
    }
    let points = control_summary::points(&table);
    check_valid(&points, "nested");
    check_order(&table);
    check_rising(&points);
    for (system, horizon, gap) in [("hopper", 200, 0.194), ("half_cheetah", 100, 0.202)] {
        let wanted = |point: &&ControlPoint| {
            point.system == system
                && (point.rows, point.horizon) == (100_000, horizon)
                && point.beta == "authors"
                && point.variant == "dainf"
        };
        let point = points.iter().find(wanted).unwrap();
        assert!(1.0 - point.mean.mean <= gap, "{point:?}");
        assert_eq!(point.above, 0, "{point:?}");
    }
}
