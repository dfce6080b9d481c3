// Dark and light, a phone, the keyboard, contrast, less motion, and a print.

import assert from "node:assert/strict";
import { test } from "node:test";
import { onPage, ready, shot } from "./open.mjs";

const SECTIONS = ["trap", "engines", "calculator", "scales", "knee", "law", "figures", "ledger", "tests", "drop"];

/**
 * Every text that is too weak against what is behind it, by WCAG's contrast ratio (AA: 4.5, large text 3).
 * @param {import("playwright-core").Page} page
 */
function weak(page) {
  return page.evaluate(() => {
    const channel = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgba = (colour) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
    const behind = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const colour = rgba(getComputedStyle(at).backgroundColor);
        if (colour[3] === 255) {
          return colour;
        }
      }
      return [255, 255, 255, 255];
    };
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = new Set();
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      const text = walker.currentNode.textContent.trim();
      if (
        text === "" ||
        element.closest("noscript, option, title, script") ||
        !element.checkVisibility({ visibilityProperty: true })
      ) {
        continue;
      }
      const style = getComputedStyle(element);
      const colour = rgba(element instanceof SVGElement ? style.fill : style.color);
      const [a, b] = [light(colour), light(behind(element))].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < (Number.parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) {
        found.add(`${ratio.toFixed(2)} ${element.localName}.${element.getAttribute("class")}: ${text.slice(0, 40)}`);
      }
    }
    return [...found];
  });
}

for (const theme of ["light", "dark"]) {
  test(`every text is readable in ${theme} colours`, async () => {
    await onPage({ context: { colorScheme: theme } }, async (page) => {
      assert.equal(await page.locator("html").getAttribute("data-theme"), theme);
      for (const name of SECTIONS) {
        await ready(page, name);
      }
      assert.deepEqual(await weak(page), []);
      await page.locator("#trap").scrollIntoViewIfNeeded();
      await shot(page, `whole-${theme}`, true);
    });
  });
}

test("the page fits a phone, and shows everything there", async () => {
  await onPage(
    { context: { viewport: { width: 390, height: 844 }, colorScheme: "light", hasTouch: true, isMobile: true } },
    async (page) => {
      for (const name of SECTIONS) {
        await ready(page, name);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= 390, `${name} makes the page ${wide} px wide`);
      }
      await shot(page, "whole-phone", true);
    },
  );
});

test("the button turns the colours, and the address keeps them", async () => {
  await onPage({ context: { colorScheme: "light" } }, async (page) => {
    await page.locator("#theme").click();
    assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
    assert.match(page.url(), /theme=dark/);
    await page.reload();
    assert.equal(await page.locator("html").getAttribute("data-theme"), "dark");
  });
});

test("every control is reached by the keyboard, in order, and is seen to be reached", async () => {
  await onPage({ hash: "#engines" }, async (page) => {
    await ready(page, "engines");
    const wanted = await page.locator("header a, header button, #engines form :is(input, select, button)").count();
    await page.evaluate(() => document.querySelector(".skip").focus());
    const reached = new Set();
    for (let i = 0; i < wanted + 30; i += 1) {
      await page.keyboard.press("Tab");
      const at = await page.evaluate(() => {
        const element = document.activeElement;
        const ring = getComputedStyle(element).outlineStyle !== "none";
        const inside = element.matches("header a, header button, #engines form :is(input, select, button)");
        return { inside, ring, who: element.id || element.name || element.textContent };
      });
      if (at.inside) {
        assert.ok(at.ring, `${at.who} has no ring`);
        reached.add(at.who);
      }
    }
    assert.equal(reached.size, wanted);
  });
});

test("where less motion is asked for, nothing plays and nothing scrolls by itself", async () => {
  await onPage({ context: { reducedMotion: "reduce" } }, async (page) => {
    await ready(page, "engines");
    assert.equal(await page.locator("#engines-play").isVisible(), false);
    assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior), "auto");
  });
});

test("a print has the answers, in dark ink, and no controls", async () => {
  await onPage({ context: { colorScheme: "dark" } }, async (page) => {
    await ready(page, "calculator");
    await page.emulateMedia({ media: "print" });
    assert.equal(await page.locator("header").isVisible(), false);
    assert.equal(await page.locator("#calculator form").isVisible(), false);
    assert.equal(await page.locator("#calculator .answers table").first().isVisible(), true);
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    assert.ok((await page.pdf()).length > 10_000);
  });
});

test("each section has a heading, each control a name, each picture words", async () => {
  await onPage({}, async (page) => {
    for (const name of SECTIONS) {
      await ready(page, name);
    }
    const nameless = await page.evaluate(() => {
      const controls = [...document.querySelectorAll("input, select, button")].filter(
        (c) => !(c.labels?.length || c.textContent.trim() || c.getAttribute("aria-label")),
      );
      const pictures = [...document.querySelectorAll("svg.chart")].filter((svg) => !svg.getAttribute("aria-label"));
      const sections = [...document.querySelectorAll("section")].filter(
        (s) => !document.getElementById(s.getAttribute("aria-labelledby")),
      );
      return [...controls, ...pictures, ...sections].map((e) => e.outerHTML.slice(0, 100));
    });
    assert.deepEqual(nameless, []);
  });
});
