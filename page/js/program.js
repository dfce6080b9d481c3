// Asks the program. Each section has a worker of its own, so that none waits for another; what is asked anew there
// replaces what is still being computed.

/**
 * @typedef {object} Answered
 * @property {any} ok what was answered
 * @property {number} elapsedMs how long the program took, ms
 */

/** @typedef {(question: Record<string, unknown>, files?: import("./wasm.js").Handed[]) => Promise<Answered>} Ask */

/**
 * The modules that a worker has compiled, by name: one that starts later is given them.
 * @type {Map<string, WebAssembly.Module>}
 */
const compiled = new Map();

/**
 * Asks one question at a time. An error carries the command line's own words. A question that comes before the last
 * one is answered stops that one, which is then never answered.
 * @returns {Ask & {close: () => void}} `close` ends its worker
 */
export function asking() {
  /** @type {Worker | null} */
  let worker = null;
  /** @type {{resolve: (a: Answered) => void, reject: (e: Error) => void} | null} */
  let asked = null;
  const close = () => {
    worker?.terminate();
    worker = null;
    asked = null;
  };
  const started = () => {
    if (worker !== null) {
      return worker;
    }
    worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }) => {
      if (data.module !== undefined) {
        compiled.set(data.name, data.module);
        return;
      }
      const { answer, elapsedMs } = data;
      const who = asked;
      asked = null;
      if (answer.error === undefined) {
        who?.resolve({ ok: answer.ok, elapsedMs });
      } else {
        who?.reject(new Error(answer.error));
      }
    });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      const who = asked;
      close();
      who?.reject(new Error("the program could not be loaded"));
    });
    return worker;
  };
  /** @type {Ask} */
  const ask = (question, files = []) => {
    if (asked !== null) {
      close();
    }
    return new Promise((resolve, reject) => {
      asked = { resolve, reject };
      started().postMessage(
        { question, files, compiled },
        files.map((file) => file.bytes.buffer),
      );
    });
  };
  return Object.assign(ask, { close });
}

/** @type {Promise<any> | null} */
let listing = null;

/** The cells, workloads and protocols that are built in. */
export function lists() {
  listing ??= listed();
  return listing;
}

async function listed() {
  const ask = asking();
  const { ok } = await ask({ ask: "lists" });
  ask.close();
  return ok;
}
