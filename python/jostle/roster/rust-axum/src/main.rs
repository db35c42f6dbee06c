//! Tasks on as many threads as there are cores. A task keeps its thread until it waits, so a handler that
//! computes keeps it until it is done, unless `spawn_blocking` hands the work to threads of another pool.

use std::{env, hint::black_box, io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Json, Router,
    body::Body,
    extract::{Path, Query, State},
    http::{StatusCode, Uri},
    response::{Html, IntoResponse, Response},
    routing::get,
    serve::ListenerExt,
};
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use http_body_util::BodyExt;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{net::TcpSocket, sync::Barrier, task::JoinSet};
use tokio_postgres::{NoTls, Row, types::ToSql};

const KILOBYTE: [u8; 1024] = {
    let mut bytes = [b'x'; 1024];
    bytes[1023] = b'\n';
    bytes
};

#[derive(Clone)]
struct Server {
    workers: usize,
    spawn_blocking: bool,
    peers: Client<HttpConnector, Body>,
    /// None when it was started without one.
    database: Option<Pool>,
}

impl Server {
    /// Where the handlers compute: in their own task, or in a thread where nobody else waits for it.
    async fn compute<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        if self.spawn_blocking {
            tokio::task::spawn_blocking(work)
                .await
                .expect("the computation does not panic")
        } else {
            work()
        }
    }

    async fn ask_peer(&self, peer: &str, n: u64) -> Result<u64, Problem> {
        let bad = |why: String| {
            Problem(
                StatusCode::BAD_GATEWAY,
                format!("no number from the peer: {why}"),
            )
        };
        let uri = format!("{peer}/fibs/{n}")
            .parse()
            .map_err(|why| bad(format!("{why}")))?;
        let response = self
            .peers
            .get(uri)
            .await
            .map_err(|why| bad(format!("{why:?}")))?;
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(|why| bad(why.to_string()))?;
        let answer: Value =
            serde_json::from_slice(&body.to_bytes()).map_err(|why| bad(why.to_string()))?;
        answer["fibResult"]
            .as_u64()
            .ok_or_else(|| bad("it answered something else".into()))
    }
}

/// An answer other than 200, told in one line.
struct Problem(StatusCode, String);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

/// A whole number from 0 to `MAX`, in the path.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "String")]
struct Whole<const MAX: u64>(u64);

impl<const MAX: u64> TryFrom<String> for Whole<MAX> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // `parse` alone would take "+1".
        Some(text.as_str())
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .filter(|n| *n <= MAX)
            .map(Self)
            .ok_or_else(|| format!("a whole number from 0 to {MAX} is needed here"))
    }
}

/// A number from 0 to `MAX`, in the query.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Decimal<const MAX: u32>(f64);

impl<const MAX: u32> TryFrom<String> for Decimal<MAX> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let number = text
            .parse()
            .ok()
            .filter(|x| (0.0..=f64::from(MAX)).contains(x));
        number
            .map(Self)
            .ok_or_else(|| format!("a number from 0 to {MAX} is needed here"))
    }
}

fn count(n: u64) -> u64 {
    let mut x = 0;
    while x < n {
        x += 1;
        black_box(x); // without it the compiler knows the result
    }
    x
}

fn fib(n: u64) -> u64 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

async fn root(State(server): State<Server>) -> Json<Value> {
    Json(json!({
        "name": "rust-axum",
        "version": env!("RUSTC_VERSION"),
        "runtime": "Rust",
        "workers": server.workers,
    }))
}

async fn hello() -> Response {
    (
        [("content-type", "text/plain")],
        Body::from(KILOBYTE.as_slice()),
    )
        .into_response()
}

#[derive(Deserialize)]
#[serde(default)]
struct Nap {
    ms: Decimal<60_000>,
    jitter: Decimal<1>,
}

impl Default for Nap {
    fn default() -> Self {
        Self {
            ms: Decimal(100.0),
            jitter: Decimal(0.0),
        }
    }
}

async fn sleep(Query(nap): Query<Nap>) -> Response {
    let factor = 1.0 + nap.jitter.0 * (2.0 * fastrand::f64() - 1.0);
    tokio::time::sleep(Duration::from_secs_f64(nap.ms.0 * factor / 1000.0)).await;
    hello().await
}

async fn counted(
    State(server): State<Server>,
    Path(Whole(n)): Path<Whole<10_000_000_000>>,
) -> String {
    format!("Hello, World {}\n", server.compute(move || count(n)).await)
}

async fn fast(Path(Whole(n)): Path<Whole<1_000_000>>) -> String {
    (n * n).to_string()
}

