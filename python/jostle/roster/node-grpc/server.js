'use strict';

// One process, one thread, one event at a time: while a call computes, every other one waits.

const { Server, ServerCredentials, loadPackageDefinition, status } = require('@grpc/grpc-js');
const { loadSync } = require('@grpc/proto-loader');
const { ReflectionService } = require('@grpc/reflection');

const MOST = 100_000;
const LONGEST_MS = 60_000;

const loaded = loadSync(`${__dirname}/echo.proto`, { keepCase: true });
const { roster } = loadPackageDefinition(loaded);

function problem(n, gap) {
  if (n < 0 || n > MOST) return `n should be a whole number up to ${MOST}`;
  if (gap < 0 || gap > LONGEST_MS) return `gap_ms should be a whole number up to ${LONGEST_MS}`;
  return '';
}

function count(call) {
  const { n = 0, gap_ms: gap = 0 } = call.request;
  const details = problem(n, gap);
  if (details) {
    call.emit('error', { code: status.INVALID_ARGUMENT, details });
    return;
  }
  const begin = performance.now();
  let number = 0;
  let timer;
  function next() {
    while (number < n && performance.now() >= begin + number * gap) {
      number += 1;
      if (!call.write({ number })) {
        call.once('drain', next);
        return;
      }
    }
    if (number === n) call.end();
    else timer = setTimeout(next, Math.ceil(begin + number * gap - performance.now()));
  }
  call.on('cancelled', () => clearTimeout(timer));
  next();
}

const server = new Server();
server.addService(roster.Echo.service, {
  Say: (call, answer) => answer(null, call.request),
  Count: count,
  Talk(call) {
    call.on('data', (words) => call.write(words));
    call.on('end', () => call.end());
  },
});
new ReflectionService(loaded).addToServer(server);
server.bindAsync(`${process.env.HOST}:${process.env.PORT}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error;
});
