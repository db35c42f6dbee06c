// Changes the load while it is sent: a number, a tenth more or less, hold, the next phase.

import { post } from "./token.js";

const bar = document.getElementById("control"), said = document.getElementById("control-said");

/** `run`: the address of the run. Returns what shows the bar while the load can be changed. */
export function controlOf(run) {
  async function steer(change) {
    said.textContent = `${change} …`;
    try {
      const response = await post(`${run}/steer`, { change });
      const json = (response.headers.get("content-type") ?? "").includes("json");
      if (response.status === 401) {
        said.textContent = "Only who opened the address that jostle printed, with its token, may change the load.";
      } else {
        said.textContent = json ? (await response.json()).said : await response.text();
      }
    } catch {
      said.textContent = "Nobody answers at this address.";
    }
  }

  for (const button of bar.querySelectorAll("[data-change]")) {
    button.addEventListener("click", () => steer(button.dataset.change));
  }
  const number = document.getElementById("control-number");
  bar.addEventListener("submit", (event) => {
    event.preventDefault();
    steer(`${bar.dataset.what}=${number.value.trim()}`);
  });

  return ({ run: state, trial }) => {
    bar.hidden = state?.status !== "running" || !trial || trial.over;
    if (!trial) return;
    bar.dataset.what = trial.rates.offered === null ? "clients" : "rate";
    document.getElementById("control-name").textContent =
      bar.dataset.what === "rate" ? "requests per second" : "clients";
    const marks = trial.steered.map(({ at, what }) => `from ${at} on ${what}`);
    document.getElementById("changed").textContent = marks.length ? `The load was changed: ${marks.join("; ")}.` : "";
  };
}
