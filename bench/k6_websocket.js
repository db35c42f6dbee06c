// A closed loop over WebSockets: VUS clients for SECONDS, each with a socket, on which the next message follows the answer.
import ws from "k6/ws";

export const options = { vus: Number(__ENV.VUS), iterations: Number(__ENV.VUS) };

export function handleSummary(data) {
  return { stdout: `answers: ${data.metrics.ws_msgs_received.values.count}\n` };
}

export default function () {
  ws.connect(__ENV.URL, null, (socket) => {
    socket.on("open", () => socket.send("hello"));
    socket.on("message", () => socket.send("hello"));
    socket.setTimeout(() => socket.close(), Number(__ENV.SECONDS) * 1000);
  });
}
