//! What the device did with an image, if all that was seen of it agrees.

use std::process::ExitStatus;

use hambo_core::link::device::{DeviceMessage, DeviceResult};

use super::elf::Firmware;
use super::error::DeviceError;
use super::gpio;
use super::gpio::GpioWrite;
use super::output::DeviceOutput;

/// What the device did with an image.
#[derive(Clone, Debug)]
pub struct DeviceReport {
    /// What the device says.
    pub result: DeviceResult,
    /// The firmware's flash in bytes, without the image.
    pub flash_bytes: u32,
    /// The firmware's statics in bytes: the workspace and all else but the stack.
    pub static_bytes: u32,
    /// The log, line by line, with levels.
    pub log: Vec<String>,
    /// Every store to a pin's registers, in order; at least the one that drives it low.
    pub gpio_writes: Vec<GpioWrite>,
    /// Whether the run ended with success: for every verdict but a refused image.
    pub exit_success: bool,
}

impl DeviceReport {
    /// The report, if closing message, exit code and pin agree.
    pub(super) fn new(
        firmware: Firmware,
        status: ExitStatus,
        output: DeviceOutput,
        stderr: &str,
    ) -> Result<Self, DeviceError> {
        let gpio_writes: Vec<_> = stderr.lines().filter_map(GpioWrite::parse).collect();
        let driven_high = gpio_writes.iter().any(|write| write.enables_outputs());
        let left_high = gpio::left_high(&gpio_writes);
        let last_line = output.last_line();
        let Some(DeviceMessage::Result(result)) = output.message else {
            return Err(DeviceError::NoResult {
                status,
                last_line,
                driven_high,
                left_high,
                messages: emulator_messages(stderr),
            });
        };

        let exit_success = status.success();
        if exit_success == result.verdict.is_err() {
            return Err(DeviceError::ExitDisagrees {
                verdict: result.decision(),
                status,
            });
        }
        // The firmware drives the pin low before anything else.
        if gpio_writes.is_empty() {
            return Err(DeviceError::NoPinLog);
        }
        if left_high != result.output_enabled || left_high != driven_high {
            return Err(DeviceError::PinDisagrees {
                reported: if result.output_enabled { "on" } else { "off" },
                driven: match (driven_high, left_high) {
                    (_, true) => "left high",
                    (true, false) => "driven high and then low",
                    (false, false) => "never driven high",
                },
            });
        }
        Ok(Self {
            result,
            flash_bytes: firmware.flash_bytes,
            static_bytes: firmware.static_bytes,
            log: output.log,
            gpio_writes,
            exit_success,
        })
    }
}

/// The emulator's own words, without the accesses to ports.
fn emulator_messages(stderr: &str) -> String {
    let lines: Vec<_> = stderr
        .lines()
        .filter(|line| !line.contains(": unimplemented device "))
        .take(20)
        .collect();
    lines.join("\n")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use hambo_core::gate::Verdict;
    use hambo_core::link::device::{BoardStatus, ModelCosts, Refusal, ResetCause, Usage, Work};
    use std::os::unix::process::ExitStatusExt;

    const LOW: &str =
        "GPIOA: unimplemented device write (size 4, offset 0x018, value 0x00200000)\n";
    const HIGH: &str =
        "GPIOA: unimplemented device write (size 4, offset 0x018, value 0x00000020)\n";

    fn refused() -> DeviceResult {
        let usage = Usage {
            work: Work::Instructions(1),
            stack_high_water: 2,
            workspace_bytes: 3,
            longest_slice: 4,
            board: BoardStatus {
                reset: ResetCause::Unknown,
                brown_out_level: None,
                read_out_protected: None,
            },
        };
        DeviceResult::refused(Refusal::WorkspaceTaken, usage)
    }

    fn deploy() -> DeviceResult {
        DeviceResult {
            verdict: Ok(Verdict::Deploy),
            bound: 1.5,
            neutral: 2.0,
            output_enabled: true,
            ..refused()
        }
    }

    fn report(
        message: Option<DeviceMessage>,
        exit_code: i32,
        stderr: &str,
    ) -> Result<DeviceReport, DeviceError> {
        let firmware = Firmware {
            model_start: 0,
            floor: (0, 0),
            model_length: 0,
            candidate_start: 0,
            flash_bytes: 7,
            static_bytes: 8,
        };
        let output = DeviceOutput {
            log: vec!["info  hello".into()],
            message,
        };
        let status = ExitStatus::from_raw(exit_code << 8);
        DeviceReport::new(firmware, status, output, stderr)
    }

    #[test]
    fn a_result_is_a_report() -> Result<(), DeviceError> {
        let message = DeviceMessage::Result(deploy());
        let report = report(Some(message), 0, &[LOW, HIGH].concat())?;
        assert_eq!(report.result, deploy());
        assert_eq!((report.gpio_writes.len(), report.log.len()), (2, 1));
        assert_eq!((report.flash_bytes, report.static_bytes), (7, 8));
        Ok(())
    }

    #[test]
    fn a_refused_image_is_a_report_of_failure() -> Result<(), DeviceError> {
        let report = report(Some(DeviceMessage::Result(refused())), 1, LOW)?;
        assert!(!report.result.output_enabled && !report.exit_success);
        Ok(())
    }

    #[test]
    fn success_without_a_result_is_an_error() {
        let costs = DeviceMessage::Costs(ModelCosts::new());
        for message in [None, Some(costs)] {
            let report = report(message, 0, "");
            assert!(
                matches!(report, Err(DeviceError::NoResult { .. })),
                "{report:?}"
            );
        }
        let faulted = report(None, 1, &[LOW, HIGH, LOW].concat());
        let Err(DeviceError::NoResult {
            driven_high,
            left_high,
            ..
        }) = faulted
        else {
            unreachable!("{faulted:?}")
        };
        assert!(driven_high && !left_high);
    }

    #[test]
    fn exit_code_and_verdict_must_agree() {
        for (result, exit_code, pin) in [(deploy(), 1, HIGH), (refused(), 0, LOW)] {
            let report = report(Some(DeviceMessage::Result(result)), exit_code, pin);
            assert!(
                matches!(report, Err(DeviceError::ExitDisagrees { .. })),
                "{report:?}"
            );
        }
    }

    #[test]
    fn pin_and_verdict_must_agree() {
        let blink = &[LOW, HIGH, LOW].concat();
        for (result, exit_code, pin) in [
            (deploy(), 0, LOW),
            (refused(), 1, HIGH),
            (deploy(), 0, blink),
            (refused(), 1, blink),
        ] {
            let report = report(Some(DeviceMessage::Result(result)), exit_code, pin);
            assert!(
                matches!(report, Err(DeviceError::PinDisagrees { .. })),
                "{report:?}"
            );
        }
    }

    #[test]
    fn a_pin_that_nobody_saw_is_no_report() {
        for (result, exit_code) in [(deploy(), 0), (refused(), 1)] {
            let report = report(Some(DeviceMessage::Result(result)), exit_code, "");
            assert!(matches!(report, Err(DeviceError::NoPinLog)), "{report:?}");
        }
    }
}
