import { follow } from "./stream.js";
import "./token.js";

const run = document.getElementById("run").dataset.run;
const state = document.getElementById("state");
follow(
  `/runs/${encodeURIComponent(run)}/events`,
  (message) => {
    if (message.trial) document.getElementById("raw").textContent = JSON.stringify(message.trial, null, 1);
  },
  (what) => {
    state.textContent = what;
  },
);
