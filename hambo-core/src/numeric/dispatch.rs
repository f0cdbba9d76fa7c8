//! One call for an enum whose variants can all answer it.

/// `dispatch!(value, Enum::{A, B}, inner => inner.call())`: a match with the same arm for
/// each variant.
macro_rules! dispatch {
    ($value:expr, $kinds:ident::{$($kind:ident),+}, $inner:ident => $call:expr) => {
        match $value {
            $($kinds::$kind($inner) => $call,)+
        }
    };
}

pub(crate) use dispatch;
