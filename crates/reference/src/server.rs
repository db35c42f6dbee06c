//! Listening, accepting, stopping.

use crate::connection::Connection;
use std::future::Future;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, UdpSocket};
use tokio::signal::unix::{SignalKind, signal};

const BACKLOG: u32 = 4096;
/// How long to wait for connections to end when no descriptor is left for another one.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(10);

/// Lets this process hold as many connections as the system permits.
pub fn raise_descriptor_limit() -> io::Result<()> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    Ok(setrlimit(Resource::Nofile, limit)?)
}

/// Listens at `address`. If `shared`, other processes of the same user may listen there, too.
pub fn listen(address: SocketAddr, shared: bool) -> Result<TcpListener, String> {
    let attempt = || {
        let socket = if address.is_ipv4() {
            TcpSocket::new_v4()
        } else {
            TcpSocket::new_v6()
        }?;
        socket.set_reuseaddr(true)?;
        socket.set_reuseport(shared)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    attempt().map_err(|error| cannot_listen(address, &error))
}

/// Opens a socket for datagrams at `address`.
pub async fn bind(address: SocketAddr) -> Result<UdpSocket, String> {
    let bound = UdpSocket::bind(address).await;
    bound.map_err(|error| cannot_listen(address, &error))
}

fn cannot_listen(address: SocketAddr, error: &io::Error) -> String {
    format!(
        "cannot listen on {address}: {error}\nchoose another port, or --port 0 for any that is free"
    )
}

/// Announces on standard output that the server is ready, and its address.
pub fn announce(address: SocketAddr) -> io::Result<()> {
    writeln!(io::stdout(), "listening on {address}")
}

/// Accepts connections for ever, and handles each in a task of its own.
pub async fn accept<F>(listener: TcpListener, handle: impl Fn(Connection) -> F) -> io::Result<()>
where
    F: Future<Output = io::Result<()>> + 'static,
{
    let mut accepted = 0;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let _ = stream.set_nodelay(true); // fails if the client has gone
                let conversation = handle(Connection::new(stream, accepted));
                accepted += 1;
                tokio::task::spawn_local(async move {
                    let _ = conversation.await; // fails if the client breaks off
                });
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(_) => tokio::time::sleep(EXHAUSTED_PAUSE).await,
        }
    }
}

/// Whether an error of accept concerns a connection that ended while it waited to be accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    )
}

/// Returns a future that ends when the process is asked to stop, at any time after this call.
pub fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
