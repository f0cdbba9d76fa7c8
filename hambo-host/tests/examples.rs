//! The examples run, and say what they should.

#[allow(dead_code, reason = "its `main` is not called")]
#[path = "../examples/custom_controller.rs"]
mod custom_controller;
#[allow(dead_code, reason = "its `main` is not called")]
#[path = "../examples/custom_environment.rs"]
mod custom_environment;
#[allow(dead_code, reason = "its `main` is not called")]
#[path = "../examples/fit_and_check.rs"]
mod fit_and_check;

use hambo_host::check::Verdict;

#[test]
fn a_safe_controller_is_deployed_and_an_unsafe_one_is_not() {
    let judged = fit_and_check::judge().unwrap();
    let verdicts: Vec<_> = judged.iter().map(|one| one.verdict).collect();
    assert_eq!(
        verdicts,
        [Some(Verdict::Deploy), Some(Verdict::Reject)],
        "{judged:?}"
    );
    assert!(judged.iter().all(|one| one.bound < one.truth), "{judged:?}");
}

#[test]
fn a_system_of_ones_own_is_logged() {
    let run = custom_environment::drive(20).unwrap();
    assert_eq!(run.log.len(), 20 * 50);
    assert!(
        run.returns
            .iter()
            .all(|value| (-30.0..-0.1).contains(value))
    );
}

#[test]
fn a_controller_of_ones_own_is_checked() {
    let [safe, unsafe_one] = [1.6, 1.1].map(|height| custom_controller::check(height).unwrap());
    assert_eq!(safe.verdict.name(), "deploy", "{}", safe.bound);
    assert_ne!(unsafe_one.verdict.name(), "deploy", "{}", unsafe_one.bound);
}
