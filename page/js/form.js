// A form whose every control is in the address, and what it says as a question.

import * as address from "./address.js";
import { h } from "./dom.js";

/** @typedef {HTMLInputElement | HTMLSelectElement} Control */

/** How long a control rests before it is answered, ms. */
const REST = 250;

/**
 * @typedef {object} Form
 * @property {(name: string) => string} text what a control says; empty for nothing
 * @property {(name: string) => number | undefined} number the same as a number
 * @property {(name: string) => number[] | undefined} list numbers between commas; nothing for none
 * @property {(all: Record<string, Standard>, anew: boolean) => void} standards gives numbers other defaults and ranges;
 *   one that is in the address keeps what it says there, unless all begin `anew`
 */

/** @typedef {{value: number | string, max?: number, step?: number}} Standard */

/**
 * Binds a form's controls to the address, and calls back with each change. A control that only looks at an answer
 * (`data-view`) is in the address too, and calls nothing back.
 * @param {HTMLFormElement} form
 * @param {(byHand: boolean) => void} changed told whether a control was moved, or the address was another
 * @returns {Form}
 */
export function bind(form, changed) {
  const prefix = form.dataset.section ?? "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let rest;
  /** @type {Set<Control>} */
  const moved = new Set();
  const settle = () => {
    const asks = [...moved].some((control) => !control.hasAttribute("data-view"));
    for (const control of moved) {
      keep(control);
    }
    moved.clear();
    return asks;
  };
  // A browser takes few changes of the address a second: they are written once a control rests.
  const later = () => {
    clearTimeout(rest);
    rest = setTimeout(() => settle() && changed(true), REST);
  };
  const controls = () => [...form.elements].filter(isControl);
  const keep = (/** @type {Control} */ control) => {
    if (control instanceof HTMLInputElement && control.type === "radio" && !control.checked) {
      return;
    }
    address.set(`${prefix}.${control.name}`, control.value, standard(form, control));
  };
  /** Sets every control to what the address says; tells whether one was another. */
  const restore = () => {
    let other = false;
    for (const control of controls()) {
      const before = `${control.value} ${control instanceof HTMLInputElement && control.checked}`;
      write(control, address.get(`${prefix}.${control.name}`) ?? standard(form, control));
      const after = `${control.value} ${control instanceof HTMLInputElement && control.checked}`;
      other ||= before !== after;
    }
    return other;
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    if (isControl(event.target)) {
      moved.add(event.target);
      later();
    }
  });
  address.onChange(() => {
    if (restore()) {
      changed(false);
    }
  });
  restore();
  const standards = (/** @type {Record<string, Standard>} */ all, /** @type {boolean} */ anew) => {
    for (const [name, { value, max, step }] of Object.entries(all)) {
      const control = form.elements.namedItem(name);
      if (!(control instanceof HTMLInputElement)) {
        continue;
      }
      // The range comes first: a value outside it would be cut.
      control.max = String(max ?? control.max);
      control.step = String(step ?? control.step);
      control.defaultValue = String(value);
      if (anew) {
        address.set(`${prefix}.${name}`, "");
      }
      write(control, address.get(`${prefix}.${name}`) ?? String(value));
    }
  };
  const text = (/** @type {string} */ name) => {
    const control = form.elements.namedItem(name);
    const said = control instanceof RadioNodeList || isControl(control) ? control.value : "";
    return said.trim();
  };
  return {
    text,
    number: (name) => (text(name) === "" ? undefined : Number(text(name))),
    list: (name) => {
      const parts = text(name)
        .split(",")
        .filter((part) => part.trim() !== "");
      return parts.length === 0 ? undefined : parts.map(Number);
    },
    standards,
  };
}

/**
 * @param {unknown} element
 * @returns {element is Control}
 */
function isControl(element) {
  const control = element instanceof HTMLInputElement || element instanceof HTMLSelectElement;
  return control && element.name !== "" && element.type !== "file";
}

/**
 * What a control says when nobody has touched it.
 * @param {HTMLFormElement} form
 * @param {Control} control
 */
function standard(form, control) {
  if (control instanceof HTMLSelectElement) {
    return control.dataset.standard ?? "";
  }
  if (control.type === "radio") {
    const all = [...form.elements].filter((e) => e instanceof HTMLInputElement && e.name === control.name);
    const first = all.find((e) => e instanceof HTMLInputElement && e.defaultChecked);
    return first instanceof HTMLInputElement ? first.value : "";
  }
  return control.defaultValue;
}

/**
 * @param {Control} control
 * @param {string} value
 */
function write(control, value) {
  if (control instanceof HTMLInputElement && control.type === "radio") {
    control.checked = control.value === value;
    return;
  }
  if (control instanceof HTMLSelectElement && ![...control.options].some((o) => o.value === value)) {
    // A name that is not in the list is asked for all the same: the answer says what is wrong with it.
    control.append(h("option", { value }, value));
  }
  if (control.hasAttribute("data-view") && Number(value) > Number(control.getAttribute("max"))) {
    // How far it reaches is known with the answer: until then as far as the address says.
    control.setAttribute("max", value);
  }
  control.value = value;
}

/**
 * Offers the names of a list, and keeps what was chosen.
 * @param {HTMLSelectElement} select
 * @param {{name: string, label: string}[]} names
 */
export function offer(select, names) {
  const chosen = select.value;
  const options = names.map(({ name, label }) => h("option", { value: name }, label));
  select.replaceChildren(...options);
  write(select, chosen);
}
