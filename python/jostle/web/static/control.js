// Changes the load while it is sent (a number, a tenth more or less, hold, the next phase), and stops the run.

import { LogSlider } from "./log_slider.js";
import { post } from "./token.js";
import { element } from "./trial_figure.js";
import { count, rate } from "./units.js";

const byId = (id) => document.getElementById(id);

const bar = byId("control"), form = byId("change"), said = byId("control-said"), number = byId("control-number");
const stop = byId("stop"), dialog = byId("stop-asked");

const NAMES = { rate: "requests per second", clients: "clients" };

/** `run`: the address of the run. Returns what shows the bar while something can be changed. */
export function controlOf(run) {
  let load = null, stopping = false;
  byId("change-box").open = !matchMedia("(max-width: 40rem)").matches; // there it would cover what it changes

  const slider = new LogSlider(byId("control-slider"), number, (value) => (load?.what === "rate" ? rate(value) : count(value)));

  // Returns whether it was done.
  async function send(path, content, meanwhile) {
    said.textContent = meanwhile;
    try {
      const response = await post(`${run}/${path}`, content);
      const json = (response.headers.get("content-type") ?? "").includes("json");
      if (response.status === 401) {
        said.textContent = "Only who opened the address that jostle printed, with its token, may change or stop a run.";
      } else {
        said.textContent = json ? (await response.json()).said : await response.text();
      }
      return response.ok;
    } catch {
      said.textContent = "Nobody answers at this address.";
      return false;
    }
  }

  const steer = (change) => send("steer", { change }, `${change} …`);

  for (const button of form.querySelectorAll("[data-change]")) {
    button.addEventListener("click", () => steer(button.dataset.change));
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = number.value.trim();
    const done = await steer(`${load.what}=${text}${load.what === "rate" && !text.includes("/") ? "/s" : ""}`);
    number.ariaInvalid = String(!done);
    if (done) slider.touched = false;
    else number.focus();
  });

  stop.addEventListener("click", () => {
    dialog.returnValue = "no";
    dialog.showModal();
  });
  dialog.addEventListener("close", async () => {
    if (dialog.returnValue !== "yes") return;
    stopping = stop.disabled = true;
    stopping = stop.disabled = await send("stop", {}, "Stopping …");
  });

  return ({ run: state, trial }) => {
    bar.hidden = state?.status !== "running";
    byId("change-box").hidden = !trial?.load || trial.over || stopping;
    if (!trial) return;
    load = trial.load;
    if (load) {
      byId("control-name").textContent = NAMES[load.what];
      slider.show(load);
    }
    byId("changed").replaceChildren(...trial.steered.map(({ at, what, by }) =>
      element("li", {}, `The load was changed: from ${at} on ${what} (${by}).`)));
  };
}
