// Answers questions off the page's own thread, so that a long one never stops the page.

import { asker } from "./wasm.js";

/**
 * The program's modules, each loaded with the first question that it answers.
 * @type {Map<string, Promise<import("./wasm.js").Ask>>}
 */
const loading = new Map();

/** A file that makes its folder a run directory. */
const OF_RUN = /(^|\/)(meta|started)\.json$/;

/**
 * Which module answers: one judges run directories, one other files that are dropped.
 * @param {unknown} ask
 * @param {import("./wasm.js").Handed[]} files
 */
function module(ask, files) {
  if (ask !== "judge") {
    return "trapcheck.wasm";
  }
  return files.some(({ name }) => OF_RUN.test(name)) ? "runs.wasm" : "logs.wasm";
}

/** @param {string} name */
async function load(name) {
  const answer = await fetch(new URL(`../${name}`, import.meta.url));
  if (!answer.ok) {
    throw new Error(`${name}: ${answer.status}`);
  }
  const { instance } = await WebAssembly.instantiate(await answer.arrayBuffer(), {});
  return asker(instance.exports);
}

self.addEventListener("message", async (event) => {
  const { id, question, files } = event.data;
  const name = module(question.ask, files);
  try {
    const loaded = loading.get(name) ?? load(name);
    loading.set(name, loaded);
    const ask = await loaded;
    const begun = performance.now();
    const answer = ask(question, files);
    self.postMessage({ id, answer, elapsedMs: performance.now() - begun });
  } catch (error) {
    // A program that stopped may have left its memory half written: the next question starts anew.
    loading.delete(name);
    self.postMessage({ id, answer: { error: `the program stopped: ${error}` }, elapsedMs: 0 });
  }
});
