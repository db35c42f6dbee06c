// One process, one thread, one event at a time: while a request computes, every other one waits.

import { handler } from './handle.mjs';
import work from './work.js';

// A socket holds what it is to push; one without echoes.
function upgrade(request, numbers, server) {
  if (server.upgrade(request, { data: { numbers } })) return undefined;
  return new Response('only to a WebSocket', { status: 400 });
}

Bun.serve({
  hostname: process.env.HOST,
  port: Number(process.env.PORT),
  idleTimeout: 0, // none: a client may hold its connection and say nothing
  fetch: handler({ name: 'bun', version: Bun.version, runtime: 'Bun', workers: 1 }, upgrade),
  websocket: {
    idleTimeout: 0,
    open(socket) {
      if (socket.data.numbers) work.push(socket, socket.data.numbers);
    },
    message(socket, message) {
      if (!socket.data.numbers) socket.send(message);
    },
  },
});
