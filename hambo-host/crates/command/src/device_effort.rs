//! How much a device does: flags of `hambo export`, which writes it into a bundle, and of
//! `hambo floor`, which asks for at least this effort.

use clap::Args;
use hambo_core::task::Effort;

use super::allocation::AllocationArgument;
use hambo_check::adversary::EffortLevel;
use hambo_check::amounts::{Usual, Wanted};
use hambo_check::demand::Demand;
use hambo_console::number::whole;

/// The flags.
#[derive(Args, Debug)]
pub struct DeviceEffort {
    /// Trajectories that the device samples; a floor asks for at least this number [default:
    /// 400, and more for a requirement's probability].
    #[arg(long, value_parser = whole::<u32>)]
    pub device_trajectories: Option<u32>,
    /// Other trajectories on which it searches; a floor asks for at least this number [default:
    /// 8; where the bound must hold for any distribution 128, and more for a requirement's
    /// probability].
    #[arg(long, value_parser = whole::<u32>)]
    pub device_searched: Option<u32>,
    /// Sweeps of its search; a floor asks for at least this number.
    #[arg(long, default_value_t = EffortLevel::Quick.sweeps(), value_parser = whole::<u32>)]
    pub device_sweeps: u32,
    /// How the adversary's starts share the steps of the device's search; a floor refuses one
    /// that leaves out more of them [default: even, and tried where more than 16 trajectories
    /// are searched].
    #[arg(long, value_enum)]
    pub device_allocation: Option<AllocationArgument>,
}

impl DeviceEffort {
    /// What a task asks for where the flags leave it open, with a seed.
    pub fn of(&self, demand: Demand<'_>, seed: u64) -> Effort {
        let wanted = Wanted {
            trajectories: self.device_trajectories,
            searched: self.device_searched,
            allocation: self.device_allocation.map(Into::into),
        };
        Effort {
            iterations: self.device_sweeps,
            seed,
            ..demand.effort(wanted, Usual::DEVICE)
        }
    }
}
