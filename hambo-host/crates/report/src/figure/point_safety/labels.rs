//! What depends on the data in the names: their leaders, and the answers to the title's question.

use super::scene::{Scene, radius, sampled};
use super::view::OVERVIEW;
use crate::figure::template::{Point, dot, line};

/// Paths whose depths in the danger zone differ by less look the same.
const VISIBLE: f32 = 0.005;
/// How long the ruler is in the plane.
const RULER: f32 = 0.05;

impl Scene<'_> {
    pub fn labels(&self) -> Vec<(&'static str, String)> {
        let mut labels = self.overview_labels();
        labels.extend(self.close_up_labels());
        labels
    }

    fn overview_labels(&self) -> Vec<(&'static str, String)> {
        let figure = self.figure;
        let depth = |path: &[Point]| 1.0 - sampled(path).map(radius).fold(f32::MAX, f32::min);
        let [truth, neutral, adversary] = [
            depth(&figure.true_path),
            depth(&figure.neutral_path),
            depth(&self.adversarial_path),
        ];
        let answer =
            |depth: f32, yes: &str, no: &str| (if depth >= 0.0 { yes } else { no }).to_owned();
        let deeper = adversary > truth.max(neutral).max(0.0) + VISIBLE;
        let hits = if deeper { "yes, and deeper" } else { "yes" };

        let logged = figure.logged.iter().map(|[_, next]| *next);
        let truth_at = nearest(sampled(&figure.true_path), [0.3, 0.95]);
        let neutral_at = nearest(sampled(&figure.neutral_path), [0.75, 0.75]);
        let adversary_at = nearest(sampled(&self.adversarial_path), [-1.25, 0.3]);
        let means = figure.adversarial_steps.iter().map(|step| step.mean);
        let mut leaders = String::new();
        for (class, from, to) in [
            ("quiet", [210.0, 199.0], nearest(logged, [-0.9, 1.05])),
            ("truth", [732.0, 176.0], truth_at),
            ("neutral", [703.0, 253.0], neutral_at),
            ("adversary", [251.0, 529.0], adversary_at),
            ("adversary", [707.0, 536.0], nearest(means, [0.95, 0.5])),
        ] {
            if let Some(to) = to.filter(|to| OVERVIEW.sees(*to)) {
                leaders += &leader(class, from, OVERVIEW.map(to));
            }
        }

        let mut entry_name = String::new();
        if let Some(entry) = self.entry {
            // The name stands inside the danger zone.
            let [x, y] = OVERVIEW.map([0.35 * entry[0], (0.35 * entry[1]).max(0.12)]);
            let (from, ring) = ([x, y - 20.0], OVERVIEW.map(entry));
            let gap = 9.0 / radius([from[0] - ring[0], from[1] - ring[1]]).max(9.0);
            let beside = [0, 1].map(|i| ring[i] + gap * (from[i] - ring[i]));
            leaders += &leader("danger", from, beside);
            entry_name = format!(
                "<text class=\"name middle danger\" x=\"{x:.2}\" y=\"{y:.2}\">enters the danger zone</text>"
            );
        }
        vec![
            ("overview_leaders", leaders),
            ("entry_name", entry_name),
            (
                "truth_note",
                answer(truth, "yes, it does", "no, it stays clear"),
            ),
            ("neutral_note", answer(neutral, "yes", "no")),
            ("adversary_note", answer(adversary, hits, "finds no way")),
        ]
    }

    fn close_up_labels(&self) -> [(&'static str, String); 4] {
        let (view, step) = (&self.close_up, &self.step);
        let top = [step.mean[0], step.mean[1] + step.half_width[1]];
        let leaders = [
            leader("adversary", [1156.0, 190.0], view.map(top)),
            leader("adversary", [1252.0, 238.0], view.map(step.mean)),
            leader("adversary", [1030.0, 527.0], view.map(step.next_state)),
        ];
        let end = 942.0 + RULER * view.scale;
        let ruler = format!("M942 601V611M942 606H{end:.2}M{end:.2} 601V611");
        let magnification = view.scale / OVERVIEW.scale;
        [
            ("close_up_leaders", leaders.concat()),
            ("ruler", ruler),
            ("ruler_x", format!("{:.2}", end + 10.0)),
            ("magnification", format!("{magnification:.1}")),
        ]
    }
}

/// A line from a name to what it names.
fn leader(class: &str, from: Point, to: Point) -> String {
    let data = line([from, to]);
    format!(
        "<path class=\"behind\" d=\"{data}\"/><path class=\"leader {class}\" d=\"{data}\"/>{}",
        dot(class, to, 3.5)
    )
}

fn nearest(points: impl Iterator<Item = Point>, aim: Point) -> Option<Point> {
    let distance = |p: &Point| radius([p[0] - aim[0], p[1] - aim[1]]);
    points.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}
