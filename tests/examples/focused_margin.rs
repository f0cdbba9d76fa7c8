//! Why bounds of a focused search lie below those of an even one: a lower mean, or a wider
//! margin? On every N-th system of the coverage study, in the order of its cells.
//! `cargo run --release -p hambo-tests --example focused_margin [N]` (5, if nothing is said)

use std::error::Error;

use hambo_core::task::Allocation;
use hambo_learn::fit::FitOptions;
use hambo_tests::study::coverage::{EXPLORED, SAMPLES, Setting, networks};
use hambo_tests::study::focused_summary::{FAR, apart};
use hambo_tests::study::judge::{Judgement, Samples, judge, model};

fn main() -> Result<(), Box<dyn Error>> {
    let every: usize = match std::env::args().nth(1) {
        Some(number) => number.parse()?,
        None => 5,
    };
    let (mut means, mut margins) = (Vec::new(), Vec::new());
    for cell in (0..EXPLORED).step_by(every.max(1)) {
        let Some(Pair {
            spread,
            even,
            focused,
        }) = both(cell)?
        else {
            continue;
        };
        let margin = |one: &Judgement| one.mean - one.bound;
        means.push((focused.mean - even.mean) / spread);
        margins.push((margin(&focused) - margin(&even)) / spread);
    }
    println!("{} cells where both claim something", means.len());
    show("mean", &means);
    show("margin", &margins);
    Ok(())
}

/// What both searches say of a cell.
struct Pair {
    spread: f64,
    even: Judgement,
    focused: Judgement,
}

/// That, if both claim something.
fn both(cell: usize) -> Result<Option<Pair>, Box<dyn Error>> {
    let setting = Setting::of(cell)?;
    let (task, log) = (setting.task()?, setting.log(cell)?);
    let Ok(model) = model(&task, &log, &FitOptions::new(networks(cell)?)) else {
        return Ok(None);
    };
    let judged = |allocation| {
        let samples = Samples {
            allocation: Some(allocation),
            ..SAMPLES
        };
        judge(&task, &log, &model, &setting.checked, samples, cell as u64)
    };
    let pair = Pair {
        spread: setting.spread,
        even: judged(Allocation::Even)?,
        focused: judged(Allocation::Focused)?,
    };
    let claims = pair.even.claims() && pair.focused.claims();
    Ok(claims.then_some(pair))
}

fn show(what: &str, differences: &[f64]) {
    let [smaller, larger] = apart(differences);
    println!(
        "{what}: focused smaller by more than {} % of the spread in {smaller}, larger in {larger}",
        100.0 * FAR,
    );
}
