//! What the core refuses, in sentences for a user.

use hambo_core::floor::Shortfall;
use hambo_core::image::{ImageError, Part, Problem};
use hambo_core::numeric::CapacityError;
use hambo_core::task::expression::ProgramError;

use super::error::Error;
use crate::error::Explained;

/// The word for a part.
#[must_use]
pub fn part_name(part: &Part) -> &'static str {
    match part {
        Part::Model => "model",
        Part::Task => "task",
        Part::Policy => "policy",
        Part::Provenance => "provenance",
        Part::Adversary => "adversary",
        Part::Bundle => "manifest",
        Part::Floor => "floor",
        Part::Signature => "signature",
        Part::Image => "last",
    }
}

/// What is wrong with a part.
#[must_use]
pub fn problem_text(problem: &Problem) -> &'static str {
    match problem {
        Problem::Truncated => "the file ends before it does",
        Problem::TrailingBytes => "bytes follow where none may",
        Problem::Magic => "it does not begin as hambo's files do",
        Problem::EarlierVersion => "it was written by an earlier version of hambo",
        Problem::LaterVersion => "it was written by a later version of hambo than this one",
        Problem::Kind => "another kind of part stands in its place",
        Problem::Signature => "it holds what this program cannot verify",
        Problem::Length => "it has a length that no part can have",
        Problem::Alignment => "it does not start on a multiple of 16 bytes",
        Problem::Checksum => "the checksum disagrees with the bytes",
        Problem::Hash => "the hash disagrees with the bytes",
        Problem::Manifest => "its description cannot be read",
        Problem::Arena => "it has more or fewer weights than it describes",
        Problem::Dimension => "a dimension is zero, too large, or not the model's",
        Problem::Number => "a number is not finite or out of its range",
        Problem::Program => "the byte code of the expressions is not valid",
        Problem::Variant => "a variant needs networks, and the model is a Gaussian process",
        Problem::NotListed => "it is not the one that the bundle's manifest lists",
        Problem::Unsigned => "it is missing: nobody signed this file",
    }
}

/// What is wrong with which part, and what to do.
fn image_text(error: &ImageError) -> String {
    let problem = problem_text(&error.problem);
    match error.part {
        Part::Floor => format!("the floor: {problem}; write it again with hambo floor"),
        part => format!(
            "the image's {} part: {problem}; export it again",
            part_name(&part)
        ),
    }
}

/// In what a bundle asks for less than its robot does, and what to do.
#[must_use]
pub fn shortfall_text(shortfall: &Shortfall) -> String {
    let text = match shortfall {
        Shortfall::Board => "it was exported for another board",
        Shortfall::Robot => "it was exported for another robot: see --robot",
        Shortfall::Counter => "its counter is below what this robot takes: see --counter",
        Shortfall::Period => "its time step is not the robot's: see time_step in the task",
        Shortfall::Dimension => "it has other numbers of states or actions",
        Shortfall::Threshold => "its threshold is below the robot's, or missing",
        Shortfall::Delta => "its delta is above the robot's",
        Shortfall::Horizon => "its horizon is not the robot's",
        Shortfall::Reward => "its reward or its discount is not the robot's",
        Shortfall::Termination => "its termination is not the robot's",
        Shortfall::PowerOff => "its place for power-off is not the robot's",
        Shortfall::Known => "its known states or circles are not the robot's",
        Shortfall::StateLimits => "its limits or periods of the states are not the robot's",
        Shortfall::ActionLimits => "its limits of the actions are not the robot's",
        Shortfall::Initial => "its initial states are not the robot's",
        Shortfall::Constraint(place) => {
            return format!("the robot's constraint number {} is missing", place + 1);
        }
        Shortfall::Variant => "HAMBO-CA is not among its variants",
        Shortfall::Noise => "it leaves the system's own noise out",
        Shortfall::Beta => "its set is narrower than the robot asks: see --beta",
        Shortfall::Trajectories => "it samples fewer trajectories: see --device-trajectories",
        Shortfall::Searched => "it searches fewer trajectories: see --device-searched",
        Shortfall::Sweeps => "its search has fewer sweeps: see --device-sweeps",
        Shortfall::Allocation => {
            "its search leaves out more of the adversary's starts than the robot allows: see \
             --device-allocation"
        }
        Shortfall::DistributionFree => {
            "fewer of its bounds hold for any distribution: see distribution_free and the bounds \
             of the reward in the task"
        }
        Shortfall::Calibration => "its model is not calibrated",
        Shortfall::Coverage(outside) => {
            return format!(
                "{outside} of the robot's own transitions lie outside the model's set and noise"
            );
        }
        Shortfall::Fallback => "it has no fallback controller: see --fallback",
        Shortfall::Capacity => "the memory does not hold its model",
        Shortfall::Corrupted => {
            "two judgements of it disagree: memory or an instruction failed; try again"
        }
        Shortfall::WideNoise(wide) => {
            return format!(
                "at {wide} of the robot's own transitions the model's noise is wider than the \
                 robot's: see --noise-factor of hambo floor"
            );
        }
        Shortfall::Monitor => "it does not say when the monitor stops the controller",
        Shortfall::MonitorWidth => {
            "its monitor lets noise take more standard deviations than the robot allows"
        }
        Shortfall::MonitorRate => "more surprises are usual to its monitor than the robot allows",
        Shortfall::MonitorAlpha => {
            "its monitor waits for more evidence than the robot allows: see --alpha"
        }
    };
    text.into()
}

/// An image, a part of one or a task that the core refuses.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("{}", image_text(.0))]
    Image(ImageError),
    /// A bundle that asks for less than its robot does.
    #[error("the robot's floor refuses the bundle: {}", shortfall_text(.0))]
    Floor(Shortfall),
    #[error("a part of the image: {}; export it again", problem_text(.0))]
    Part(Problem),
    /// A task that needs more memory than there is.
    #[error("the task needs {} rows of memory, {} are there\nhelp: shorten the horizon or shrink the model", .0.needed, .0.available)]
    Capacity(CapacityError),
}

impl Explained for Refused {}

impl From<ImageError> for Error {
    fn from(error: ImageError) -> Self {
        Refused::Image(error).into()
    }
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Refused::Part(problem).into()
    }
}

impl From<CapacityError> for Error {
    fn from(error: CapacityError) -> Self {
        Refused::Capacity(error).into()
    }
}

impl From<Shortfall> for Error {
    fn from(shortfall: Shortfall) -> Self {
        Refused::Floor(shortfall).into()
    }
}

/// Byte code that the core refuses.
#[derive(Debug, thiserror::Error)]
#[error("the task's expressions: {0}\nhelp: correct them; hambo task check shows where")]
pub struct RefusedProgram(ProgramError);

impl Explained for RefusedProgram {}

impl From<ProgramError> for Error {
    fn from(error: ProgramError) -> Self {
        RefusedProgram(error).into()
    }
}
