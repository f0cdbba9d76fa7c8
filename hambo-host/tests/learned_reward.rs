//! `reward.learned = true` on the command line, from the log to the page.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::{Folder, POLICY, QUICK, TASK, log};

/// The cart's log with what its task would pay.
fn rewarded(episodes: u32, steps: u32) -> String {
    let mut text = String::new();
    for (number, line) in log(episodes, steps).lines().enumerate() {
        let reward = match number {
            0 => "reward".to_owned(),
            _ => {
                let numbers: Vec<f32> = line.split(',').map(|x| x.parse().unwrap()).collect();
                (-(numbers[0] * numbers[0]) - 0.1 * numbers[2]).to_string()
            }
        };
        text += &format!("{line},{reward}\n");
    }
    text
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    let task = TASK.replace("expr = '-x^2'", "learned = true");
    folder.write(
        "task.toml",
        &task.replace("kind = 'point'\nvalue = [1, 0]", "kind = 'data'"),
    );
    folder.write("log.csv", &rewarded(40, 25));
    folder
}

#[test]
fn from_the_log_to_the_page() {
    let folder = folder("learned");
    let text = folder.done("task check task.toml --data log.csv");
    assert!(
        text.contains("the model learns the logged reward"),
        "{text}"
    );
    let text = folder.done(&QUICK.replace("--steps 600", "--steps 1500"));
    assert!(text.contains("return so far"), "{text}");
    folder.done("model info m.hambo");
    folder.done("data info log.csv --task task.toml");

    let check = "check task.toml --model m.hambo --policy pd.toml --data log.csv --effort quick";
    let object = folder.json(&format!("{check} --json --report page.html"));
    let bound = object["bound"].as_f64().unwrap();
    assert!(bound < 0.0 && bound > -50.0, "{object}");
    assert_eq!(object["verdict"], "deploy", "{object}");
    let page = String::from_utf8(folder.read("page.html")).unwrap();
    assert!(page.contains("Trajectories of return so far"));
    // Its side of the box is open, and stands nowhere.
    assert!(!page.contains("1.00e30"));

    folder.done("predict m.hambo --data log.csv -o out.csv");
    let table = String::from_utf8(folder.read("out.csv")).unwrap();
    let header = "x,v,u,next.x,next.v,reward,episode,mean.x,mean.v,mean.reward,\
                  epistemic_std.x,epistemic_std.v,epistemic_std.reward,\
                  aleatoric_std.x,aleatoric_std.v,aleatoric_std.reward";
    assert_eq!(table.lines().next().unwrap(), header);
    // The model knows the reward where it was logged: a small network explains nine
    // tenths of its squares after a short training (here 93 %).
    let squares = table.lines().skip(1).map(|line| {
        let numbers: Vec<f64> = line.split(',').map(|x| x.parse().unwrap()).collect();
        [(numbers[9] - numbers[5]).powi(2), numbers[5].powi(2)]
    });
    let [errors, all] = squares.fold([0.0; 2], |sum, row| [sum[0] + row[0], sum[1] + row[1]]);
    assert!(errors < 0.1 * all, "{errors} of {all}");

    folder.done("export m.hambo --task task.toml --policy pd.toml --data log.csv -o i.hmb");
}

#[test]
fn processes_learn_it_too() {
    let folder = folder("learned-gp");
    let fit = "fit task.toml --data log.csv --model gp --starts 1 --points 60 -o m.hambo";
    let text = folder.done(fit);
    assert!(text.contains("return so far"), "{text}");
    let constants = "--reward-lipschitz 1 --policy-lipschitz 1 --horizon 20";
    let text = folder.done(&format!("model info m.hambo {constants}"));
    assert!(
        text.contains("C_n") && !text.contains(" inf ") && !text.contains("NaN"),
        "{text}"
    );
    let check =
        "check task.toml --model m.hambo --policy pd.toml --data log.csv --effort quick --json";
    let object = folder.json(check);
    assert!(object["bound"].as_f64().unwrap() < 0.0, "{object}");
}

#[test]
fn a_controller_is_improved_for_the_users_states() {
    let folder = folder("learned-improve");
    folder.done(QUICK);
    let improve = "improve task.toml --data log.csv --model m.hambo --rounds 2 --rollout 5 \
                   --effort quick --trajectories 4 -o p.onnx --json";
    let words: Vec<&str> = improve.split_whitespace().collect();
    let improved = folder.json(&words.join(" "));
    let check =
        "check task.toml --model m.hambo --policy p.onnx --data log.csv --effort quick --json";
    let (code, object) = {
        let output = folder.command(check).output().unwrap();
        let object: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code().unwrap(), object)
    };
    assert!(code != 2 && object["bound"].is_number(), "{object}");
    assert!(improved["bound"].is_number(), "{improved}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let folder = folder("learned-refused");
    folder.write("bare.csv", &log(40, 25));
    for line in [
        "fit task.toml --data bare.csv -o bad.hambo",
        "check task.toml --model m.hambo --policy pd.toml --data bare.csv",
    ] {
        if line.starts_with("check") {
            folder.done(QUICK);
        }
        let error = folder.refused(line);
        assert!(error.contains("bare.csv: there are no rewards"), "{error}");
        assert!(error.contains("`reward.learned = true`"), "{error}");
        assert!(error.contains("help: add a column `reward`"), "{error}");
    }
    let output = folder.command("task check task.toml --data bare.csv");
    let output = { output }.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("the log has no rewards"), "{text}");

    // A model that learned it, and a task that computes it.
    folder.write("computed.toml", TASK);
    let error = folder.refused("check computed.toml --model m.hambo --policy pd.toml");
    assert!(error.contains("the model learned the reward"), "{error}");

    // A controller may not look at it.
    let blind = POLICY.replace("[[-1, -1]]", "[[-1, -1, 0]]");
    folder.write("three.toml", &blind);
    let error = folder.refused("check task.toml --model m.hambo --policy three.toml");
    assert!(error.contains("has length 3, not 2"), "{error}");

    // A reward that never changes.
    let constant: Vec<String> = log(40, 25)
        .lines()
        .enumerate()
        .map(|(number, line)| match number {
            0 => format!("{line},reward"),
            _ => format!("{line},1"),
        })
        .collect();
    folder.write("same.csv", &constant.join("\n"));
    let error = folder.refused("fit task.toml --data same.csv -o bad.hambo");
    assert!(error.contains("the reward is always 1"), "{error}");
}
