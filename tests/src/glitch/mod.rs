//! Glitches: the firmware under QEMU, whose processor, RAM and flash a debugger disturbs.
//!
//! | file | what it does |
//! |---|---|
//! | [`images`] | one robot, four verdicts |
//! | [`gdb`] | a client of the gdb remote protocol |
//! | [`program`], [`thumb`] | symbols and code; lengths of instructions and IT blocks |
//! | [`victim`], [`snapshots`], [`pin`] | the emulated board, its saved states, its pin |
//! | [`timeline`] | every instruction of an undisturbed run, and the way to one of them |
//! | [`attack`], [`codes`], [`aim`] | one glitch; where a decision lies in memory, and what else matters there |
//! | [`stand`] | a board that is set back to one moment again and again |
//! | [`campaign`] | every glitch that a firmware is put through |

pub mod aim;
pub mod attack;
pub mod campaign;
pub mod codes;
pub mod gdb;
pub mod images;
pub mod pin;
pub mod program;
pub mod snapshots;
pub mod stand;
pub mod thumb;
pub mod timeline;
pub mod victim;
