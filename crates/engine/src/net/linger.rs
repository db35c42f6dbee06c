//! Connections that the server has announced it will close. Whoever closes first holds the port for a minute
//! (`TIME_WAIT`), and the side with the many clients has no ports to spare. So the connection waits a while for the
//! server to close, in a task of its own: its client does not wait.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use tokio::io::ReadBuf;
use tokio::task::spawn_local;

use crate::machine::tasks::Task;
use crate::net::buffers::WorkerBuffers;
use crate::net::transport::Transport;

/// After this time the connection is closed in any case.
const CLOSE_WAIT_NS: u64 = 100_000_000;
/// How many of a worker's connections may wait at a time, as each holds an open file. Further ones are closed at once.
pub const MAX_LINGERING: u64 = 64;

/// Closes the connection after the server has, or when that takes too long. `task`: any of this worker's.
pub fn linger(mut transport: Transport, task: &Task, buffers: &Rc<WorkerBuffers>) {
    let count = buffers.lingering.get();
    let mut now = Context::from_waker(Waker::noop());
    if count >= MAX_LINGERING || poll_closed(&mut transport, buffers, &mut now).is_ready() {
        return;
    }
    buffers.lingering.set(count + 1);
    let (task, buffers) = (task.take_another(), buffers.clone());
    spawn_local(async move {
        task.register().await;
        task.set_deadline(task.now() + CLOSE_WAIT_NS);
        poll_fn(|cx| match poll_closed(&mut transport, &buffers, cx) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => task.poll_interrupt().map(|_| ()),
        })
        .await;
        buffers.lingering.set(buffers.lingering.get() - 1);
    });
}

/// Ready when the peer has closed; discards what it still sends before that.
fn poll_closed(
    transport: &mut Transport,
    buffers: &WorkerBuffers,
    cx: &mut Context<'_>,
) -> Poll<()> {
    let mut scratch = buffers.scratch.borrow_mut();
    loop {
        let mut buffer = ReadBuf::new(&mut scratch);
        match transport.poll_read(cx, &mut buffer) {
            Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
            Poll::Ready(_) => return Poll::Ready(()),
            Poll::Pending => return Poll::Pending,
        }
    }
}
