// One process, one thread, one event at a time: while a request computes, every other one waits.

import { handler } from './handle.mjs';
import work from './work.js';

function upgrade(request, numbers) {
  const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout: 0 });
  if (numbers) socket.onopen = () => work.push(socket, numbers);
  else socket.onmessage = ({ data }) => socket.send(data);
  return response;
}

Deno.serve(
  { hostname: Deno.env.get('HOST'), port: Number(Deno.env.get('PORT')), tcpBacklog: 4096, onListen() {} },
  handler({ name: 'deno', version: Deno.version.deno, runtime: 'Deno', workers: 1 }, upgrade),
);
