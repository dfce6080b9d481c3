// The part of the address behind #: the section, and each control that is not at its default.
// `#calculator?calculator.rate=1.35&theme=dark`

/** @type {Map<string, string>} */
const values = new Map();
/** @type {Set<() => void>} */
const heard = new Set();
let section = "";

/** Reads the address anew. */
function read() {
  const [name = "", query = ""] = location.hash.slice(1).split("?", 2);
  section = decodeURIComponent(name);
  values.clear();
  for (const [key, value] of new URLSearchParams(query)) {
    values.set(key, value);
  }
}

function write() {
  const query = new URLSearchParams([...values].sort(([a], [b]) => (a < b ? -1 : 1))).toString();
  const hash = query === "" ? `#${section}` : `#${section}?${query}`;
  history.replaceState(null, "", hash === "#" ? location.pathname + location.search : hash);
}

/** The section that the address names; empty for none. */
export function current() {
  return section;
}

/**
 * What the address says of a control.
 * @param {string} key
 */
export function get(key) {
  return values.get(key);
}

/**
 * Puts a control into the address, or takes it out where it is at its default.
 * @param {string} key
 * @param {string} value
 * @param {string} standard
 */
export function set(key, value, standard = "") {
  if (value === (values.get(key) ?? standard)) {
    return;
  }
  if (value === standard) {
    values.delete(key);
  } else {
    values.set(key, value);
  }
  write();
}

/**
 * Names the section that is looked at.
 * @param {string} name
 */
export function look(name) {
  section = name;
  write();
}

/**
 * Calls back when the address is changed by hand, by a link or by going back.
 * @param {() => void} back
 */
export function onChange(back) {
  heard.add(back);
}

read();
addEventListener("hashchange", () => {
  read();
  for (const back of heard) {
    back();
  }
});
