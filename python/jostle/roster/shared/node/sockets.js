'use strict';

// WebSockets beside the routes, by ws, the library that nearly everybody uses.

const { STATUS_CODES } = require('node:http');
const { parse } = require('node:querystring');
const { WebSocketServer } = require('ws');
const work = require('./work');

// There is no response to answer with: an upgrade comes with its bare connection.
function refuse(connection, { status = 500, message }) {
  connection.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: text/plain\r\n` +
    `Content-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`);
}

function talk(socket, numbers) {
  socket.on('error', () => {}); // it is closed then: nobody is left to tell
  if (numbers) work.push(socket, numbers);
  else socket.on('message', (message, binary) => socket.send(message, { binary }));
}

module.exports = function sockets(server) {
  const upgrader = new WebSocketServer({ noServer: true });
  server.on('upgrade', (req, connection, head) => {
    connection.on('error', () => {});
    const [path, query] = req.url.split('?', 2);
    try {
      if (path !== '/ws') throw new work.HttpError(400, 'only /ws can be upgraded');
      const numbers = work.pushed(parse(query));
      upgrader.handleUpgrade(req, connection, head, (socket) => talk(socket, numbers));
    } catch (error) {
      refuse(connection, error);
    }
  });
};
