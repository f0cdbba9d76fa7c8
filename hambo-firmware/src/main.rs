//! The gate: outputs off, check the image, and only then, perhaps, outputs on.
#![no_std]
#![no_main]

mod gate;

use hambo_core::verdict::Verdict;
use hambo_firmware::{
    board::EnablePin,
    counter::{self, Counter},
    fault, link,
    output_enable::OutputEnable,
    stack, workspace,
};

/// What stands in the closing line instead of a bound when there is none.
const NO_BOUND: f32 = f32::from_bits(0x7fc0_0000);

#[cortex_m_rt::entry]
fn main() -> ! {
    let Ok(mut output) = OutputEnable::new(EnablePin::new());
    let Some(peripherals) = cortex_m::Peripherals::take() else {
        fault::stop()
    };
    let counter = Counter::start(peripherals.SYST);

    match gate::run() {
        Ok(outcome) => {
            let count = counter.elapsed();
            let digest = outcome.digest();
            let verdict = match outcome.verdict {
                Verdict::Deploy(permit) => {
                    let Ok(()) = output.enable(permit);
                    "deploy"
                }
                Verdict::Reject => "reject",
                Verdict::Abstain => "abstain",
            };
            defmt::info!(
                "bound {=f32}, threshold {}, without an adversary {=f32}",
                outcome.bound,
                outcome.threshold,
                outcome.neutral
            );
            for reason in &outcome.reasons {
                defmt::info!("because {}", reason);
            }
            closing_line(outcome.bound, digest, verdict, output.is_on(), count);
            link::finish()
        }
        Err(refusal) => {
            defmt::error!("image refused: {}", refusal);
            closing_line(NO_BOUND, 0, "refused", output.is_on(), counter.elapsed());
            link::fail()
        }
    }
}

/// The last line of every run, which the host parses.
fn closing_line(bound: f32, digest: u32, verdict: &str, output_on: bool, count: u64) {
    defmt::info!(
        "result bound={=f32} bits={=u32:08x} digest={=u32:08x} verdict={=str} output={=str} {=str}={=u64} stack={=u32} ram={=u32}",
        bound,
        bound.to_bits(),
        digest,
        verdict,
        if output_on { "on" } else { "off" },
        counter::UNIT,
        count,
        stack::high_water(),
        workspace::BYTES,
    );
}
