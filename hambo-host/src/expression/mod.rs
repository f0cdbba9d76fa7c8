//! Text to byte code.
