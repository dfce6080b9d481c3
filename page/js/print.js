// A print has what is there, opened. The button first brings up what is not there yet.

/** How long a print waits for what its folds read, ms. */
const LONGEST = 60_000;

/**
 * @param {HTMLButtonElement} button
 * @param {() => Promise<unknown>} bring brings up every section
 */
export function printing(button, bring) {
  /** @type {HTMLDetailsElement[]} */
  let closed = [];
  const open = () => {
    const folds = [...document.querySelectorAll("details")];
    const more = folds.filter((fold) => !fold.open && fold.checkVisibility());
    for (const fold of more) {
      fold.open = true;
    }
    closed.push(...more);
    return more.length > 0;
  };
  const openAll = () => {
    // What a fold holds is seen once it is open.
    while (open()) {
      // Once more.
    }
  };
  const close = () => {
    for (const fold of closed) {
      fold.open = false;
    }
    closed = [];
  };
  addEventListener("beforeprint", openAll);
  addEventListener("afterprint", close);
  button.addEventListener("click", async () => {
    const said = button.textContent;
    button.textContent = "Preparing …";
    button.disabled = true;
    await bring();
    openAll();
    await come();
    button.textContent = said;
    button.disabled = false;
    window.print();
  });
}

/** Waits until every figure and table of an open fold has come, or failed, and every section has answered. */
async function come() {
  const begun = performance.now();
  const isComing = () => document.querySelector("details[open] > .comes:empty, section[data-busy=yes]") !== null;
  while (isComing() && performance.now() - begun < LONGEST) {
    await new Promise((done) => setTimeout(done, 50));
  }
}
