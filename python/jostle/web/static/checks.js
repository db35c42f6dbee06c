// The checks of the trial so far, or of the range that is chosen: of a range they are made by the server, from
// the record.

import { element } from "./trial_figure.js";
import { duration } from "./units.js";

const AFTER_MS = 250;

const title = document.getElementById("checks-title");

/** `run`: the address of the run. `choose(trial, range)` shows the checks of a range in seconds, null for all. */
export function checksOf(run) {
  let waiting = null, asked = null, chosen = null;

  async function ask(trial, [from, to]) {
    asked?.abort();
    asked = new AbortController();
    const which = new URLSearchParams({ trial, from, to });
    try {
      const response = await fetch(`${run}/range?${which}`, { signal: asked.signal });
      if (!response.ok) throw new Error(await response.text());
      const found = await response.json();
      title.textContent = `Checks from ${duration(from)} to ${duration(to)}: ${found.symbol} ${found.word}`;
      show(found, element("li", { className: "note" }, "Times count from the start of the range."));
    } catch (error) {
      if (error.name !== "AbortError") title.textContent = "Checks of this range could not be made";
    }
  }

  return {
    choose(trial, range) {
      if (!range) {
        clearTimeout(waiting);
        asked?.abort();
        chosen = null;
        title.textContent = "Checks";
        show(trial.verdict);
        return;
      }
      const key = `${trial.number} ${range}`;
      if (key === chosen) return;
      clearTimeout(waiting);
      chosen = key;
      title.textContent = `Checks from ${duration(range[0])} to ${duration(range[1])} …`;
      waiting = setTimeout(() => ask(trial.number, range), AFTER_MS);
    },
  };
}

function show({ told, passed }, ...notes) {
  document.getElementById("checks").replaceChildren(
    ...(told.length ? told.map(item) : [element("li", {}, "Nothing speaks against the figures.")]),
    ...notes,
  );
  document.getElementById("passed-title").textContent = `${passed.length} checks passed`;
  document.getElementById("passed").replaceChildren(...passed.map(item));
}

function item({ name, symbol, word, message, remedy }) {
  const kind = { valid: "good", suspect: "warning", invalid: "bad" }[word];
  return element("li", { className: kind }, element("strong", {}, `${symbol} ${name}`), ` ${message}`,
    ...(remedy ? [element("small", {}, ` ${remedy}`)] : []));
}
