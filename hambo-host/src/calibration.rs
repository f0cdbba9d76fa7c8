//! Calibration of the uncertainty set on withheld data.
