//! Bad model files: damage in every section, and files of another kind.

use hambo_core::image::Part;

use super::bytes::{flipped, not_a_number, second_part, signed};
use super::{Case, FIT, TASK, plain, with};

pub fn cases(model: &[u8]) -> Vec<Case> {
    let line = "check task.toml --model @ --policy pd.toml --effort quick";
    let file =
        |name, bytes: Vec<u8>, words: &[&'static str]| with(name, "bad.hambo", bytes, line, words);
    let second = second_part(model);
    let old = second + 64;
    let mut newer = model.to_vec();
    newer[4] = hambo_core::image::container::VERSION as u8 + 1;
    let mut older = model.to_vec();
    older[4] = 1;
    let garbage = signed(Part::Provenance, 40, &[0xff; 48]);
    let empty = [&model[..second], &signed(Part::Model, 0, &[])].concat();
    let huge = [&model[..8], &[0xff; 8], &model[16..]].concat();
    vec![
        plain(
            "no such model",
            &line.replace('@', "none.hambo"),
            &["none.hambo", "check the path"],
        ),
        plain(
            "a folder as a model",
            &line.replace('@', "folder.csv"),
            &["folder.csv", "not a file"],
        ),
        plain(
            "a device as a model",
            &line.replace('@', "/dev/zero"),
            &["/dev/zero", "not a file"],
        ),
        file("empty model", Vec::new(), &["bad.hambo", "provenance part"]),
        file(
            "text as a model",
            TASK.repeat(9).into(),
            &["does not begin", "hambo fit"],
        ),
        file("a model of a newer format", newer, &["later version"]),
        file(
            "a model of an older format",
            older,
            &["earlier version", "fit again"],
        ),
        file("a length that is too large", huge, &["provenance part"]),
        file(
            "cut in the first header",
            model[..40].to_vec(),
            &["provenance part", "ends before"],
        ),
        file(
            "cut in the metadata",
            model[..second - 9].to_vec(),
            &["provenance part"],
        ),
        file(
            "cut between the parts",
            model[..second].to_vec(),
            &["model part", "ends before"],
        ),
        file(
            "cut in the description",
            model[..old + 9].to_vec(),
            &["model part"],
        ),
        file(
            "cut in the weights",
            model[..model.len() - 99].to_vec(),
            &["model part"],
        ),
        file(
            "bytes behind the end",
            [model, &[0; 16]].concat(),
            &["follow"],
        ),
        file(
            "a changed first header",
            flipped(model, 30),
            &["provenance part"],
        ),
        file(
            "changed metadata",
            flipped(model, 70),
            &["provenance part", "checksum"],
        ),
        file(
            "a changed second header",
            flipped(model, second + 20),
            &["model part"],
        ),
        file(
            "a changed description",
            flipped(model, old + 3),
            &["model part", "checksum"],
        ),
        file(
            "a changed weight",
            flipped(model, model.len() - 40),
            &["model part", "checksum"],
        ),
        file(
            "sound sums around nonsense",
            garbage,
            &["provenance part", "cannot be read"],
        ),
        file("sound sums around nothing", empty, &["model part"]),
        file(
            "weights that are NaN, sums that agree",
            not_a_number(model),
            &["model part", "not finite"],
        ),
        plain(
            "a device image as a model",
            &line.replace('@', "i.hmb"),
            &["i.hmb", "another kind"],
        ),
        with(
            "a model of another robot",
            "other.toml",
            TASK.replace("'x', 'v'", "'x', 'w'"),
            "check @ --model m.hambo --policy pd.toml",
            &["x, v", "x, w"],
        ),
        with(
            "predict for another robot",
            "bad.csv",
            "y,u\n0,0\n",
            "predict m.hambo --data @ -o out.csv",
            &["`x`"],
        ),
        plain(
            "a model as a log",
            &FIT.replace('@', "m.hambo"),
            &["m.hambo"],
        ),
        plain(
            "a model as a policy",
            "check task.toml --model m.hambo --policy m.hambo",
            &["m.hambo"],
        ),
    ]
}
