//! Where a connection leads.

use crate::exchange::observer::ExchangeObserver;
use crate::net::dial::Dialer;
use crate::net::target::Target;
use crate::net::tls::Sessions;
use crate::net::transport::Transport;
use crate::outcome::Failure;
use crate::record::sample::ConnectTimes;

/// Where a connection leads, and what it takes to open it.
pub struct Destination<'a> {
    pub dialer: &'a Dialer,
    pub target: &'a Target,
    pub sessions: &'a mut Sessions,
}

impl Destination<'_> {
    /// Opens a connection within the time that the request allows.
    pub fn connect(
        &mut self,
        observer: &mut ExchangeObserver<'_>,
    ) -> impl Future<Output = Result<(Transport, ConnectTimes), Failure>> {
        let task = observer.task;
        let start = task.now();
        let deadline = observer.begin_connecting(start);
        let (dialer, target) = (self.dialer, self.target);
        dialer.connect(target, self.sessions, task, start, deadline)
    }
}
