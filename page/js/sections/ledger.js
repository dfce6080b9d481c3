// Every published number beside ours, by text, section, status and cause.

import * as address from "../address.js";
import { showCommand } from "../command.js";
import { data, part } from "../data.js";
import { fill, h, one } from "../dom.js";
import { bind, offer } from "../form.js";
import { wrong } from "../notice.js";
import { opened } from "../opened.js";
import { entry } from "./entry.js";

/** How many rows are shown before one asks for more. */
const PAGE = 40;

/** How many are shown, in the address. */
const MOST = "ledger.most";

/** What a text is looked for in, as `trapcheck numbers list --grep` does. */
const SEARCHED = ["id", "statement", "place", "because", "published", "ours"];

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
  const controls = /** @type {HTMLFormElement} */ (one(root, "form"));
  const form = bind(controls, () => show());
  controls.addEventListener("input", () => address.set(MOST, ""));
  const open = opened("ledger");
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
  choices(root, "cause", counted(rows.filter(differs).map(cause)));
  const texts = new Map(rows.map((row) => [row, SEARCHED.map((key) => row[key]?.toLowerCase() ?? "")]));

  function show() {
    const wanted = words(form);
    const found = rows.filter(
      (row) =>
        ["section", "status"].every((key) => form.text(key) === "" || row[key] === form.text(key)) &&
        (form.text("cause") === "" || (differs(row) && cause(row) === form.text("cause"))) &&
        wanted.every((word) => texts.get(row)?.some((text) => text.includes(word.toLowerCase()))),
    );
    const asked = Number(address.get(MOST));
    const most = asked > 0 ? asked : PAGE;
    const rest = found.slice(most).filter((row) => open.names().has(row.id ?? ""));
    const shown = [...found.slice(0, most), ...rest];
    fill(one(root, "tbody"), ...shown.map((row) => line(row, ledger, open)));
    showCommand(one(root, ".commands"), [command(form, wanted)]);
    const more = one(root, "#ledger-more");
    more.hidden = found.length <= most;
    more.onclick = () => {
      address.set(MOST, String(most + PAGE));
      show();
    };
    more.textContent = `Show ${Math.min(PAGE, found.length - most)} more of ${found.length - most}`;
    const stale = ledger.current ? "" : ` Not current: ${ledger.differences.join("; ")}.`;
    one(root, ".status").textContent = `${found.length} of ${rows.length} numbers.${stale}`;
  }
  address.onChange(show);
  show();
}

/**
 * The words that are all looked for.
 * @param {import("../form.js").Form} form
 */
function words(form) {
  return form
    .text("text")
    .split(/\s+/)
    .filter((word) => word !== "");
}

/** @param {Row} row */
function differs(row) {
  return row.status === "differs";
}

/** @param {Row} row */
function cause(row) {
  return row.cause || "unknown";
}

/**
 * The command line that lists the same numbers.
 * @param {import("../form.js").Form} form
 * @param {string[]} wanted
 */
function command(form, wanted) {
  const chosen = ["status", "section", "cause"].filter((key) => form.text(key) !== "");
  const flags = [...chosen.map((key) => [key, form.text(key)]), ...wanted.map((word) => ["grep", word])];
  return ["trapcheck numbers list", ...flags.map(([flag, value]) => `--${flag}=${quoted(value ?? "")}`)].join(" ");
}

/**
 * A word that a shell takes literally.
 * @param {string} word
 */
function quoted(word) {
  return /^[\w\-./=,:+@]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
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
 * @param {ReturnType<typeof opened>} inAddress
 */
function line(row, ledger, inAddress) {
  const open = h("button", { type: "button", "aria-expanded": "false", class: "open" }, row.statement);
  const place = h("td", { colspan: 6 });
  const below = h("tr", { class: "opened", hidden: true }, place);
  const head = h(
    "tr",
    { "data-id": row.id },
    h("th", { scope: "row" }, open, h("span", { class: "place" }, row.place)),
    h("td", { class: "number", "data-label": "published" }, row.published),
    h("td", { class: "number", "data-label": "ours" }, row.ours, ...made(row)),
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
  const turn = async () => {
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
  };
  open.addEventListener("click", () => {
    turn();
    inAddress.set(row.id ?? "", !below.hidden);
  });
  if (inAddress.names().has(row.id ?? "")) {
    turn();
  }
  const both = document.createDocumentFragment();
  both.append(head, below);
  return both;
}

/**
 * What ours rests on, where that is no engine's run.
 * @param {Row} row
 */
function made(row) {
  const basis = row.basis ?? "";
  return [
    basis.includes("simulated") ? h("span", { class: "source simulated" }, "SIMULATED") : null,
    basis.includes("model") ? h("span", { class: "source model" }, "MODEL") : null,
  ];
}
