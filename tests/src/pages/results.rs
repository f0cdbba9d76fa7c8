//! What the pages say of the rows in `results/`.

use hambo_lab::reproduce::control::Control;
use hambo_lab::reproduce::control_summary::{ControlPoint, points};
use hambo_lab::reproduce::convergence::Convergence;
use hambo_lab::reproduce::effort::ReproductionEffort;
use hambo_lab::reproduce::locomotion::Locomotion;
use hambo_lab::reproduce::offline::Offline;
use hambo_lab::reproduce::offline_effort::OfflineEffort;

use super::kept::{csv, read, root};
use super::markdown::{grouped, table, tables_of};
use super::parts::Parts;
use hambo_base::study::Study;
use hambo_base::study::rows::Table;
use hambo_base::study::run::file;

fn kept(study: &dyn Study) -> Result<Table, String> {
    let table = Table::read(&file(&root().join("results"), study), study)?;
    Ok(table.whole_cells(study))
}

pub(super) fn add(parts: &mut Parts) -> Result<(), String> {
    let effort = ReproductionEffort::full();
    let studies: [(&str, &dyn Study); 2] = [
        ("figure-2", &Convergence(effort.clone())),
        ("table-1", &Offline::new(OfflineEffort::full())),
    ];
    for (name, study) in studies {
        let text = study.summary(&kept(study)?).text;
        parts.add(name, tables_of(&text).concat());
    }
    let pendulum = points(&kept(&Control(effort.clone()))?);
    let locomotion = points(&kept(&Locomotion(effort))?);
    parts.add("pendulum", variants(&pendulum));
    parts.add("locomotion", variants(&locomotion));
    parts.add("locomotion-truth", truths(&locomotion));
    let bounds = |beta: &str| {
        let own = locomotion.iter().filter(|point| point.beta == beta);
        let bounds = own.filter(|point| BOUNDS.contains(&point.variant.as_str()));
        bounds.fold((0, 0), |sum, point| {
            (sum.0 + point.seeds, sum.1 + point.above)
        })
    };
    let (nested, authors_rules) = (bounds("nested"), bounds("authors"));
    parts.add("nested-bounds", nested.0);
    parts.add("nested-above", nested.1);
    parts.add("authors-above", authors_rules.1);
    let all = [pendulum, locomotion].concat();
    parts.add("authors", authors(&all)?);
    parts.add("speed", verbatim("results/speed.csv")?);
    parts.add("termination", verbatim("results/termination.csv")?);
    parts.add_verbatim("demo", demo()?);
    Ok(())
}

const BOUNDS: [&str; 3] = ["ca", "da1", "dainf"];

/// A line for each setting and rule, in the order of log and horizon.
fn variants(points: &[ControlPoint]) -> String {
    let mut first: Vec<&ControlPoint> = points.iter().filter(|p| p.variant == "ca").collect();
    first.sort_by_key(|p| (p.system != points[0].system, p.rows, p.horizon));
    let line = |setting: &ControlPoint| {
        let of = |variant: &str| {
            let key = |p: &ControlPoint| (p.system.clone(), p.rows, p.horizon, p.beta.clone());
            let same = |p: &&ControlPoint| key(p) == key(setting) && p.variant == variant;
            points.iter().find(same).unwrap_or(setting)
        };
        let mean = |variant: &str| {
            let mean = of(variant).mean;
            format!("{:.3} ± {:.3}", mean.mean, mean.std_error)
        };
        let lower = |variant: &str| {
            let lower = of(variant).lower;
            format!("{:.3} ± {:.3}", lower.mean, lower.std_error)
        };
        let above: usize = BOUNDS.iter().map(|variant| of(variant).above).sum();
        [
            setting.system.clone(),
            grouped(f64::from(setting.rows)),
            setting.horizon.to_string(),
            setting.seeds.to_string(),
            setting.beta.clone(),
            mean("ca"),
            mean("da1"),
            mean("dainf"),
            lower("ca"),
            lower("dainf"),
            above.to_string(),
            mean("mean"),
            mean("ds"),
            mean("ts1"),
            mean("tsinf"),
            mean("mopo"),
        ]
    };
    let lines: Vec<_> = first.into_iter().map(line).collect();
    let header = [
        "system",
        "n",
        "T",
        "seeds",
        "rules",
        "CA",
        "DA1",
        "DAinf",
        "lower, CA",
        "lower, DAinf",
        "above",
        "mean model",
        "DS",
        "TS1",
        "TSinf",
        "MOPO",
    ];
    table(header, &lines)
}

/// True returns and those of random actions, by system and horizon.
fn truths(points: &[ControlPoint]) -> String {
    let mut lines: Vec<[String; 4]> = Vec::new();
    for p in points {
        let line = [
            p.system.clone(),
            p.horizon.to_string(),
            format!("{:.1}", p.scale.truth),
            format!("{:.1}", p.scale.random),
        ];
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    table(["system", "T", "truth", "random actions"], &lines)
}

/// Gaps to the truth beside those that the authors published.
fn authors(points: &[ControlPoint]) -> Result<String, String> {
    let mut lines = Vec::new();
    for row in csv("results/authors.csv")? {
        let same = |p: &&ControlPoint| {
            let (rows, horizon) = (p.rows.to_string(), p.horizon.to_string());
            let own = [&p.system, &rows, &horizon, &p.beta, &p.variant];
            own == ["system", "rows", "horizon", "rules", "variant"].map(|name| &row[name])
        };
        let own = points.iter().find(same);
        let own = own.ok_or(format!(
            "results/authors.csv: {row:?} is no setting of ours"
        ))?;
        let noise = match own.beta.as_str() {
            "one" => "ours only",
            "nested" => "both",
            _ => "none",
        };
        lines.push([
            own.system.clone(),
            grouped(f64::from(own.rows)),
            own.horizon.to_string(),
            match own.variant.as_str() {
                "ca" => "CA, beta = 1".to_owned(),
                _ => "DAinf".to_owned(),
            },
            noise.to_owned(),
            row["gap"].clone(),
            format!("{:.3} ± {:.3}", 1.0 - own.mean.mean, own.mean.std_error),
            format!("{} of {}", own.mean_above, own.seeds),
        ]);
    }
    let header = [
        "system",
        "n",
        "T",
        "variant",
        "with noise",
        "authors' gap",
        "our gap",
        "our seeds above the truth",
    ];
    Ok(table(header, &lines))
}

/// The last table of `cargo xtask demo`, whose device gives the host's bits.
fn demo() -> Result<String, String> {
    let mut text = "```\ncontroller     truth   neutral  CA bound, host     CA bound, device    \
                    bits   verdict\n"
        .to_owned();
    for row in csv("results/demo.csv")? {
        let [controller, truth, neutral, bound, bits, verdict] =
            ["controller", "truth", "neutral", "bound", "bits", "verdict"].map(|name| &row[name]);
        text += &format!(
            "{controller:<10}{truth:>10}{neutral:>10}{bound:>10} {bits}{bound:>10} {bits}  equal  \
             {verdict}\n"
        );
    }
    Ok(text + "```")
}

/// A file whose columns are those of the table.
fn verbatim(name: &str) -> Result<String, String> {
    let text = read(name)?;
    let mut lines = text
        .lines()
        .map(|line| format!("| {} |\n", line.replace(',', " | ")));
    let header = lines.next().unwrap_or_default();
    let rule = "|---".repeat(header.matches(" | ").count() + 1);
    Ok(format!("{header}{rule}|\n{}", lines.collect::<String>()))
}
