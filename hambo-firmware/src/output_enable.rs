//! The only way to the actuators: a pin that goes high for a [`Permit`] and for nothing else.

use embedded_hal::digital::OutputPin;
use hambo_core::verdict::Permit;

/// Drives the output-enable line of the robot's power stage.
///
/// The line is low from construction on. Only [`enable`](Self::enable) raises
/// it, and that takes a [`Permit`], which only a passed check can make.
#[derive(Debug)]
pub struct OutputEnable<P: OutputPin> {
    pin: P,
    on: bool,
}

impl<P: OutputPin> OutputEnable<P> {
    /// Takes the pin and drives it low.
    ///
    /// # Errors
    ///
    /// The pin's own, if it cannot be driven.
    pub fn new(mut pin: P) -> Result<Self, P::Error> {
        pin.set_low()?;
        Ok(Self { pin, on: false })
    }

    /// Raises the line. The permit is used up.
    ///
    /// # Errors
    ///
    /// The pin's own; the line then counts as off and was driven low again.
    pub fn enable(&mut self, _permit: Permit) -> Result<(), P::Error> {
        self.switch_on()
    }

    /// Drives the line low.
    ///
    /// # Errors
    ///
    /// The pin's own, if it cannot be driven.
    pub fn disable(&mut self) -> Result<(), P::Error> {
        self.on = false;
        self.pin.set_low()
    }

    /// Whether the line is high.
    pub fn is_on(&self) -> bool {
        self.on
    }

    fn switch_on(&mut self) -> Result<(), P::Error> {
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
}

#[cfg(test)]
mod tests {
    use super::OutputEnable;
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

    #[test]
    fn construction_drives_low() -> Result<(), ErrorKind> {
        let mut pin = MockPin::default();
        let output = OutputEnable::new(&mut pin)?;
        assert!(!output.is_on());
        assert_eq!(pin.levels, [false]);
        Ok(())
    }

    // `enable` is this plus a permit, which no test can make: only a check can.
    #[test]
    fn high_after_enabling_and_low_after_disabling() -> Result<(), ErrorKind> {
        let mut pin = MockPin::default();
        let mut output = OutputEnable::new(&mut pin)?;
        output.switch_on()?;
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
        assert_eq!(output.switch_on(), Err(ErrorKind::Other));
        assert!(!output.is_on());
        assert_eq!(pin.levels, [false, false]);
        Ok(())
    }
}
