//! Reward, termination and constraints as expressions: byte code and its derivatives.
