'use strict';

// The main thread speaks HTTP and never computes for long; a fixed pool of worker threads takes
// the computations, one each, in the order in which they were asked for.

const { isMainThread, parentPort, Worker } = require('node:worker_threads');
const http = require('node:http');
const { setTimeout: sleep } = require('node:timers/promises');
const pg = require('pg');

const THREADS = Number(process.env.THREADS);
const HELLO = 'x'.repeat(1023) + '\n';
const KILOBYTE = Buffer.from(HELLO);
const keepAlive = new http.Agent({ keepAlive: true });
const database = isMainThread && process.env.DATABASE_URL
  && new pg.Pool({ connectionString: process.env.DATABASE_URL, max: Number(process.env.POOL) });

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

const computations = { count, fib };

class Pool {
  #idle = [];
  #queue = [];

  constructor(size) {
    for (let i = 0; i < size; i++) {
      const worker = new Worker(__filename);
      worker.on('message', (result) => {
        worker.job.resolve(result);
        this.#idle.push(worker);
        this.#dispatch();
      });
      worker.on('error', (error) => { throw error; }); // a pool that shrinks unseen would be measured wrongly
      this.#idle.push(worker);
    }
  }

  run(name, n) {
    return new Promise((resolve) => {
      this.#queue.push({ name, n, resolve });
      this.#dispatch();
    });
  }

  #dispatch() {
    while (this.#idle.length > 0 && this.#queue.length > 0) {
      const worker = this.#idle.pop();
      worker.job = this.#queue.shift();
      worker.postMessage([worker.job.name, worker.job.n]);
    }
  }
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

async function pair(pool, a, b, query) {
  const peer = query.get('peer') ?? '';
  const remote = oneOf(query, 'where', ['local', 'remote']) === 'remote';
  const concurrent = oneOf(query, 'async', ['0', '1']) === '1';
  if (remote && !(peer.startsWith('http://') && URL.canParse(peer))) {
    throw new HttpError(400, 'where=remote needs peer=http://…');
  }
  const find = (n) => (remote ? askPeer(peer, n) : pool.run('fib', n));
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

// Four questions, one after the other; waiting needs no thread, so no worker has a part in it.
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

async function route(pool, path, query) {
  const [name, ...args] = path.slice(1).split('/');
  switch (`${name}/${args.length}`) {
    case '/0': return { name: 'node-worker-threads', version: process.versions.node, runtime: 'Node.js', workers: THREADS };
    case 'hello/0': return HELLO;
    case 'sleep/0': return wait(query);
    case 'count/1': return `Hello, World ${await pool.run('count', whole(args[0], 1e10))}\n`;
    case 'fast/1': return String(whole(args[0], 1e6) ** 2);
    case 'slow/1': return String(await pool.run('fib', whole(args[0], 60)));
    case 'fibs/1': return { fibResult: await pool.run('fib', whole(args[0], 60)) };
    case 'pair/2': return pair(pool, whole(args[0], 60), whole(args[1], 60), query);
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

async function handle(pool, req, res) {
  try {
    if (req.method !== 'GET' && req.method !== 'HEAD') throw new HttpError(405, 'only GET and HEAD');
    const [path, query] = req.url.split('?', 2);
    const answer = await route(pool, path, new URLSearchParams(query));
    if (typeof answer === 'string') send(res, 200, 'text/plain', answer);
    else if (answer instanceof Html) send(res, 200, 'text/html; charset=utf-8', answer.body);
    else send(res, 200, 'application/json', JSON.stringify(answer));
  } catch (error) {
    if (!(error instanceof HttpError)) console.error(error);
    send(res, error.status ?? 500, 'text/plain', error.status ? error.message : 'internal error',
      error.status === 405 ? { Allow: 'GET, HEAD' } : {});
  }
}

function serve() {
  if (database) database.on('error', console.error); // of a connection that nobody uses at the moment
  const pool = new Pool(THREADS);
  // 0 means no limit: a client may hold its connection and say nothing for as long as it likes.
  const limits = { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 };
  http.createServer(limits, (req, res) => handle(pool, req, res))
    .listen({ port: Number(process.env.PORT), host: process.env.HOST, backlog: 4096 });
}

if (isMainThread) serve();
else parentPort.on('message', ([name, n]) => parentPort.postMessage(computations[name](n)));
