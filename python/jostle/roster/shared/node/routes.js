'use strict';

// Which route does what: routes by hand, for servers that have no router of their own.

const work = require('./work');

const { HttpError, whole } = work;

class Html {
  constructor(body) {
    this.body = body;
  }
}

class Events {
  constructor(events) {
    this.events = events;
  }
}

function router(about, compute, database) {
  return async (path, query) => {
    const [name, ...args] = path.slice(1).split('/');
    switch (`${name}/${args.length}`) {
      case '/0': return { version: process.versions.node, runtime: 'Node.js', ...about };
      case 'hello/0': return work.HELLO;
      case 'sleep/0': return work.sleep(query);
      case 'count/1': return `Hello, World ${await compute('count', whole(args[0], 1e10))}\n`;
      case 'fast/1': return String(whole(args[0], 1e6) ** 2);
      case 'slow/1': return String(await compute('fib', whole(args[0], 60)));
      case 'fibs/1': return { fibResult: await compute('fib', whole(args[0], 60)) };
      case 'pair/2': return work.pair(whole(args[0], 60), whole(args[1], 60), query, compute);
      case 'alloc/1':
        if (args[0] === 'buffers') return work.allocateBuffers();
        if (args[0] === 'strings') return work.allocateStrings();
        break;
      case 'spawn/1': return work.spawn(whole(args[0], 1e6), query);
      case 'orders/0': return new Html(await work.orders(database));
      case 'events/0': return new Events(work.events(query));
      case 'ws/0':
        work.pushed(query);
        throw new HttpError(426, 'this is a WebSocket');
    }
    throw new HttpError(404, 'no such route');
  };
}

module.exports = { Events, Html, router };
