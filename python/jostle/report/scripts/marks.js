// Moments that pictures of a trial mark: { at (s), kind, text }, as `jostle.report.trial_data.as_marks` gives them.

const SHAPES = {
  steered: { symbol: "→", dashes: [], hue: "ink" },
  phase: { symbol: "▸", dashes: [2, 4], hue: "muted" },
  lost: { symbol: "✗", dashes: [], hue: "bad" },
  back: { symbol: "✓", dashes: [6, 3], hue: "muted" },
};

/** Lines are told apart by their dashes and their symbol, too. `theme`: colours by name; `x(seconds)`: in pixels. */
export function paintMarks(to, theme, marks, x, top, bottom) {
  for (const { at, kind } of marks) {
    const { dashes, hue } = SHAPES[kind], place = Math.round(x(at)) + 0.5;
    to.strokeStyle = theme[hue];
    to.lineWidth = 1;
    to.setLineDash(dashes);
    to.beginPath();
    to.moveTo(place, top);
    to.lineTo(place, bottom);
    to.stroke();
  }
  to.setLineDash([]);
}

/** The texts of marks in a line above a picture, as far as they have room; a symbol alone where there is less. */
export function labelMarks(to, theme, marks, x, y, end) {
  to.textAlign = "left";
  to.textBaseline = "top";
  let before = -Infinity;
  marks.forEach((mark, i) => {
    const { symbol, hue } = SHAPES[mark.kind], at = x(mark.at) + 2;
    const room = (i + 1 < marks.length ? x(marks[i + 1].at) : end) - at;
    const whole = `${symbol} ${mark.text}`;
    const text = to.measureText(whole).width < room ? whole : symbol;
    if (at < before) return;
    to.fillStyle = theme[hue];
    to.fillText(text, at, y);
    before = at + to.measureText(text).width;
  });
}

/** All marks in words. `write(seconds)`: a time as text. */
export function marksAsText(marks, write) {
  return marks.map(({ at, kind, text }) => `${SHAPES[kind].symbol} ${write(at)} ${text}`).join(" · ");
}
