//! Brings memory into the caches before it is needed.

#![expect(unsafe_code, reason = "a hint to the caches, and a pinned field")]

use std::pin::Pin;
use std::task::{Context, Poll};

/// Prefetches memory into the caches without waiting for it.
pub fn prefetch(from: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..bytes).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch is only a hint: it accesses nothing, and any address is allowed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(line).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, bytes);
}

/// A future whose memory is prefetched as a whole whenever it is polled.
///
/// When the response to one client among thousands comes, its memory is in none of the caches. Fetching all lines at
/// once takes little more time than fetching one, while a poll meets them one after another: 10,000 devices that each
/// send a request a second took 1.4 µs more of the processor for each request.
pub struct Prefetched<F>(F);

impl<F: Future> Prefetched<F> {
    pub fn new(future: F) -> Self {
        Self(future)
    }
}

impl<F: Future> Future for Prefetched<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        prefetch(std::ptr::from_ref(&*self).cast(), size_of::<Self>());
        // SAFETY: the field is pinned whenever the whole is: nothing moves it, and nothing else gives access to it.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}
