//! A study goes on where it was cut off.

use hambo_base::study::rows::{Appender, Table};
use hambo_base::study::run::{Plan, file, run};
use hambo_base::study::{Row, Study, Summary};
use std::ops::ControlFlow;

/// Three cells, two rows each; the rows of cell 1 say how often it was worked off.
struct Toy;

impl Study for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn columns(&self) -> &'static [&'static str] {
        &["cell", "part", "square"]
    }

    fn cells(&self) -> usize {
        3
    }

    fn rows_per_cell(&self) -> usize {
        2
    }

    fn run(&self, cell: usize) -> Result<Vec<Row>, hambo_base::Error> {
        let row = |part: usize| [cell, part, cell * cell].map(|x| x.to_string()).to_vec();
        Ok(vec![row(0), row(1)])
    }

    fn summary(&self, _: &Table) -> Summary {
        Summary {
            text: String::new(),
            svg: String::new(),
        }
    }
}

#[test]
fn a_study_goes_on_where_it_was_cut_off() {
    let folder = std::env::temp_dir().join(format!("hambo-study-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = file(&folder, &Toy);
    let whole = "cell,part,square\n0,0,0\n0,1,0\n1,0,1\n1,1,1\n2,0,4\n2,1,4\n";
    // Cell 2 is there, with a mark that only this file has; of cell 0 a row, of cell 1 a row
    // and a half.
    let cut = "cell,part,square\n2,0,four\n2,1,four\n0,0,0\n1,0,1\n1,1";
    std::fs::write(&path, cut).unwrap();
    let mut plan = Plan {
        cells: Some(1),
        every: 1,
        time: None,
        threads: 2,
    };
    run(&Toy, &folder, &plan, &|_, _| ControlFlow::Continue(())).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "cell,part,square\n0,0,0\n0,1,0\n2,0,four\n2,1,four\n");
    plan.cells = None;
    run(&Toy, &folder, &plan, &|_, _| ControlFlow::Continue(())).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, whole.replace('4', "four"));

    std::fs::write(&path, "cell,other\n0,0\n").unwrap();
    let error = run(&Toy, &folder, &plan, &|_, _| ControlFlow::Continue(())).unwrap_err();
    assert!(error.contains("cell,other"), "{error}");

    // Every second cell of the three.
    std::fs::remove_file(&path).unwrap();
    plan.every = 2;
    run(&Toy, &folder, &plan, &|_, _| ControlFlow::Continue(())).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "cell,part,square\n0,0,0\n0,1,0\n2,0,4\n2,1,4\n");
    plan.every = 1;

    std::fs::remove_file(&path).unwrap();
    plan.threads = 1;
    run(&Toy, &folder, &plan, &|_, _| ControlFlow::Break(())).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "cell,part,square\n0,0,0\n0,1,0\n");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_cell_is_in_the_file_as_soon_as_it_is_done() {
    let path = std::env::temp_dir().join(format!("hambo-rows-{}.csv", std::process::id()));
    let mut appender = Appender::new(&path, &Table::parse("", &Toy).unwrap()).unwrap();
    appender.add(&Toy.run(2).unwrap()).unwrap();
    let table = Table::read(&path, &Toy).unwrap();
    assert_eq!(table.of_cell(2).len(), 2);
    let row = table.rows().last().unwrap();
    assert_eq!((row.text("part"), row.number("square")), ("1", 4.0));
    assert!(row.number("no such column").is_nan());
    std::fs::remove_file(path).unwrap();
}
