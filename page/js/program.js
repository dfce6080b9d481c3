// Asks the program, which runs in a worker that starts with the first question.

/**
 * @typedef {object} Answered
 * @property {any} ok what was answered
 * @property {number} elapsedMs how long the program took, ms
 */

/** @type {Worker | null} */
let worker = null;
let last = 0;
/** @type {Map<number, {resolve: (a: Answered) => void, reject: (e: Error) => void}>} */
const waiting = new Map();

function started() {
  if (worker === null) {
    worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }) => {
      const who = waiting.get(data.id);
      waiting.delete(data.id);
      if (data.answer.error === undefined) {
        who?.resolve({ ok: data.answer.ok, elapsedMs: data.elapsedMs });
      } else {
        who?.reject(new Error(data.answer.error));
      }
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      for (const who of waiting.values()) {
        who.reject(new Error("the program could not be loaded"));
      }
      waiting.clear();
      worker = null;
    });
  }
  return worker;
}

/**
 * Asks one question. An error carries the command line's own words.
 * @param {Record<string, unknown>} question
 * @param {import("./wasm.js").Handed[]} [files]
 * @returns {Promise<Answered>}
 */
export function ask(question, files = []) {
  last += 1;
  const id = last;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    started().postMessage(
      { id, question, files },
      files.map((file) => file.bytes.buffer),
    );
  });
}

/** @type {Promise<any> | null} */
let listing = null;

/** The cells, workloads and protocols that are built in. */
export function lists() {
  listing ??= ask({ ask: "lists" }).then((answer) => answer.ok);
  return listing;
}
