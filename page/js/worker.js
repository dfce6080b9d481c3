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
 * @param {Record<string, unknown>} question
 * @param {import("./wasm.js").Handed[]} files
 */
function module(question, files) {
  if (question.ask !== "judge" && question.ask !== "sizes") {
    return "trapcheck.wasm";
  }
  const unread = /** @type {{name: string}[]} */ (question.files ?? []);
  return [...unread, ...files].some(({ name }) => OF_RUN.test(name)) ? "runs.wasm" : "logs.wasm";
}

/**
 * @param {string} name
 * @param {WebAssembly.Module | undefined} compiled by another worker
 */
async function load(name, compiled) {
  const module = compiled ?? (await compile(name));
  return asker((await WebAssembly.instantiate(module, {})).exports);
}

/**
 * Compiles a module and hands it to the page, for the next worker.
 * @param {string} name
 */
async function compile(name) {
  const answer = await fetch(new URL(`../${name}`, import.meta.url));
  if (!answer.ok) {
    throw new Error(`${name}: ${answer.status}`);
  }
  const module = await WebAssembly.compile(await answer.arrayBuffer());
  self.postMessage({ name, module });
  return module;
}

self.addEventListener("message", async (event) => {
  const { question, files, compiled } = event.data;
  const name = module(question, files);
  try {
    const loaded = loading.get(name) ?? load(name, compiled.get(name));
    loading.set(name, loaded);
    const ask = await loaded;
    const begun = performance.now();
    const answer = ask(question, files);
    self.postMessage({ answer, elapsedMs: performance.now() - begun });
  } catch (error) {
    // A program that stopped may have left its memory half written: the next question starts anew.
    loading.delete(name);
    self.postMessage({ answer: { error: `the program stopped: ${error}` }, elapsedMs: 0 });
  }
});
