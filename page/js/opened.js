// Which parts of a section are opened, in the address: `figures.open=fig1_stampede|fig3_mirror`.

import * as address from "./address.js";

/** Stands in no name of a figure, a test or a number. */
const BETWEEN = "|";

/** @param {string} section */
export function opened(section) {
  const key = `${section}.open`;
  const names = () => new Set((address.get(key) ?? "").split(BETWEEN).filter((name) => name !== ""));
  return {
    names,
    /**
     * @param {string} name
     * @param {boolean} open
     */
    set(name, open) {
      const all = names();
      if (open) {
        all.add(name);
      } else {
        all.delete(name);
      }
      address.set(key, [...all].join(BETWEEN));
    },
  };
}

/**
 * A fold that is in the address while a reader has it open: what a print opens is not.
 * @param {string} section
 * @param {string} name
 * @param {HTMLDetailsElement} fold
 */
export function keep(section, name, fold) {
  const all = opened(section);
  const restore = () => {
    fold.open = all.names().has(name);
  };
  fold.querySelector("summary")?.addEventListener("click", () => all.set(name, !fold.open));
  address.onChange(restore);
  restore();
}
