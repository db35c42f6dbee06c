"use strict";
// Draws every figure[data-chart] from its specification, as wide as the page allows, again when the width changes.
(() => {
  const { config, charts } = JSON.parse(document.getElementById("charts").textContent);
  const figures = [...document.querySelectorAll("figure[data-chart]")];
  const AXIS = 70, GAP = 28;

  // Panels side by side as many as fit; stacked charts all equally wide; a single chart fills its figure.
  function fit(spec, width) {
    const fitted = { ...structuredClone(spec), config };
    const narrowest = (fitted.usermeta || {}).narrowest || width;
    if (fitted.facet) {
      const most = Math.max(1, Math.min(fitted.columns || 1, Math.floor(width / narrowest)));
      fitted.columns = most;
      fitted.spec.width = Math.floor((width - AXIS - GAP * (most - 1)) / most) - 6;
    } else if (fitted.concat) {
      const most = Math.max(1, Math.min(fitted.columns || 1, Math.floor(width / narrowest)));
      fitted.columns = most;
      for (const part of fitted.concat) part.width = Math.floor((width - GAP * (most - 1)) / most) - 16;
    } else if (fitted.vconcat) {
      for (const part of fitted.vconcat) part.width = width - AXIS;
    } else {
      fitted.width = width;
      fitted.autosize = { type: "fit-x", contains: "padding" };  // the height is that of the plot, the axis comes on top
    }
    return fitted;
  }

  async function draw(figure) {
    const place = figure.querySelector(".chart");
    const width = Math.floor(place.clientWidth);
    if (!width || !figure.checkVisibility() || figure.dataset.width === String(width)) return;
    figure.dataset.width = String(width);
    const options = { mode: "vega-lite", actions: false, renderer: "svg", ast: true, tooltip: false, defaultStyle: false, logLevel: 1 };
    await vegaEmbed(place.firstElementChild, fit(charts[figure.dataset.chart], width), options);
  }

  async function drawAll() {
    for (const figure of figures) await draw(figure);  // those that are folded have no width yet
    document.documentElement.dataset.ready = "yes";
  }

  // One picture of each set of tabs at a time; arrow keys go through them.
  for (const tabs of document.querySelectorAll("[data-tabs]")) {
    const all = [...tabs.querySelectorAll("[role=tab]")];
    const choose = (chosen) => {
      for (const tab of all) {
        tab.setAttribute("aria-selected", String(tab === chosen));
        tab.tabIndex = tab === chosen ? 0 : -1;
        document.getElementById(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
      }
    };
    all.forEach((tab, i) => {
      tab.addEventListener("click", () => { choose(tab); drawAll(); });
      tab.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const next = all[(i + step + all.length) % all.length];
        next.focus();
        choose(next);
        drawAll();
      });
    });
    choose(all[0]);
  }

  // A link into something folded opens it.
  function unfold() {
    const target = location.hash && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let d = target.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", unfold);
  unfold();

  for (const details of document.querySelectorAll("details")) details.addEventListener("toggle", drawAll);

  let waiting;
  addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(drawAll, 150); });
  drawAll();
})();