async fn slow(State(server): State<Server>, Path(Whole(n)): Path<Whole<60>>) -> String {
    server.compute(move || fib(n)).await.to_string()
}

async fn fibs(State(server): State<Server>, Path(Whole(n)): Path<Whole<60>>) -> Json<Value> {
    Json(json!({ "fibResult": server.compute(move || fib(n)).await }))
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Place {
    #[default]
    Local,
    Remote,
}

#[derive(Deserialize)]
struct PairQuery {
    #[serde(default, rename = "where")]
    place: Place,
    peer: Option<String>,
    #[serde(default = "one_by_one", rename = "async")]
    concurrent: Whole<1>,
}

fn one_by_one() -> Whole<1> {
    Whole(0)
}

impl PairQuery {
    /// The peer to ask, where there is one.
    fn peer(&self) -> Result<Option<String>, Problem> {
        if matches!(self.place, Place::Local) {
            return Ok(None);
        }
        let uri = self
            .peer
            .as_deref()
            .and_then(|peer| peer.parse::<Uri>().ok());
        match uri {
            Some(uri) if uri.scheme_str() == Some("http") => Ok(self.peer.clone()),
            _ => Err(Problem(
                StatusCode::BAD_REQUEST,
                "where=remote needs peer=http://…".into(),
            )),
        }
    }
}

async fn find(server: Server, peer: Option<String>, n: u64) -> Result<u64, Problem> {
    match peer {
        Some(peer) => server.ask_peer(&peer, n).await,
        None => Ok(server.compute(move || fib(n)).await),
    }
}

async fn pair(
    State(server): State<Server>,
    Path((Whole(a), Whole(b))): Path<(Whole<60>, Whole<60>)>,
    Query(query): Query<PairQuery>,
) -> Result<Json<Value>, Problem> {
    let peer = query.peer()?;
    let (first, second) = (find(server.clone(), peer.clone(), a), find(server, peer, b));
    let (a, b) = if query.concurrent.0 == 1 {
        // Two tasks, so that two threads can compute.
        let (first, second) = (tokio::spawn(first), tokio::spawn(second));
        (
            first.await.expect("it does not panic")?,
            second.await.expect("it does not panic")?,
        )
    } else {
        (first.await?, second.await?)
    };
    Ok(Json(json!({ "a": a, "b": b })))
}

async fn allocate_buffers() -> Response {
    let buffers: Vec<Vec<u8>> = (0..50).map(|_| black_box(vec![b'x'; 1024])).collect();
    drop(black_box(buffers));
    hello().await
}

async fn allocate_strings() -> String {
    let convert = |_| String::from_utf8(black_box(&KILOBYTE).to_vec()).expect("ASCII is UTF-8");
    let mut strings: Vec<String> = (0..50).map(convert).collect();
    black_box(&mut strings).pop().expect("fifty of them")
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[default]
    Task,
    Os,
}

#[derive(Deserialize)]
struct SpawnQuery {
    #[serde(default)]
    kind: Kind,
}

async fn spawn(
    Path(Whole(n)): Path<Whole<1_000_000>>,
    Query(query): Query<SpawnQuery>,
) -> Result<String, Problem> {
    let n = usize::try_from(n).expect("a million fits");
    match query.kind {
        Kind::Task => hold_tasks(n).await,
        Kind::Os if n > 10_000 => {
            return Err(Problem(
                StatusCode::BAD_REQUEST,
                "at most 10000 of the operating system's".into(),
            ));
        }
        Kind::Os => tokio::task::spawn_blocking(move || hold_threads(n))
            .await
            .expect("it does not panic")
            .map_err(|why| {
                Problem(
                    StatusCode::SERVICE_UNAVAILABLE,
                    format!("no more threads: {why}"),
                )
            })?,
    }
    Ok(n.to_string())
}

/// Holds n tasks until the last has come to the barrier.
async fn hold_tasks(n: usize) {
    let barrier = Arc::new(Barrier::new(n + 1));
    let mut tasks = JoinSet::new();
    for _ in 0..n {
        let barrier = Arc::clone(&barrier);
        tasks.spawn(async move {
            barrier.wait().await;
        });
    }
    barrier.wait().await;
    tasks.join_all().await;
}

/// The same with threads, which may fail to start: then those that did are let go, too.
fn hold_threads(n: usize) -> io::Result<()> {
    let gate = std::sync::RwLock::new(());
    let (arrived, arrivals) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        let _closed = gate.write();
        for _ in 0..n {
            let (arrived, gate) = (arrived.clone(), &gate);
            std::thread::Builder::new().spawn_scoped(scope, move || {
                arrived.send(()).expect("the receiver outlives the threads");
                drop(gate.read());
            })?;
        }
        arrivals.iter().take(n).for_each(drop);
        Ok(())
    })
}

