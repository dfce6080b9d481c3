// Answers questions off the page's own thread, so that a long one never stops the page.

import { asker } from "./wasm.js";

/** @type {Promise<import("./wasm.js").Ask> | null} */
let loading = null;

async function load() {
  const address = new URL("../trapcheck.wasm", import.meta.url);
  const answer = await fetch(address);
  if (!answer.ok) {
    throw new Error(`trapcheck.wasm: ${answer.status}`);
  }
  const { instance } = await WebAssembly.instantiate(await answer.arrayBuffer(), {});
  return asker(instance.exports);
}

self.addEventListener("message", async (event) => {
  const { id, question, files } = event.data;
  try {
    loading ??= load();
    const ask = await loading;
    const begun = performance.now();
    const answer = ask(question, files);
    self.postMessage({ id, answer, elapsedMs: performance.now() - begun });
  } catch (error) {
    // A program that stopped may have left its memory half written: the next question starts anew.
    loading = null;
    self.postMessage({ id, answer: { error: `the program stopped: ${error}` }, elapsedMs: 0 });
  }
});
