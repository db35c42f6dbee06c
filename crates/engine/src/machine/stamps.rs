//! When bytes arrived, as the kernel stamps them where it can.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

#[cfg(target_os = "linux")]
pub use linux::{enable, stamp_of};
#[cfg(target_os = "macos")]
pub use macos::{enable, stamp_of};
