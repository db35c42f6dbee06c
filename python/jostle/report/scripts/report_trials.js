// In a finished report: a figure of the trials whose data the page has, one at a time.

import { TrialFigure, element } from "./trial_figure.js";

const root = document.querySelector("[data-trials]");
if (root) {
  const { labels, trials } = JSON.parse(document.getElementById("trial-data").textContent);
  const figure = new TrialFigure(root);
  const open = async (trial) => figure.show({ ...trial, labels, columns: await inflated(trial.columns) });
  if (trials.length > 1) {
    const select = element("select", {}, ...trials.map(({ name }, i) => element("option", { value: i }, name)));
    select.addEventListener("change", () => {
      figure.range = null;
      open(trials[select.value]);
    });
    root.prepend(element("label", { className: "which" }, "trial ", select));
  }
  open(trials[0]).then(() => (root.dataset.ready = "yes"));
}

async function inflated(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}
