//! Connections that the server has announced it will close. Whoever closes first holds the port for a minute
//! (`TIME_WAIT`), and the side with the many clients has no ports to spare. So the connection waits a while for the
//! server to close, in a task of its own: its client does not wait.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use tokio::io::ReadBuf;
use tokio::task::spawn_local;

use crate::machine::seat::Seat;
use crate::net::buffers::Common;
use crate::net::transport::Transport;

/// After this time the connection is closed in any case.
const CLOSE_WAIT_NS: u64 = 100_000_000;
/// How many of a worker's connections may wait at a time, as each holds an open file. Further ones are closed at once.
pub const MAX_LINGERING: u64 = 64;

/// Closes the connection after the server has, or when that takes too long. `seat`: any of this worker's seats.
pub fn linger(mut transport: Transport, seat: &Seat, common: &Rc<Common>) {
    let count = common.lingering.get();
    let mut now = Context::from_waker(Waker::noop());
    if count >= MAX_LINGERING || poll_closed(&mut transport, common, &mut now).is_ready() {
        return;
    }
    common.lingering.set(count + 1);
    let (seat, common) = (seat.take_another(), common.clone());
    spawn_local(async move {
        seat.sit().await;
        seat.set_deadline(seat.now() + CLOSE_WAIT_NS);
        poll_fn(|cx| match poll_closed(&mut transport, &common, cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => seat.poll_interrupt().map(|_| ()),
        })
        .await;
        common.lingering.set(common.lingering.get() - 1);
    });
}

/// Ready when the peer has closed; discards what it still sends before that.
fn poll_closed(transport: &mut Transport, common: &Common, cx: &mut Context<'_>) -> Poll<()> {
    let mut scratch = common.scratch.borrow_mut();
    loop {
        let mut buffer = ReadBuf::new(&mut scratch);
        match transport.poll_read(cx, &mut buffer) {
            Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
            Poll::Ready(_) => return Poll::Ready(()),
            Poll::Pending => return Poll::Pending,
        }
    }
}
