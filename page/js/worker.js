// Answers questions off the page's own thread, so that a long one never stops the page.

import { asker } from "./wasm.js";

/**
 * The program's two modules: what judges dropped files is loaded with the first of them.
 * @type {Map<string, Promise<import("./wasm.js").Ask>>}
 */
const loading = new Map();

/** @param {unknown} ask */
function module(ask) {
  return ask === "judge" || ask === "sizes" ? "dropped.wasm" : "trapcheck.wasm";
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
  const name = module(question.ask);
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
