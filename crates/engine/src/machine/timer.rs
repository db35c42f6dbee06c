//! One timer of the kernel per worker, which wakes the runtime. (The runtime's own timers have a resolution of a
//! millisecond.)

#[cfg(target_os = "macos")]
mod kqueue;
#[cfg(target_os = "linux")]
mod timerfd;

#[cfg(target_os = "macos")]
pub use kqueue::Timer;
#[cfg(target_os = "linux")]
pub use timerfd::Timer;
