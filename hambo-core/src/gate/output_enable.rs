//! The line that lets a checked controller reach the actuators: a pin that
//! goes high for a [`Permit`] and for nothing else.
//!
//! Needs the feature `embedded-hal`.

use embedded_hal::digital::OutputPin;

use super::permit::Permit;
use crate::image::Bundle;
use crate::numeric::WorkDone;

/// Drives the output-enable line of a power stage.
///
/// The line is low from construction on. Only [`enable`](Self::enable) raises
/// it, and that takes a [`Permit`], which only a passed check can make.
///
/// ```
/// use embedded_hal::digital::OutputPin;
/// use hambo_core::{Check, OutputEnable, Progress, example};
///
/// # struct Pin;
/// # impl embedded_hal::digital::ErrorType for Pin { type Error = core::convert::Infallible; }
/// # impl OutputPin for Pin {
/// #     fn set_low(&mut self) -> Result<(), Self::Error> { Ok(()) }
/// #     fn set_high(&mut self) -> Result<(), Self::Error> { Ok(()) }
/// # }
/// let Ok(mut output) = OutputEnable::new(Pin);
/// let bundle = example::bundle()?;
/// let floor = example::floor(&bundle)?;
/// let admitted = floor.admit(&bundle, &mut []).map_err(|_| "it asks for less")?;
/// let mut rows = [[0.0; 4]; 128];
/// let mut check = Check::of_controller(&admitted, &mut rows).map_err(|_| "too few rows")?;
/// if let Progress::Finished(outcome) = check.advance(1000) {
///     // On a device: bundle and floor as flash holds them now.
///     let again = floor.admit(&bundle, &mut []).map_err(|_| "it asks for less")?;
///     if let Some(permit) = outcome.permit(&again, None) {
///         let Ok(()) = output.enable(permit);
///     }
/// }
/// assert!(output.is_on());
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct OutputEnable<P: OutputPin> {
    pin: P,
    /// What keeps the line on.
    permit: Option<Permit>,
}

impl<P: OutputPin> OutputEnable<P> {
    /// Takes the pin and drives it low.
    ///
    /// # Errors
    /// The pin's own, if it cannot be driven.
    pub fn new(mut pin: P) -> Result<Self, P::Error> {
        pin.set_low()?;
        Ok(Self { pin, permit: None })
    }

    /// Raises the line, if both words of the permit still open. The permit is used up.
    ///
    /// # Errors
    /// The pin's own; the line then counts as off and was driven low again.
    pub fn enable(&mut self, permit: Permit) -> Result<(), P::Error> {
        match raise(&mut self.pin, &permit) {
            Ok(true) => {
                self.permit = Some(permit);
                Ok(())
            }
            Ok(false) => self.disable(),
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
        self.permit = None;
        self.pin.set_low()
    }

    /// Holds a level against what flash holds now: the line stays on while the permit opens
    /// and `again`, read from flash once more, is the bundle that was checked; it falls
    /// otherwise. The proof feeds a watchdog; a line that is off has none.
    ///
    /// # Errors
    /// The pin's own, if it cannot be driven.
    pub fn hold(&mut self, again: Option<&Bundle<'_>>) -> Result<Option<WorkDone>, P::Error> {
        let now = again.map(|bundle| bundle.image().hash());
        let holds = self
            .permit
            .as_ref()
            .is_some_and(|permit| permit.opens() && now == Some(permit.image_hash()));
        if !holds {
            self.disable()?;
            return Ok(None);
        }
        Ok(Some(WorkDone::new()))
    }

    /// Drives the line low and gives the pin back, for a heartbeat on it.
    ///
    /// # Errors
    /// The pin's own, if it cannot be driven.
    pub fn into_pin(mut self) -> Result<P, P::Error> {
        self.disable()?;
        Ok(self.pin)
    }

    /// Whether the line is high.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.permit.is_some()
    }
}

/// The one place that drives the pin high. Both words are compared here, right before the
/// store, each with a way out of its own: an instruction that does not run passes
/// one of the comparisons at most. Never inlined, so that no path leads past them.
#[inline(never)]
pub(crate) fn raise<P: OutputPin>(pin: &mut P, permit: &Permit) -> Result<bool, P::Error> {
    if !permit.opens() {
        return Ok(false);
    }
    pin.set_high()?;
    Ok(true)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::OutputEnable;
    use crate::gate::code_words::OPEN;
    use crate::gate::permit::tests::HASHES;
    use crate::gate::permit::{Key, Permit};
    use crate::{Bundle, example};
    use embedded_hal::digital::{ErrorKind, ErrorType, OutputPin};

    /// Remembers every level it was driven to, and can refuse to go high.
    #[derive(Default)]
    pub(crate) struct MockPin {
        pub levels: Vec<bool>,
        pub stuck: bool,
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

    /// What a check that passes gives.
    pub(crate) fn permit() -> Option<Permit> {
        Some(Permit::new(Key::of(OPEN, OPEN, HASHES)?, None))
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

    #[test]
    fn a_level_falls_when_flash_holds_another_image() -> Result<(), ErrorKind> {
        let bundle = |hash| -> Result<Bundle<'static>, ErrorKind> {
            let bundle = example::bundle().map_err(|_| ErrorKind::Other)?;
            Ok(bundle.with_hash(hash))
        };
        let (own, other) = (bundle(HASHES.bundle)?, bundle([0x5a; 32])?);
        for other in [None, Some(&other)] {
            let mut pin = MockPin::default();
            let mut output = OutputEnable::new(&mut pin)?;
            // A line that is off is no work.
            assert!(output.hold(Some(&own))?.is_none());
            output.enable(permit().ok_or(ErrorKind::Other)?)?;
            assert!(output.hold(Some(&own))?.is_some());
            assert!(output.is_on());
            assert!(output.hold(other)?.is_none());
            assert!(!output.is_on());
            // It does not come back.
            assert!(output.hold(Some(&own))?.is_none());
            assert!(!output.is_on());
            assert_eq!(pin.levels[..4], [false, false, true, false]);
            assert!(!pin.levels[4..].contains(&true));
        }
        Ok(())
    }
}
