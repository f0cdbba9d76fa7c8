//! The line that lets a checked controller reach the actuators: a pin that
//! goes high for a [`Permit`] and for nothing else.
//!
//! Needs the feature `embedded-hal`.

use embedded_hal::digital::OutputPin;

use crate::verdict::Permit;

/// Drives the output-enable line of a power stage.
///
/// The line is low from construction on. Only [`enable`](Self::enable) raises
/// it, and that takes a [`Permit`], which only a passed check can make.
///
/// ```
/// use embedded_hal::digital::OutputPin;
/// use hambo_core::{Check, OutputEnable, Progress, Verdict};
///
/// # struct Pin;
/// # impl embedded_hal::digital::ErrorType for Pin { type Error = core::convert::Infallible; }
/// # impl OutputPin for Pin {
/// #     fn set_low(&mut self) -> Result<(), Self::Error> { Ok(()) }
/// #     fn set_high(&mut self) -> Result<(), Self::Error> { Ok(()) }
/// # }
/// let Ok(mut output) = OutputEnable::new(Pin);
/// let image = hambo_core::example::image()?;
/// let mut rows = [[0.0; 4]; 128];
/// let mut check = Check::new(&image, &mut rows).map_err(|_| "too few rows")?;
/// if let Progress::Finished(outcome) = check.advance(1000)
///     && let Verdict::Deploy(permit) = outcome.verdict
/// {
///     let Ok(()) = output.enable(permit);
/// }
/// assert!(output.is_on());
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct OutputEnable<P: OutputPin> {
    pin: P,
    on: bool,
}

impl<P: OutputPin> OutputEnable<P> {
    /// Takes the pin and drives it low.
    ///
    /// # Errors
    /// The pin's own, if it cannot be driven.
    pub fn new(mut pin: P) -> Result<Self, P::Error> {
        pin.set_low()?;
        Ok(Self { pin, on: false })
    }

    /// Raises the line. The permit is used up.
    ///
    /// # Errors
    /// The pin's own; the line then counts as off and was driven low again.
    pub fn enable(&mut self, _permit: Permit) -> Result<(), P::Error> {
        match self.pin.set_high() {
            Ok(()) => {
                self.on = true;
                Ok(())
            }
            Err(error) => {
                self.disable()?;
                Err(error)
            }
        }
    }

    /// Drives the line low.
    ///
    /// # Errors
    /// The pin's own, if it cannot be driven.
    pub fn disable(&mut self) -> Result<(), P::Error> {
        self.on = false;
        self.pin.set_low()
    }

    /// Whether the line is high.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.on
    }
}

#[cfg(test)]
mod tests {
    use super::OutputEnable;
    use crate::{Check, Permit, Progress, Verdict};
    use embedded_hal::digital::{ErrorKind, ErrorType, OutputPin};

    /// Remembers every level it was driven to, and can refuse to go high.
    #[derive(Default)]
    struct MockPin {
        levels: Vec<bool>,
        stuck: bool,
    }

    impl ErrorType for &mut MockPin {
        type Error = ErrorKind;
    }

    impl OutputPin for &mut MockPin {
        fn set_low(&mut self) -> Result<(), ErrorKind> {
            self.levels.push(false);
            Ok(())
        }

        fn set_high(&mut self) -> Result<(), ErrorKind> {
            if self.stuck {
                return Err(ErrorKind::Other);
            }
            self.levels.push(true);
            Ok(())
        }
    }

    /// The example's permit, from a check that passes.
    fn permit() -> Option<Permit> {
        let image = crate::example::image().ok()?;
        let mut rows = [[0.0; 4]; 128];
        let mut check = Check::new(&image, &mut rows).ok()?;
        match check.advance(1000) {
            Progress::Finished(outcome) => match outcome.verdict {
                Verdict::Deploy(permit) => Some(permit),
                Verdict::Reject | Verdict::Abstain => None,
            },
            Progress::Working { .. } => None,
        }
    }

    #[test]
    fn construction_drives_low() -> Result<(), ErrorKind> {
        let mut pin = MockPin::default();
        let output = OutputEnable::new(&mut pin)?;
        assert!(!output.is_on());
        assert_eq!(pin.levels, [false]);
        Ok(())
    }

    #[test]
    fn high_after_enabling_and_low_after_disabling() -> Result<(), ErrorKind> {
        let mut pin = MockPin::default();
        let mut output = OutputEnable::new(&mut pin)?;
        output.enable(permit().ok_or(ErrorKind::Other)?)?;
        assert!(output.is_on());
        output.disable()?;
        assert!(!output.is_on());
        assert_eq!(pin.levels, [false, true, false]);
        Ok(())
    }

    #[test]
    fn a_pin_that_cannot_rise_is_driven_low_and_counts_as_off() -> Result<(), ErrorKind> {
        let mut pin = MockPin {
            stuck: true,
            ..MockPin::default()
        };
        let mut output = OutputEnable::new(&mut pin)?;
        let refused = permit().map(|permit| output.enable(permit));
        assert_eq!(refused, Some(Err(ErrorKind::Other)));
        assert!(!output.is_on());
        assert_eq!(pin.levels, [false, false]);
        Ok(())
    }
}
