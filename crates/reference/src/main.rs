//! `jostle-reference`: small servers whose scheduling discipline is known exactly, a null server, and
//! hostile peers. They are the ground truth for what jostle says about servers.

mod args;
mod bucket;
mod connection;
mod datagrams;
mod delay;
mod events;
mod extras;
mod grpc;
mod hostile;
mod http;
mod http2;
mod kinds;
mod lines;
mod null;
mod pauses;
mod present;
mod routes;
mod scheduled;
mod scheduler;
mod server;
mod siblings;
mod site;
mod stream;
mod timer;
mod values;
mod websocket;

use args::{Command, Server};
use events::Events;
use null::Null;
use scheduled::Scheduled;
use site::Site;
use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::rc::Rc;
use tokio::net::TcpListener;
use tokio::runtime;
use tokio::task::LocalSet;
use websocket::WebSocket;

fn main() -> ExitCode {
    match args::parse(lexopt::Parser::from_env())
        .map_err(Into::into)
        .and_then(execute)
    {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("jostle-reference: {error}");
            ExitCode::FAILURE
        }
    }
}

fn execute(command: Command) -> Result<(), Box<dyn Error>> {
    match command {
        Command::Help => print!("{}", args::HELP),
        Command::Version => println!("jostle-reference {}", env!("CARGO_PKG_VERSION")),
        Command::ListHostile => {
            for (name, about) in hostile::list() {
                println!("{name:22}{about}");
            }
        }
        Command::Serve(server, address, processes) => {
            server::raise_descriptor_limit()?;
            let runtime = runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            LocalSet::new().block_on(&runtime, serve(server, address, processes))?;
        }
    }
    Ok(())
}

async fn serve(
    server: Server,
    address: SocketAddr,
    processes: usize,
) -> Result<(), Box<dyn Error>> {
    let stop = server::stop_signal()?;
    if let Server::Datagrams(path) = server {
        let socket = server::bind(address).await?;
        server::announce(socket.local_addr()?)?;
        tokio::select! {
            () = stop => {}
            result = datagrams::echo(socket, path) => result?,
        }
        return Ok(());
    }
    let listener = server::listen(address, processes > 1)?;
    if siblings::is_sibling() {
        siblings::end_with_parent()?;
    } else if processes > 1 {
        siblings::start(processes - 1, listener.local_addr()?)?;
    }
    server::announce(listener.local_addr()?)?;
    tokio::select! {
        () = stop => {}
        result = serve_kind(server, listener) => result?,
    }
    Ok(())
}

async fn serve_kind(server: Server, listener: TcpListener) -> io::Result<()> {
    match server {
        Server::Null => serve_site(Null::new(), listener).await,
        Server::Events => serve_site(Events, listener).await,
        Server::WebSocket => serve_site(WebSocket, listener).await,
        Server::Datagrams(_) => unreachable!("it has no connections"),
        Server::Grpc => server::accept(listener, grpc::converse).await,
        Server::Lines(delay) => {
            server::accept(listener, move |connection| lines::echo(connection, delay)).await
        }
        Server::Hostile(behaviour) => {
            server::accept(listener, |connection| behaviour.act(connection)).await
        }
        Server::Delay { to, delay } => {
            let to: Rc<str> = to.into();
            server::accept(listener, move |connection| {
                let to = Rc::clone(&to);
                async move { delay::forward(connection, &to, delay).await }
            })
            .await
        }
        Server::Scheduled {
            name,
            configured,
            slower,
            extras,
        } => {
            let (site, scheduler) = Scheduled::new(&name, configured, slower, *extras)?;
            tokio::select! {
                result = scheduler.run() => result,
                result = serve_site(site, listener) => result,
            }
        }
    }
}

async fn serve_site(site: impl Site + 'static, listener: TcpListener) -> io::Result<()> {
    let site = Rc::new(site);
    server::accept(listener, move |connection| {
        let site = Rc::clone(&site);
        async move { site::converse(site, connection).await }
    })
    .await
}
