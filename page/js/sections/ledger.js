// Every published number beside ours, by text, section, status and cause.

import { data, part } from "../data.js";
import { fill, h, one } from "../dom.js";
import { bind, offer } from "../form.js";
import { wrong } from "../notice.js";
import { entry } from "./entry.js";

/** How many rows are shown before one asks for more. */
const PAGE = 40;

/** @typedef {Record<string, string>} Row */

/** @param {HTMLElement} root */
export async function start(root) {
  const ledger = await part("ledger");
  if (ledger.absent) {
    one(root, ".status").textContent = ledger.absent;
    one(root, "form").hidden = true;
    one(root, ".ledger").hidden = true;
    return;
  }
  let most = PAGE;
  const form = bind(/** @type {HTMLFormElement} */ (one(root, "form")), () => {
    most = PAGE;
    show();
  });
  /** @type {Row[]} */
  const rows = ledger.rows;
  choices(
    root,
    "section",
    ledger.sections.map((/** @type {any} */ s) => [s.section, s.entries]),
  );
  choices(
    root,
    "status",
    ledger.statuses.map((/** @type {any} */ s) => [s.status, s.entries]),
  );
  choices(root, "cause", counted(rows.map((row) => row.cause).filter((cause) => cause)));
  const texts = new Map(rows.map((row) => [row, Object.values(row).join(" ").toLowerCase()]));

  function show() {
    const wanted = form
      .text("text")
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    const found = rows.filter(
      (row) =>
        ["section", "status", "cause"].every((key) => form.text(key) === "" || row[key] === form.text(key)) &&
        wanted.every((word) => texts.get(row)?.includes(word)),
    );
    fill(one(root, "tbody"), ...found.slice(0, most).map((row) => line(row, ledger)));
    const more = one(root, "#ledger-more");
    more.hidden = found.length <= most;
    more.textContent = `Show ${Math.min(PAGE, found.length - most)} more of ${found.length - most}`;
    const stale = ledger.current ? "" : ` Not current: ${ledger.differences.join("; ")}.`;
    one(root, ".status").textContent = `${found.length} of ${rows.length} numbers.${stale}`;
  }
  one(root, "#ledger-more").addEventListener("click", () => {
    most += PAGE;
    show();
  });
  show();
}

/**
 * @param {HTMLElement} root
 * @param {string} name
 * @param {[string, number][]} options
 */
function choices(root, name, options) {
  const select = /** @type {HTMLSelectElement} */ (one(root, `[name=${name}]`));
  const all = { name: "", label: `any ${name}` };
  offer(select, [all, ...options.map(([option, count]) => ({ name: option, label: `${option} (${count})` }))]);
}

/**
 * How often each word occurs, the most frequent first.
 * @param {(string | undefined)[]} words
 * @returns {[string, number][]}
 */
function counted(words) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const word of words) {
    counts.set(word ?? "", (counts.get(word ?? "") ?? 0) + 1);
  }
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
}

/**
 * A number in a line; it opens to its query and sources.
 * @param {Row} row
 * @param {any} ledger
 */
function line(row, ledger) {
  const open = h("button", { type: "button", "aria-expanded": "false", class: "open" }, row.statement);
  const place = h("td", { colspan: 6 });
  const below = h("tr", { class: "opened", hidden: true }, place);
  const head = h(
    "tr",
    { "data-id": row.id },
    h("th", { scope: "row" }, open, h("span", { class: "place" }, row.place)),
    h("td", { class: "number", "data-label": "published" }, row.published),
    h("td", { class: "number", "data-label": "ours" }, row.ours),
    h("td", { class: "number", "data-label": "interval" }, row.interval),
    h(
      "td",
      { "data-label": "status" },
      h("span", { class: `status-word ${(row.status ?? "").replaceAll(" ", "-")}` }, row.status),
    ),
    h(
      "td",
      { "data-label": "cause" },
      row.cause,
      row.because ? h("span", { class: "because" }, ` ${row.because}`) : null,
    ),
  );
  open.addEventListener("click", async () => {
    below.hidden = !below.hidden;
    open.setAttribute("aria-expanded", String(!below.hidden));
    if (place.childElementCount === 0) {
      const section = ledger.sections.find((/** @type {any} */ s) => s.section === row.section);
      try {
        const { entries } = await data(section.file);
        fill(place, ...(await entry(row, entries[row.id ?? ""])));
      } catch (error) {
        wrong(place, error);
      }
    }
  });
  const both = document.createDocumentFragment();
  both.append(head, below);
  return both;
}
