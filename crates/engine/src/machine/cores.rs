//! On which cores a thread runs, and which threads go first there.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
pub use linux::{Cores, pin, use_real_time_priority};
#[cfg(target_os = "macos")]
pub use macos::{Cores, pin, use_real_time_priority};
