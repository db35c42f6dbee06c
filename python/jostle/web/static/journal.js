// What happened in a run: the latest of its journal, the last one first.

import { element } from "./trial_figure.js";

/** `events`: { at (ms since 1970), text }, in order. */
export function showJournal(events) {
  document.getElementById("journal").replaceChildren(...events.toReversed().map(({ at, text }) => {
    const when = new Date(at);
    return element("li", {}, element("time", { dateTime: when.toISOString() }, when.toLocaleTimeString("en-GB")), ` ${text}`);
  }));
}
