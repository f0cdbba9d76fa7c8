//! One page about one check: the verdict first, then what it rests on.
//!
//! **In:** a [`SavedRun`](hambo_check::saved_run::SavedRun), as `hambo check --save`
//! writes it. **Out:** HTML that needs no network, no script and no other file. The page
//! computes nothing but its pictures.

mod chart;
mod date;
mod html;
mod page;
mod sections;

#[cfg(test)]
mod tests;

pub use html::escape;
pub use page::page;
