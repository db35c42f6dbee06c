'use strict';

// A primary process accepts every connection and deals them out in turn; each worker process is
// an event loop of its own, and a connection stays with the worker that was given it.

const cluster = require('node:cluster');
const { once } = require('node:events');
const http = require('node:http');
const { setTimeout: sleep } = require('node:timers/promises');
const { Pool } = require('pg');

const WORKERS = Number(process.env.WORKERS);
const HELLO = 'x'.repeat(1023) + '\n';
const KILOBYTE = Buffer.from(HELLO);
const keepAlive = new http.Agent({ keepAlive: true });
const database = cluster.isWorker && process.env.DATABASE_URL
  && new Pool({ connectionString: process.env.DATABASE_URL, max: Number(process.env.POOL) });

class HttpError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

class Html {
  constructor(body) {
    this.body = body;
  }
}

function whole(text, most) {
  const n = Number(text);
  // A Number from here on: comparing the counter with a string is several hundred times slower.
  if (/^\d+$/.test(text) && n <= most) return n;
  throw new HttpError(400, `a whole number from 0 to ${most} is needed here`);
}

function decimal(query, name, otherwise, most) {
  const text = query.get(name) ?? otherwise;
  const n = Number(text);
  if (/^\d*\.?\d+$/.test(text) && n <= most) return n;
  throw new HttpError(400, `${name} must be a number from 0 to ${most}`);
}

function oneOf(query, name, choices) {
  const text = query.get(name) ?? choices[0];
  if (choices.includes(text)) return text;
  throw new HttpError(400, `${name} must be one of: ${choices.join(', ')}`);
}

function count(n) {
  let x = 0;
  while (x < n) x++;
  return x;
}

function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

async function wait(query) {
  const ms = decimal(query, 'ms', '100', 60_000);
  const jitter = decimal(query, 'jitter', '0', 1);
  await sleep(ms * (1 + jitter * (2 * Math.random() - 1)));
  return HELLO;
}

function askPeer(peer, n) {
  return new Promise((resolve, reject) => {
    const failed = (error) => reject(new HttpError(502, `the peer did not answer: ${error.message}`));
    http.get(`${peer}/fibs/${n}`, { agent: keepAlive }, async (res) => {
      try {
        let text = '';
        for await (const chunk of res.setEncoding('utf8')) text += chunk;
        resolve(JSON.parse(text).fibResult);
      } catch (error) {
        failed(error);
      }
    }).on('error', failed);
  });
}

async function pair(a, b, query) {
  const peer = query.get('peer') ?? '';
  const remote = oneOf(query, 'where', ['local', 'remote']) === 'remote';
  const concurrent = oneOf(query, 'async', ['0', '1']) === '1';
  if (remote && !(peer.startsWith('http://') && URL.canParse(peer))) {
    throw new HttpError(400, 'where=remote needs peer=http://…');
  }
  const find = async (n) => (remote ? askPeer(peer, n) : fib(n));
  // Promise.all overlaps waiting, never computing: locally it saves nothing, as the article shows.
  const [x, y] = concurrent ? await Promise.all([find(a), find(b)]) : [await find(a), await find(b)];
  return { a: x, b: y };
}

function allocateBuffers() {
  const buffers = [];
  for (let i = 0; i < 50; i++) buffers.push(Buffer.alloc(1024, 'x'));
  return buffers[49].length === 1024 ? HELLO : '';
}

function allocateStrings() {
  const strings = [];
  for (let i = 0; i < 50; i++) strings.push(KILOBYTE.toString());
  return strings[49];
}

// The lightest thing here that can be held and resumed is an async function waiting for a promise.
async function spawn(n, query) {
  oneOf(query, 'kind', ['async']);
  let open;
  const gate = new Promise((resolve) => { open = resolve; });
  const held = [];
  for (let i = 0; i < n; i++) held.push((async () => { await gate; })());
  open();
  await Promise.all(held);
  return String(held.length);
}