/// Four questions, one after the other, on one connection of the pool.
async fn orders(State(server): State<Server>) -> Result<Html<String>, Problem> {
    let without = || {
        Problem(
            StatusCode::SERVICE_UNAVAILABLE,
            "started without a database".into(),
        )
    };
    let connection = server
        .database
        .ok_or_else(without)?
        .get()
        .await
        .map_err(broken)?;
    let least: i32 = rows(&connection, "SELECT min(id) FROM customers", &[]).await?[0].get(0);
    let most: i32 = rows(&connection, "SELECT max(id) FROM customers", &[]).await?[0].get(0);
    let id = fastrand::i32(least..=most);
    let found = rows(
        &connection,
        "SELECT id, name FROM customers WHERE id = $1",
        &[&id],
    )
    .await?;
    let customer = found
        .first()
        .ok_or_else(|| Problem(StatusCode::NOT_FOUND, format!("there is no customer {id}")))?;
    let query = "SELECT * FROM orders WHERE customer_id = $1 ORDER BY ordered_on";
    let items: String = rows(&connection, query, &[&customer.get::<_, i32>("id")])
        .await?
        .iter()
        .map(|order| {
            let (on, item): (&str, &str) = (order.get("ordered_on"), order.get("item"));
            format!("<li>{on}: {}</li>\n", escape(item))
        })
        .collect();
    let name = escape(customer.get("name"));
    Ok(Html(format!(
        "<!DOCTYPE html>\n<title>Orders</title>\n<h1>{name}</h1>\n<ol>\n{items}</ol>\n"
    )))
}

/// A query is prepared once for each connection.
async fn rows(
    connection: &deadpool_postgres::Client,
    query: &str,
    parameters: &[&(dyn ToSql + Sync)],
) -> Result<Vec<Row>, Problem> {
    let statement = connection.prepare_cached(query).await.map_err(broken)?;
    connection
        .query(&statement, parameters)
        .await
        .map_err(broken)
}

fn broken(error: impl std::fmt::Display) -> Problem {
    eprintln!("the database: {error}");
    Problem(
        StatusCode::INTERNAL_SERVER_ERROR,
        "the database did not answer".into(),
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// None without a URL. A connection is opened when one is needed and none is free.
fn pool(url: &str) -> Option<Pool> {
    if url.is_empty() {
        return None;
    }
    let config = url.parse().expect("DATABASE_URL is an address");
    let recycling_method = RecyclingMethod::Fast; // it is not asked whether it still lives
    let manager = Manager::from_config(config, NoTls, ManagerConfig { recycling_method });
    let size = setting("POOL").parse().expect("POOL is a whole number");
    Some(
        Pool::builder(manager)
            .max_size(size)
            .build()
            .expect("no timeouts are set"),
    )
}

fn router(server: Server) -> Router {
    Router::new()
        .route("/", get(root))
        .route("/hello", get(hello))
        .route("/sleep", get(sleep))
        .route("/count/{n}", get(counted))
        .route("/fast/{n}", get(fast))
        .route("/slow/{n}", get(slow))
        .route("/fibs/{n}", get(fibs))
        .route("/pair/{a}/{b}", get(pair))
        .route("/alloc/buffers", get(allocate_buffers))
        .route("/alloc/strings", get(allocate_strings))
        .route("/spawn/{n}", get(spawn))
        .route("/orders", get(orders))
        .fallback(|| async { Problem(StatusCode::NOT_FOUND, "no such route".into()) })
        .method_not_allowed_fallback(|| async {
            Problem(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD".into())
        })
        .with_state(server)
}

fn setting(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

fn main() -> io::Result<()> {
    let address: SocketAddr = format!("{}:{}", setting("HOST"), setting("PORT"))
        .parse()
        .expect("HOST and PORT are an address");
    let workers = match setting("WORKERS")
        .parse()
        .expect("WORKERS is a whole number")
    {
        0 => std::thread::available_parallelism()?.get(),
        workers => workers,
    };
    let server = Server {
        workers,
        spawn_blocking: setting("SPAWN_BLOCKING") == "true",
        peers: Client::builder(TokioExecutor::new()).build_http(),
        database: pool(&setting("DATABASE_URL")),
    };
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .build()?
        .block_on(async {
            let socket = TcpSocket::new_v4()?;
            socket.set_reuseaddr(true)?;
            socket.bind(address)?;
            let listener = socket.listen(4096)?.tap_io(|stream| {
                let _ = stream.set_nodelay(true); // it fails only on a connection that is gone
            });
            axum::serve(listener, router(server)).await
        })
}
