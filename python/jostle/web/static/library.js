// The list of runs: search, order, two that are chosen, and one that is deleted after it was asked for.

import { post } from "./token.js";

const table = document.getElementById("runs");
if (table) {
  const rows = [...table.tBodies[0].rows];
  const count = document.getElementById("count"), whole = count.textContent;
  const search = document.getElementById("search");
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const text = `${row.dataset.run} ${row.textContent}`.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
    }
    const shown = rows.filter((row) => row.isConnected && !row.hidden).length;
    count.textContent = words.length ? `${shown} of ${whole}` : whole;
  });
  search.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());

  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, place) => head.querySelector("button")?.addEventListener("click", () => order(head, place)));

  function order(head, place) {
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of heads) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const numbers = head.classList.contains("figure");
    const of = (row) => row.cells[place].dataset.value ?? "";
    const known = rows.filter((row) => of(row) !== ""), unknown = rows.filter((row) => of(row) === "");
    known.sort((a, b) => (numbers ? of(a) - of(b) : of(a).localeCompare(of(b))) * (up ? 1 : -1));
    table.tBodies[0].append(...[...known, ...unknown].filter((row) => row.isConnected));
  }

  const compare = document.getElementById("compare");
  const choose = () => {
    const chosen = table.querySelectorAll("[name=run]:checked").length;
    compare.disabled = chosen !== 2;
    compare.textContent = chosen > 2 ? `${chosen} chosen: compare takes two` : "Compare two chosen";
  };
  table.addEventListener("change", choose);
  choose();

  const asked = document.getElementById("asked"), failed = document.getElementById("failed");
  for (const button of table.querySelectorAll(".delete")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const row = button.closest("tr");
      document.getElementById("asked-what").textContent = row.dataset.run;
      asked.returnValue = "no";
      asked.onclose = () => asked.returnValue === "yes" && remove(row);
      asked.showModal();
    });
  }

  async function remove(row) {
    const response = await post(`/runs/${encodeURIComponent(row.dataset.run)}/delete`, {});
    failed.textContent = response.ok ? "" : response.status === 401
      ? "Only who opened the printed address, with its token, may delete a run." : await response.text();
    if (response.ok) row.remove();
  }
}
