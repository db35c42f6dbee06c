// Tables of what a run or a trial consists of, and what is required of it.

import { element } from "./trial_figure.js";

/** `tables`: with their title, a sentence, the names of their columns, and rows of texts. */
export function showTables(place, tables) {
  if (place.children.length !== tables.length) place.replaceChildren(...tables.map(framed));
  for (const [number, table] of tables.entries()) fill(place.children[number], table);
}

// What scrolls keeps its place, and who reads keeps the focus: only the rows are new.
function framed() {
  const table = element("table", { className: "cards" }, element("caption"), element("thead"), element("tbody"));
  const around = element("div", { className: "scroll", tabIndex: 0, role: "region" }, table);
  return element("section", { className: "part" }, element("h3"), element("p", { className: "how" }), around);
}

function fill(section, { title, said, columns, rows }) {
  const [heading, sentence, around] = section.children;
  heading.textContent = around.ariaLabel = around.querySelector("caption").textContent = title;
  sentence.textContent = said;
  sentence.hidden = !said;
  around.hidden = !rows.length;
  const names = ["name", ...columns];
  around.querySelector("thead").replaceChildren(element("tr", {}, ...names.map((name, place) =>
    element("th", { scope: "col", className: place ? "figure" : "" }, name))));
  around.querySelector("tbody").replaceChildren(...rows.map((cells) => element("tr", {}, ...cells.map((text, place) => {
    if (!place) return element("th", { scope: "row" }, text);
    const cell = element("td", { className: "figure" }, text);
    cell.dataset.label = names[place];
    return cell;
  }))));
}

/** Requirements and claims, as far as they are decided. */
export function showJudged({ judged }) {
  const place = document.getElementById("judged");
  place.closest("section").hidden = !judged.length;
  place.replaceChildren(...judged.map(({ symbol, word, tone, that, why }) =>
    element("li", { className: tone }, element("strong", {}, `${symbol} ${word}: ${that}`), element("small", {}, ` ${why}`))));
}
