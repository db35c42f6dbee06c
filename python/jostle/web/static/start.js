// Starts a run: what is wrong stands at its field of the form, or at its line of the plan, checked as one types.

import { post } from "./token.js";

const load = document.getElementById("load"), text = document.getElementById("text");
const state = document.getElementById("state"), list = document.getElementById("problems");
const start = document.getElementById("start-plan");
const TYPING_MS = 300;

// What the server says to a change; null, and told, if it was not allowed.
async function asked(path, content) {
  const response = await post(path, content);
  if (response.status === 401) {
    state.textContent = "Only who opened the printed address, with its token, may start a run.";
    return null;
  }
  const json = (response.headers.get("content-type") ?? "").includes("json");
  if (json) return response.json();
  state.textContent = await response.text();
  return null;
}

async function planOfForm() {
  const found = await asked("/start/plan", { form: Object.fromEntries(new FormData(load)) });
  if (!found) return null;
  for (const field of load.querySelectorAll("[name]")) {
    const problem = found.problems.find((one) => one.field === field.name);
    field.setAttribute("aria-invalid", String(Boolean(problem)));
    document.getElementById(`${field.name}-wrong`).textContent = problem?.text ?? "";
  }
  if (!found.problems.length) return found.plan;
  load.querySelector("[aria-invalid=true]")?.focus();
  return null;
}

function show(problems) {
  list.replaceChildren(...problems.map(({ text: says, line }) => {
    const item = document.createElement("li"), button = document.createElement("button");
    button.type = "button";
    button.textContent = line ? `line ${line}: ${says}` : says;
    button.addEventListener("click", () => line && toLine(line));
    item.append(button);
    return item;
  }));
  text.setAttribute("aria-invalid", String(problems.length > 0));
  start.disabled = problems.length > 0 || !text.value.trim();
}

function toLine(line) {
  const lines = text.value.split("\n"), before = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  text.focus();
  text.setSelectionRange(before, before + lines[line - 1].length);
}

let typing;
let latest = 0;
text.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(check, TYPING_MS);
});

async function check() {
  const mine = ++latest;
  if (!text.value.trim()) return show([]);
  const found = await asked("/start/check", { plan: text.value });
  if (found && mine === latest) show(found.problems);
}

async function run(plan, told) {
  state.textContent = "It begins …";
  const found = await asked("/start", { plan });
  if (!found) return;
  state.textContent = "";
  if (found.run) location.href = `/runs/${encodeURIComponent(found.run)}`;
  else told(found.problems);
}

load.addEventListener("submit", async (event) => {
  event.preventDefault();
  const plan = await planOfForm();
  if (plan) run(plan, (problems) => (state.textContent = problems.map((one) => one.text).join("\n")));
});
document.getElementById("as-plan").addEventListener("click", async () => {
  const plan = await planOfForm();
  if (plan === null) return;
  text.value = plan;
  check();
});
document.getElementById("plan").addEventListener("submit", (event) => {
  event.preventDefault();
  run(text.value, show);
});
