//! The device link: QEMU today.
