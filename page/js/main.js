// Starts the page: each section when it comes near, so that the first view is small.

import * as address from "./address.js";
import { whose } from "./data.js";
import { one } from "./dom.js";
import { wrong } from "./notice.js";
import { printing } from "./print.js";
import { theme } from "./theme.js";

/** @type {Record<string, () => Promise<{start: (root: HTMLElement) => unknown}>>} */
const sections = {
  trap: () => import("./sections/trap.js"),
  engines: () => import("./sections/engines.js"),
  calculator: () => import("./sections/calculator.js"),
  scales: () => import("./sections/scales.js"),
  knee: () => import("./sections/knee.js"),
  law: () => import("./sections/law.js"),
  figures: () => import("./sections/figures.js"),
  tables: () => import("./sections/tables.js"),
  ledger: () => import("./sections/ledger.js"),
  tests: () => import("./sections/tests.js"),
  drop: () => import("./sections/drop.js"),
};
/** @type {Map<string, Promise<void>>} */
const begun = new Map();

/**
 * Begins a section, once.
 * @param {string} name
 */
function begin(name) {
  const coming = begun.get(name) ?? bring(name);
  begun.set(name, coming);
  return coming;
}

/** @param {string} name */
async function bring(name) {
  const load = sections[name];
  if (load === undefined) {
    return;
  }
  const root = one(document, `#${name}`);
  try {
    const section = await load();
    await section.start(root);
    root.dataset.ready = "yes";
  } catch (error) {
    root.dataset.ready = "no";
    wrong(one(root, ".status"), error);
  }
}

// What is true of this project's runs alone is shown where the page is of them, wherever it is opened.
whose().then(
  (of) => {
    document.documentElement.dataset.whose = of;
  },
  () => {},
);

const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        near.unobserve(entry.target);
        begin(entry.target.id);
      }
    }
  },
  { rootMargin: "300px" },
);

/** @param {string} id */
async function show(id) {
  const { open } = await import("./run.js");
  open(id);
}

/** How long a section is held in place while those above it come up, ms. */
const HELD = 4000;

/**
 * Goes to a section and stays there while what is above it grows, until the reader moves.
 * @param {HTMLElement} root
 */
function hold(root) {
  root.scrollIntoView({ behavior: "instant" });
  const growth = new ResizeObserver(() => root.scrollIntoView({ behavior: "instant" }));
  growth.observe(one(document, "main"));
  const leave = new AbortController();
  const over = () => {
    growth.disconnect();
    leave.abort();
  };
  for (const moved of ["wheel", "touchstart", "keydown", "pointerdown"]) {
    addEventListener(moved, over, { passive: true, signal: leave.signal });
  }
  setTimeout(over, HELD);
}

/** Goes to the section that the address names; the address of a run opens it over the page. */
function go() {
  const name = address.current();
  const run = address.get("run");
  if (run !== undefined) {
    show(run);
  }
  if (name in sections) {
    begin(name);
    hold(one(document, `#${name}`));
  }
}

theme(one(document, "#theme"));
for (const name of Object.keys(sections)) {
  near.observe(one(document, `#${name}`));
}
// The name of the section that a link leads to must not throw away the controls in the address.
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest("a[href^='#']") : null;
  const to = link?.getAttribute("href")?.slice(1) ?? "";
  const run = link?.getAttribute("data-run");
  if (run) {
    event.preventDefault();
    address.set("run", run);
    show(run);
  } else if (to in sections) {
    event.preventDefault();
    address.look(to);
    go();
  }
});
address.onChange(go);
printing(one(document, "#print"), () => Promise.all(Object.keys(sections).map(begin)));
go();