function escape(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

async function find(sql, ...values) {
  return (await database.query(sql, values)).rows;
}

// Four questions, one after the other; while the database thinks, the worker's loop serves others.
async function orders() {
  if (!database) throw new HttpError(503, 'started without a database');
  const [{ min }] = await find('SELECT min(id) FROM customers');
  const [{ max }] = await find('SELECT max(id) FROM customers');
  const id = min + Math.floor(Math.random() * (max - min + 1));
  const [customer] = await find('SELECT id, name FROM customers WHERE id = $1', id);
  if (!customer) throw new HttpError(404, `there is no customer ${id}`);
  const list = await find('SELECT * FROM orders WHERE customer_id = $1 ORDER BY ordered_on', customer.id);
  const items = list.map((order) => `<li>${order.ordered_on}: ${escape(order.item)}</li>\n`).join('');
  return new Html(`<!DOCTYPE html>\n<title>Orders</title>\n<h1>${escape(customer.name)}</h1>\n<ol>\n${items}</ol>\n`);
}

function route(path, query) {
  const [name, ...args] = path.slice(1).split('/');
  switch (`${name}/${args.length}`) {
    case '/0': return { name: 'node-cluster', version: process.versions.node, runtime: 'Node.js', workers: WORKERS };
    case 'hello/0': return HELLO;
    case 'sleep/0': return wait(query);
    case 'count/1': return `Hello, World ${count(whole(args[0], 1e10))}\n`;
    case 'fast/1': return String(whole(args[0], 1e6) ** 2);
    case 'slow/1': return String(fib(whole(args[0], 60)));
    case 'fibs/1': return { fibResult: fib(whole(args[0], 60)) };
    case 'pair/2': return pair(whole(args[0], 60), whole(args[1], 60), query);
    case 'alloc/1':
      if (args[0] === 'buffers') return allocateBuffers();
      if (args[0] === 'strings') return allocateStrings();
      break;
    case 'spawn/1': return spawn(whole(args[0], 1e6), query);
    case 'orders/0': return orders();
  }
  throw new HttpError(404, 'no such route');
}

function send(res, status, type, body, headers = {}) {
  res.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body), ...headers });
  res.end(body);
}

async function handle(req, res) {
  try {
    if (req.method !== 'GET' && req.method !== 'HEAD') throw new HttpError(405, 'only GET and HEAD');
    const [path, query] = req.url.split('?', 2);
    const answer = await route(path, new URLSearchParams(query));
    if (typeof answer === 'string') send(res, 200, 'text/plain', answer);
    else if (answer instanceof Html) send(res, 200, 'text/html; charset=utf-8', answer.body);
    else send(res, 200, 'application/json', JSON.stringify(answer));
  } catch (error) {
    if (!(error instanceof HttpError)) console.error(error);
    send(res, error.status ?? 500, 'text/plain', error.status ? error.message : 'internal error',
      error.status === 405 ? { Allow: 'GET, HEAD' } : {});
  }
}

async function work() {
  if (database) database.on('error', console.error); // of a connection that nobody uses at the moment
  await once(process, 'message'); // all workers exist: from here on none of them is favoured
  // 0 means no limit: a client may hold its connection and say nothing for as long as it likes.
  http.createServer({ keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 }, handle)
    .listen({ port: Number(process.env.PORT), host: process.env.HOST, backlog: 4096 });
}

async function supervise() {
  const workers = Array.from({ length: WORKERS }, () => cluster.fork());
  let stopping = false;
  let alive = WORKERS;
  const stop = () => {
    stopping = true;
    // A worker that computes would notice a message only afterwards; the signal ends it at once.
    for (const worker of workers) worker.process.kill('SIGTERM');
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  cluster.on('exit', (worker, code, signal) => {
    if (!stopping) {
      console.error(`worker ${worker.process.pid} ended (${signal ?? code})`);
      process.exitCode = 1;
      stop();
    }
    alive -= 1;
    if (alive === 0) process.exit();
  });
  await Promise.all(workers.map((worker) => once(worker, 'online')));
  for (const worker of workers) worker.send('listen');
}

if (cluster.isPrimary) supervise();
else work();
