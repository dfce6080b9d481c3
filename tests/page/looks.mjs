// Dark and light, a phone, the keyboard, contrast, less motion, and a print.

import assert from "node:assert/strict";
import { test } from "node:test";
import { onPage, ready, shot } from "./open.mjs";

const SECTIONS = ["trap", "engines", "calculator", "scales", "knee", "law", "figures", "tables", "ledger", "tests", "drop"];

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

/** Every look of a line, a point or a bar that style.css names, and how it stands out from the paper. */
function faint(page) {
  return page.evaluate(() => {
    const channel = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const paper = getComputedStyle(document.body).backgroundColor;
    const light = (colour, opacity) => {
      canvas.globalAlpha = 1;
      canvas.fillStyle = paper;
      canvas.fillRect(0, 0, 1, 1);
      canvas.globalAlpha = Number(opacity);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b] = canvas.getImageData(0, 0, 1, 1).data;
      return 0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
    };
    const svg = document.body.appendChild(document.createElementNS("http://www.w3.org/2000/svg", "svg"));
    const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
    const looks = rules
      .flatMap((rule) => (rule.selectorText ?? "").split(","))
      .filter((selector) => /^\.(line|point|bar)(\.[\w-]+)+$/.test(selector.trim()));
    const weak = looks.flatMap((selector) => {
      const mark = document.createElementNS("http://www.w3.org/2000/svg", "path");
      mark.setAttribute("class", selector.trim().slice(1).replaceAll(".", " "));
      svg.append(mark);
      const style = getComputedStyle(mark);
      const strokes = style.stroke === "none" ? [] : [light(style.stroke, style.strokeOpacity)];
      const fills = style.fill === "none" ? [] : [light(style.fill, style.fillOpacity)];
      const behind = light(paper, 1);
      const ratio = Math.max(
        ...[...strokes, ...fills].map((own) => (Math.max(own, behind) + 0.05) / (Math.min(own, behind) + 0.05)),
      );
      return ratio < 3 ? [`${selector} ${ratio.toFixed(2)}`] : [];
    });
    svg.remove();
    return { weak, looks: looks.length };
  });
}

for (const theme of ["light", "dark"]) {
  test(`every line, point and bar stands out in ${theme} colours`, async () => {
    await onPage({ context: { colorScheme: theme } }, async (page) => {
      const { weak, looks } = await faint(page);
      assert.ok(looks > 15, `${looks} looks`);
      assert.deepEqual(weak, []);
    });
  });

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

test("the button prints everything, opened: every section answered, every fold and figure there", async () => {
  await onPage({}, async (page) => {
    await page.evaluate(() => {
      window.print = () => {
        dispatchEvent(new Event("beforeprint"));
        window.printed = {
          text: document.querySelector("main").innerText,
          closed: [...document.querySelectorAll("details:not([open])")].filter((fold) => fold.checkVisibility()).length,
          folds: document.querySelectorAll("details[open]").length,
          figures: document.querySelectorAll("[data-figure]").length,
          drawn: document.querySelectorAll("[data-figure] svg[role=img]").length,
          tables: document.querySelectorAll("[data-derived]").length,
          read: document.querySelectorAll("[data-derived] table").length,
        };
        dispatchEvent(new Event("afterprint"));
      };
    });
    await page.locator("#trap[data-ready]").waitFor();
    await page.locator("#print").click();
    await page.waitForFunction(() => window.printed !== undefined);
    const { text, closed, folds, figures, drawn, tables, read } = await page.evaluate(() => window.printed);
    assert.doesNotMatch(text, /waits until it is looked at|reading …|simulating|computing/);
    assert.equal(closed, 0);
    assert.ok(figures > 0 && folds > figures);
    assert.equal(drawn, figures);
    assert.ok(tables > 0);
    assert.equal(read, tables);
    assert.equal(await page.locator("details[open]").count(), 0, "what a print opened is closed again");
    assert.doesNotMatch(page.url(), /open=/);
    await page.locator("#print", { hasText: /^Print$/ }).waitFor();
  });
});

test("a browser's own print opens what is there, and says of a section that it was not brought up", async () => {
  await onPage({ hash: "#calculator" }, async (page) => {
    await ready(page, "calculator");
    await page.evaluate(() => {
      document.querySelector("#figures .figures").innerHTML = "<details><summary>a</summary>b</details>";
      addEventListener("beforeprint", () => {
        window.opened = document.querySelectorAll("#figures details[open]").length;
      });
    });
    await page.emulateMedia({ media: "print" });
    await page.pdf();
    assert.equal(await page.evaluate(() => window.opened), 1);
    assert.equal(await page.locator("#figures details[open]").count(), 0);
    const after = await page.evaluate(() => getComputedStyle(document.querySelector("#tests .status"), "::after").content);
    assert.match(after, /Print/);
  });
});

test("a chart's values are read by the keyboard", async () => {
  await onPage({ hash: "#calculator" }, async (page) => {
    await ready(page, "trap");
    const chart = page.locator("#trap svg.chart");
    await chart.focus();
    await page.keyboard.press("Home");
    const first = await chart.getAttribute("aria-valuetext");
    assert.match(first, /^time since start of run \(s\): 0; /);
    assert.equal(await page.locator("#trap .readout").isVisible(), true);
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("ArrowRight");
    const later = await chart.getAttribute("aria-valuetext");
    assert.notEqual(later, first);
    assert.ok(Number(await chart.getAttribute("aria-valuenow")) > 0);
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("#trap .readout").isVisible(), false);
    const section = await ready(page, "calculator");
    await section.locator("svg.chart").first().focus();
    assert.match(await section.locator("svg.chart").first().getAttribute("aria-valuetext"), /turn \d+: share/);
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
