//! The gate: outputs off, check the image, and only then, perhaps, outputs on.
#![no_std]
#![no_main]

mod gate;

use hambo_core::{
    Outcome, OutputEnable, Verdict,
    device_link::{DeviceMessage, DeviceResult, Usage},
};
use hambo_firmware::{board::EnablePin, counter::Counter, fault, link, stack, workspace};

#[cortex_m_rt::entry]
fn main() -> ! {
    let Ok(mut output) = OutputEnable::new(EnablePin::new());
    let Some(peripherals) = cortex_m::Peripherals::take() else {
        fault::stop()
    };
    let counter = Counter::start(peripherals.SYST);

    let outcome = gate::run();
    let usage = Usage {
        work: counter.work(),
        stack_high_water: stack::high_water(),
        workspace_bytes: workspace::BYTES,
    };
    let mut result = match &outcome {
        Ok(outcome) => DeviceResult::checked(outcome, usage),
        Err(refusal) => DeviceResult::refused(*refusal, usage),
    };
    let accepted = outcome.is_ok();
    if let Ok(Outcome {
        verdict: Verdict::Deploy(permit),
        ..
    }) = outcome
    {
        let Ok(()) = output.enable(permit);
    }
    result.output_enabled = output.is_on();

    defmt::info!(
        "{}: bound {=f32}, threshold {}, without an adversary {=f32}",
        result.verdict,
        result.bound,
        result.threshold,
        result.neutral
    );
    for reason in &result.reasons {
        defmt::info!("because {}", reason);
    }
    link::send(&DeviceMessage::Result(result));
    if accepted {
        link::finish()
    } else {
        link::fail()
    }
}
