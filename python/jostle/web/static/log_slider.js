// A slider on a logarithmic scale, and the field of the same number beside it.

const STEPS = 1000;

export class LogSlider {
  /** `slider`, `field`: inputs of the page. `write(value)`: as it is read aloud. */
  constructor(slider, field, write) {
    Object.assign(this, { slider, field, write, most: 1, whole: false });
    this.touched = false; // by the user, whose number stays until it is done
    slider.max = STEPS;
    slider.addEventListener("input", () => this.moved(this.valueAt(Number(slider.value))));
    field.addEventListener("input", () => {
      this.touched = true;
      field.removeAttribute("aria-invalid");
      if (Number(field.value) > 0) this.place(Number(field.value));
    });
  }

  /** The load as it is: its `value` (null: not known), the `most` that is possible, and `what` it is. */
  show({ what, value, most }) {
    Object.assign(this, { most, whole: what === "clients" });
    if (this.touched || value === null || document.activeElement === this.field) return;
    this.field.value = this.rounded(value);
    this.place(value);
  }

  moved(value) {
    this.touched = true;
    this.field.removeAttribute("aria-invalid");
    this.field.value = value;
    this.slider.ariaValueText = this.write(value);
  }

  place(value) {
    const part = Math.log(Math.max(1, value)) / Math.log(Math.max(2, this.most));
    this.slider.value = Math.round(STEPS * Math.min(1, part));
    this.slider.ariaValueText = this.write(value);
  }

  // Three digits are enough for a hand; the ends are exact.
  valueAt(place) {
    if (place === STEPS) return Math.floor(this.most);
    return this.rounded(Number((Math.max(2, this.most) ** (place / STEPS)).toPrecision(3)));
  }

  rounded(value) {
    return this.whole ? Math.round(value) : Number(value.toPrecision(6));
  }
}
