//! Several controllers checked with one model, under one or more variants each.

use hambo_core::task::Variant;

use super::numbered::Numbered;
use crate::case::options::CheckOptions;
use crate::names::variant_name;
use crate::outcome::result::CheckResult;
use crate::outcome::run::{CheckOutcome, run};
use hambo_base::Error;
use hambo_base::observer::Observer;
use hambo_learn::model_file::ModelFile;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

/// A controller under the name that tells it from the others.
#[derive(Clone, Debug)]
pub struct Controller {
    pub name: String,
    pub policy: HostPolicy,
}

/// A controller and its checks.
#[derive(Clone, Debug)]
pub struct Judged {
    pub name: String,
    /// The check by the variant that decides: all of it is that of `hambo check`.
    pub outcome: CheckOutcome,
    /// The checks by the other variants.
    pub others: Vec<CheckResult>,
}

/// Checks every controller by every variant, each as `hambo check --variant` does; the first
/// variant decides. The others are left out where the model has no members and they need them.
/// What `options` say of variants does not count.
///
/// # Errors
/// As [`run`](crate::run); the first error ends all.
pub fn judge_all(
    task: &TaskFile,
    model: &ModelFile,
    controllers: &[Controller],
    (variants, options): (&[Variant], &CheckOptions<'_>),
    observer: &mut dyn Observer,
) -> Result<Vec<Judged>, Error> {
    let members = model.model()?.dynamics.members() > 0;
    let (decides, others) = variants.split_first().map_or_else(
        || (Variant::ContinuousAdversary, &[] as &[Variant]),
        |(first, rest)| (*first, rest),
    );
    let mut observer = Numbered::new(observer);
    let mut judged = Vec::with_capacity(controllers.len());
    for (number, controller) in (1..).zip(controllers) {
        let mut check = |variant: Variant, plan: usize| {
            let (name, all) = (&controller.name, controllers.len());
            observer.begin(format!(
                "{number} of {all}, {name}, {}",
                variant_name(variant)
            ));
            let options = CheckOptions {
                variants: &[variant],
                plan,
                ..*options
            };
            run(task, model, &controller.policy, &options, &mut observer)
        };
        let mut outcome = check(decides, options.plan)?;
        // Of many controllers the steps would add up.
        outcome.walks = None;
        let others = others.iter().copied();
        let others = others.filter(|variant| members || !variant.needs_members());
        // Places to log are those of the variant that decides.
        let others = others.map(|variant| Ok(check(variant, 0)?.result));
        judged.push(Judged {
            name: controller.name.clone(),
            outcome,
            others: others.collect::<Result<_, Error>>()?,
        });
    }
    Ok(judged)
}
