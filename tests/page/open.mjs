// One browser and one built page for all tests; a page that complains on its console fails the test.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { chromium } from "playwright-core";
import { PROGRAM, run } from "./program.mjs";
import { serve } from "./serve.mjs";

/** Where screenshots go, if they are wanted. */
const SHOTS = process.env.SHOTS;

/** Why nothing can be tested here, or null. */
export const CANNOT = [process.env.CHROMIUM ?? "/usr/bin/chromium", PROGRAM].find((file) => !existsSync(file)) ?? null;

/** @type {Promise<{base: string, close: () => void, browser: import("playwright-core").Browser, own: string}> | null} */
let starting = null;

/** The page as `trapcheck page` writes it, served, and a browser. */
export function started() {
  starting ??= start();
  return starting;
}

// Here and not in `start`, where it would belong to the test that comes first.
after(async () => {
  if (starting !== null) {
    const { browser, close, own } = await starting;
    await browser.close();
    close();
    await rm(own, { recursive: true, force: true });
  }
});

async function start() {
  const own = await mkdtemp(join(tmpdir(), "trapcheck-page-"));
  const folder = join(own, "page");
  if (process.env.PAGE === undefined) {
    const { code, stderr } = await run(["page", "--out", folder]);
    assert.equal(code, 0, stderr);
  }
  const built = process.env.PAGE ?? folder;
  const server = await serve(built);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  return { base: server.base, close: server.close, browser, own };
}

/**
 * Opens the page in a fresh window, runs the test, and holds the console and every request against what is allowed.
 * @param {{hash?: string, context?: import("playwright-core").BrowserContextOptions, of?: string, missing?: RegExp}} how
 *   `of`: the address of another page than the project's; `missing`: what that one may ask for in vain
 * @param {(page: import("playwright-core").Page, base: string) => Promise<void>} test
 */
export async function onPage({ hash = "", context = {}, of, missing }, test) {
  const { base: project, browser } = await started();
  const base = of ?? project;
  const window = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...context });
  const page = await window.newPage();
  page.setDefaultTimeout(60_000);
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !missing?.test(message.location().url)) {
      complaints.push(message.text());
    }
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(base) && !request.url().startsWith("blob:")) {
      complaints.push(`asked for ${request.url()}`);
    }
  });
  page.on("response", (response) => {
    if (response.status() >= 400 && !missing?.test(response.url())) {
      complaints.push(`${response.status()} ${response.url()}`);
    }
  });
  await page.goto(base + hash);
  try {
    await test(page, base);
    complaints.push(...(await nonsense(page)));
  } finally {
    await window.close();
  }
  assert.deepEqual(complaints, []);
}

/**
 * What stands on the page where a value was not put into words.
 * @param {import("playwright-core").Page} page
 */
function nonsense(page) {
  return page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const text = walker.currentNode.textContent;
      if (/\[object|\bundefined\b|\bNaN\b/.test(text)) {
        found.push(`says ${text}`);
      }
    }
    const commands = [...document.querySelectorAll(".command code")].map((code) => code.textContent);
    return [...found, ...commands.filter((text) => !text.startsWith("trapcheck ")).map((text) => `a command: ${text}`)];
  });
}

/**
 * Waits until a section has answered.
 * @param {import("playwright-core").Page} page
 * @param {string} name
 */
export async function ready(page, name) {
  const section = page.locator(`#${name}`);
  await section.scrollIntoViewIfNeeded();
  await page.waitForSelector(`#${name}[data-ready]`, { state: "attached" });
  await settled(page, name);
  assert.equal(await section.getAttribute("data-ready"), "yes", await section.locator(".status").innerText());
  return section;
}

/**
 * Waits until nothing is being computed in a section, after a control that was changed has rested.
 * @param {import("playwright-core").Page} page
 * @param {string} name
 */
export async function settled(page, name) {
  await page.waitForTimeout(320);
  await page.waitForSelector(`#${name}:not([data-busy=yes])`, { state: "attached" });
}

/**
 * Keeps a picture of the window, or of a part of it, to be looked at.
 * @param {import("playwright-core").Page | import("playwright-core").Locator} what
 * @param {string} name
 * @param {boolean} [whole]
 */
export async function shot(what, name, whole = false) {
  if (SHOTS !== undefined) {
    await mkdir(SHOTS, { recursive: true });
    await what.screenshot({ path: join(SHOTS, `${name}.png`), ...(whole ? { fullPage: true } : {}) });
  }
}
