//! What explains an estimate, and whether it can be relied on.

pub mod first_order;
pub mod fitness;
pub mod log_next;
pub mod logged_return;
pub mod loss;
pub mod near_path;
pub mod support;
pub mod trace;
