//! Tasks on a few worker threads: a call that computes keeps its worker.

use std::{env, net::SocketAddr, pin::Pin, time::Duration};

use roster::{
    Schedule, Words,
    echo_server::{Echo, EchoServer},
};
use tokio::{net::TcpSocket, sync::mpsc, time};
use tokio_stream::{Stream, wrappers::ReceiverStream};
use tonic::{
    Request, Response, Status, Streaming,
    transport::{Server, server::TcpIncoming},
};

mod roster {
    tonic::include_proto!("roster");
}

const MAX_COUNT: i32 = 100_000;
const MAX_MS: i32 = 60_000;
const AHEAD: usize = 64; // messages that wait for the connection

struct Service;

#[tonic::async_trait]
impl Echo for Service {
    type CountStream = ReceiverStream<Result<Words, Status>>;
    type TalkStream = Pin<Box<dyn Stream<Item = Result<Words, Status>> + Send>>;

    async fn say(&self, request: Request<Words>) -> Result<Response<Words>, Status> {
        Ok(Response::new(request.into_inner()))
    }

    async fn count(&self, request: Request<Schedule>) -> Result<Response<Self::CountStream>, Status> {
        let Schedule { n, gap_ms } = request.into_inner();
        if !(0..=MAX_COUNT).contains(&n) {
            return Err(Status::invalid_argument(format!("n should be a whole number up to {MAX_COUNT}")));
        }
        if !(0..=MAX_MS).contains(&gap_ms) {
            return Err(Status::invalid_argument(format!("gap_ms should be a whole number up to {MAX_MS}")));
        }
        let (sender, receiver) = mpsc::channel(AHEAD);
        tokio::spawn(async move {
            let begin = time::Instant::now();
            for number in 0..n {
                time::sleep_until(begin + Duration::from_millis(number as u64 * gap_ms as u64)).await;
                let words = Words { number: i64::from(number) + 1, ..Words::default() };
                if sender.send(Ok(words)).await.is_err() {
                    return; // the client has gone
                }
            }
        });
        Ok(Response::new(ReceiverStream::new(receiver)))
    }

    async fn talk(&self, request: Request<Streaming<Words>>) -> Result<Response<Self::TalkStream>, Status> {
        Ok(Response::new(Box::pin(request.into_inner())))
    }
}

fn setting(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address: SocketAddr = format!("{}:{}", setting("HOST"), setting("PORT")).parse()?;
    let workers = match setting("WORKERS").parse()? {
        0 => std::thread::available_parallelism()?.get(),
        workers => workers,
    };
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()?
        .block_on(serve(address))
}

async fn serve(address: SocketAddr) -> Result<(), Box<dyn std::error::Error>> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let connections = TcpIncoming::from(socket.listen(4096)?).with_nodelay(Some(true));
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(tonic::include_file_descriptor_set!("echo"))
        .build_v1()?;
    Server::builder()
        .add_service(reflection)
        .add_service(EchoServer::new(Service))
        .serve_with_incoming(connections)
        .await?;
    Ok(())
}
