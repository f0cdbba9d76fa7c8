//! How much a device does: flags of `hambo export`, which writes it into a bundle, and of
//! `hambo floor`, which asks for at least this effort.

use clap::Args;
use hambo_core::task::Effort;

use super::allocation::AllocationArgument;
use hambo_check::adversary::EffortLevel;
use hambo_console::number::whole;

/// The flags.
#[derive(Args, Debug)]
pub struct DeviceEffort {
    /// Trajectories that the device samples; a floor asks for at least this number.
    #[arg(long, default_value_t = 400, value_parser = whole::<u32>)]
    pub device_trajectories: u32,
    /// Other trajectories on which it searches; a floor asks for at least this number.
    #[arg(long, default_value_t = 8, value_parser = whole::<u32>)]
    pub device_searched: u32,
    /// Sweeps of its search; a floor asks for at least this number.
    #[arg(long, default_value_t = EffortLevel::Quick.sweeps(), value_parser = whole::<u32>)]
    pub device_sweeps: u32,
    /// How the adversary's starts share the steps of the device's search; a floor that asks
    /// for an even search refuses a focused one.
    #[arg(long, value_enum, default_value_t = AllocationArgument::Even)]
    pub device_allocation: AllocationArgument,
}

impl DeviceEffort {
    /// The same with a seed.
    pub fn with_seed(&self, seed: u64) -> Effort {
        Effort {
            trajectories: self.device_trajectories,
            searched: self.device_searched,
            iterations: self.device_sweeps,
            seed,
            allocation: self.device_allocation.into(),
        }
    }
}
