//! What a task is in memory, for a checksum: its numbers and its tape, and where the numbers lie
//! that it borrows. A field that is not added does not compile.

use super::decision_process::Task;
use super::initial::InitialState;
use super::network_adversary::NetworkAdversary;
use super::plan::Plan;
use super::range::{Limits, Wraps};
use crate::numeric::checksum::Checksum;

impl Task<'_> {
    /// Adds all of it.
    pub(crate) fn add_to(&self, sum: &mut Checksum) {
        let Self {
            horizon,
            discount,
            delta,
            threshold,
            distribution_free,
            reward_bounds,
            return_bounds,
            constraint_bounds,
            wraps,
            physics,
            state_limits,
            action_limits,
            initial,
            program,
            reward,
            termination,
            power_off,
            constraints,
            plan,
        } = self;
        sum.value(&(horizon, discount, delta, threshold, distribution_free));
        sum.value(&(reward_bounds, return_bounds, constraint_bounds));
        sum.value(physics);
        sum.value(&(reward, termination, power_off, constraints));
        sum.value(&program.ops());
        wraps.add_to(sum);
        state_limits.add_to(sum);
        action_limits.add_to(sum);
        initial.add_to(sum);
        plan.add_to(sum);
    }
}

impl Limits<'_> {
    fn add_to(&self, sum: &mut Checksum) {
        let Self { low, high } = self;
        sum.place(*low);
        sum.place(*high);
    }
}

impl Wraps<'_> {
    fn add_to(&self, sum: &mut Checksum) {
        let Self { low, period } = self;
        sum.place(*low);
        sum.place(*period);
    }
}

impl InitialState<'_> {
    fn add_to(&self, sum: &mut Checksum) {
        let Self {
            kind,
            first,
            second,
        } = self;
        sum.value(kind);
        sum.place(*first);
        sum.place(*second);
    }
}

impl Plan<'_> {
    fn add_to(&self, sum: &mut Checksum) {
        let Self {
            effort,
            method,
            refused_by_host,
            networks,
            found,
        } = self;
        sum.value(&(effort, method, refused_by_host));
        sum.value(&(networks.len(), found.len()));
        for network in networks {
            let NetworkAdversary {
                variant,
                objective,
                network,
            } = network;
            sum.value(&(variant, objective));
            network.add_to(sum);
        }
        for found in found {
            found.add_to(sum);
        }
    }
}
