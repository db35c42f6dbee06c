// Tables of what a run or a trial consists of, and what is required of it.

import { element } from "./trial_figure.js";

/** `tables`: with their title, a sentence, the names of their columns, and rows of texts. If a table has a key for each
 * row, `choose` is called with it; `chosen` is the one that was. */
export function showTables(place, tables, { chosen, choose } = {}) {
  if (place.children.length !== tables.length) place.replaceChildren(...tables.map(framed));
  for (const [number, table] of tables.entries()) fill(place.children[number], table, choose);
  for (const button of place.querySelectorAll("button")) button.ariaPressed = button.value === chosen;
}

function framed() {
  const table = element("table", { className: "cards" }, element("caption"), element("thead"), element("tbody"));
  const around = element("div", { className: "scroll", tabIndex: 0, role: "region" }, table);
  return element("section", { className: "part" }, element("h3"), element("p", { className: "how" }), around);
}

// What scrolls keeps its place, and who reads or chooses keeps the focus: only texts are new.
function fill(section, { title, said, columns, rows, keys }, choose) {
  const [heading, sentence, around] = section.children, [head, body] = ["thead", "tbody"].map((of) => around.querySelector(of));
  const names = ["name", ...columns];
  heading.textContent = around.ariaLabel = around.querySelector("caption").textContent = title;
  sentence.textContent = said;
  sentence.hidden = !said;
  around.hidden = !rows.length;
  const shape = JSON.stringify([names, keys, rows.map(([name]) => name)]);
  if (section.dataset.shape !== shape) {
    section.dataset.shape = shape;
    head.replaceChildren(element("tr", {}, ...names.map((name, place) =>
      element("th", { scope: "col", className: place ? "figure" : "" }, name))));
    body.replaceChildren(...rows.map(([name, ...cells], row) => element("tr", {},
      element("th", { scope: "row" }, keys ? choice(name, keys[row], choose) : name),
      ...cells.map((_, place) => {
        const cell = element("td", { className: "figure" });
        cell.dataset.label = columns[place];
        return cell;
      }))));
  }
  rows.forEach(([, ...cells], row) => cells.forEach((text, place) => (body.rows[row].cells[place + 1].textContent = text)));
}

function choice(name, value, choose) {
  return element("button", { type: "button", value, title: "The heat map of this request alone", onclick: () => choose(value) }, name);
}

/** Requirements and claims, as far as they are decided. */
export function showJudged({ judged }) {
  const place = document.getElementById("judged");
  place.closest("section").hidden = !judged.length;
  place.replaceChildren(...judged.map(({ symbol, word, tone, that, why }) =>
    element("li", { className: tone }, element("strong", {}, `${symbol} ${word}: ${that}`), element("small", {}, ` ${why}`))));
}
