'use strict';

// What the contract's routes do, whoever routes to them and wherever the computations run.

const http = require('node:http');
const { PerformanceObserver } = require('node:perf_hooks');
const { setTimeout: pause } = require('node:timers/promises');
const { Pool } = require('pg');

const HELLO = 'x'.repeat(1023) + '\n';
const KILOBYTE = Buffer.from(HELLO);
const OPEN = 1; // a WebSocket's readyState
const keepAlive = new http.Agent({ keepAlive: true });

class HttpError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

function whole(text, most) {
  const n = Number(text);
  // A Number from here on: comparing the counter with a string is several hundred times slower.
  if (/^\d+$/.test(text) && n <= most) return n;
  throw new HttpError(400, `a whole number from 0 to ${most} is needed here`);
}

function decimal(name, text, most) {
  const n = Number(text);
  if (/^\d*\.?\d+$/.test(text) && n <= most) return n;
  throw new HttpError(400, `${name} must be a number from 0 to ${most}`);
}

function oneOf(name, text, ...choices) {
  if (choices.includes(text)) return text;
  throw new HttpError(400, `${name} must be one of: ${choices.join(', ')}`);
}

const computations = {
  count(n) {
    let x = 0;
    while (x < n) x++;
    return x;
  },
  fib,
};

function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

// Where computations run unless a server says otherwise: at once, in the thread that handles the request.
const inline = (name, n) => computations[name](n);

async function sleep({ ms = '100', jitter = '0' }) {
  const spread = decimal('jitter', jitter, 1) * (2 * Math.random() - 1);
  await pause(decimal('ms', ms, 60_000) * (1 + spread));
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

async function pair(a, b, { where = 'local', peer = '', async: concurrent = '0' }, compute) {
  const remote = oneOf('where', where, 'local', 'remote') === 'remote';
  const atOnce = oneOf('async', concurrent, '0', '1') === '1';
  if (remote && !(typeof peer === 'string' && peer.startsWith('http://') && URL.canParse(peer))) {
    throw new HttpError(400, 'where=remote needs peer=http://…');
  }
  const find = async (n) => (remote ? askPeer(peer, n) : compute('fib', n));
  // Promise.all overlaps waiting, never computing: on one thread it saves nothing, as the article shows.
  const [x, y] = atOnce ? await Promise.all([find(a), find(b)]) : [await find(a), await find(b)];
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
async function spawn(n, { kind = 'async' }) {
  oneOf('kind', kind, 'async');
  let open;
  const gate = new Promise((resolve) => { open = resolve; });
  const held = [];
  for (let i = 0; i < n; i++) held.push((async () => { await gate; })());
  open();
  await Promise.all(held);
  return String(held.length);
}

// 1 to `count`, each on a schedule that begins with the first one: when one is late, the next is not.
async function* due(count, ms) {
  const start = performance.now();
  for (let number = 1; number <= count; number++) {
    const wait = start + (number - 1) * ms - performance.now();
    if (wait > 0) await pause(Math.ceil(wait));
    yield number;
  }
}

// Checked at once, and not when the first is asked for.
function numbers({ n = '20', gap = '50' }) {
  return due(whole(n, 1e5), decimal('gap', gap, 60_000));
}

function events(query) {
  const due = numbers(query);
  return (async function* () {
    for await (const number of due) yield `data: ${number}\n\n`;
  })();
}

// What a WebSocket is to push; undefined for one that echoes.
function pushed(query) {
  return query.n === undefined ? undefined : numbers(query);
}

// Over a WebSocket of any library that has the browser's methods.
async function push(socket, numbers) {
  for await (const number of numbers) {
    if (socket.readyState !== OPEN) return; // the client has gone
    socket.send(String(number));
  }
  socket.close(1000);
}

// Time in garbage collection, from the first question about it on: until then nothing is observed.
let garbage = null;
function collected() {
  if (garbage === null) {
    garbage = { seconds: 0, collections: 0 };
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        garbage.seconds += duration / 1000;
        garbage.collections += 1;
      }
    }).observe({ entryTypes: ['gc'] });
  }
  return garbage;
}

// The database of /orders, or null when the server was started without one.
function connect() {
  if (!process.env.DATABASE_URL) return null;
  const database = new Pool({ connectionString: process.env.DATABASE_URL, max: Number(process.env.POOL) });
  database.on('error', console.error); // of a connection that nobody uses at the moment
  return database;
}

function escape(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

// Four questions, one after the other; while the database thinks, the loop serves others.
async function orders(database) {
  if (!database) throw new HttpError(503, 'started without a database');
  const find = async (sql, ...values) => (await database.query(sql, values)).rows;
  const [{ min }] = await find('SELECT min(id) FROM customers');
  const [{ max }] = await find('SELECT max(id) FROM customers');
  const id = min + Math.floor(Math.random() * (max - min + 1));
  const [customer] = await find('SELECT id, name FROM customers WHERE id = $1', id);
  if (!customer) throw new HttpError(404, `there is no customer ${id}`);
  const list = await find('SELECT * FROM orders WHERE customer_id = $1 ORDER BY ordered_on', customer.id);
  const items = list.map((order) => `<li>${order.ordered_on}: ${escape(order.item)}</li>\n`).join('');
  return `<!DOCTYPE html>\n<title>Orders</title>\n<h1>${escape(customer.name)}</h1>\n<ol>\n${items}</ol>\n`;
}

// Listens where the environment says. 0 means no limit: a client may hold its connection and say nothing for as
// long as it likes.
function listen(handle) {
  return http.createServer({ keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 }, handle)
    .listen({ port: Number(process.env.PORT), host: process.env.HOST, backlog: 4096 });
}

module.exports = {
  HELLO, HttpError, allocateBuffers, allocateStrings, collected, computations, connect, escape, events, inline, listen, orders, pair,
  push, pushed, sleep, spawn, whole,
};
