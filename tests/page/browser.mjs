// The page in a real browser: `node --test browser.mjs`, after `npm ci` and a build of the program.
//
// TRAPCHECK is the program, CHROMIUM the browser, PAGE a page that is built already, SHOTS a folder for screenshots.

import { test } from "node:test";
import { CANNOT } from "./open.mjs";

if (CANNOT === null) {
  await import("./first.mjs");
  await import("./numbers.mjs");
  await import("./controls.mjs");
  await import("./data.mjs");
  await import("./drop.mjs");
  await import("./looks.mjs");
} else {
  test("the page in a browser", { skip: `there is no ${CANNOT}` }, () => {});
}
