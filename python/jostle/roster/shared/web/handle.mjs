// The contract as a function from a Request to a Response: the web's own interfaces, which Bun and Deno both serve.

import routes from './routes.js';
import work from './work.js';

const encoder = new TextEncoder();

// A stream that asks for the next event once the last has been taken, and for none once the client has gone.
function streamed(events) {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await events.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await events.return();
    },
  });
}

function respond(body, type, status = 200, headers = {}) {
  return new Response(body, { status, headers: { 'Content-Type': type, ...headers } });
}

// about: what `GET /` answers; upgrade(request, numbers): answers what wants to become a WebSocket.
export function handler(about, upgrade) {
  const database = work.connect();
  const route = routes.router(about, work.inline, database);
  return async (request, server) => {
    try {
      if (request.method !== 'GET' && request.method !== 'HEAD') throw new work.HttpError(405, 'only GET and HEAD');
      const { pathname, searchParams } = new URL(request.url);
      const query = Object.fromEntries(searchParams);
      if (pathname === '/ws' && request.headers.get('upgrade')?.toLowerCase() === 'websocket') return upgrade(request, work.pushed(query), server);
      const answer = await route(pathname, query);
      if (typeof answer === 'string') return respond(answer, 'text/plain');
      if (answer instanceof routes.Html) return respond(answer.body, 'text/html; charset=utf-8');
      if (!(answer instanceof routes.Events)) return respond(JSON.stringify(answer), 'application/json');
      const body = request.method === 'HEAD' ? null : streamed(answer.events);
      return respond(body, 'text/event-stream', 200, { 'Cache-Control': 'no-store' });
    } catch (error) {
      if (!(error instanceof work.HttpError)) console.error(error);
      const allow = error.status === 405 ? { Allow: 'GET, HEAD' } : {};
      return respond(error.status ? error.message : 'internal error', 'text/plain', error.status ?? 500, allow);
    }
  };
}
