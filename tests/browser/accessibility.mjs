// Opens a page of `hambo report` from its file in Chromium, light and dark, 1280
// and 400 pixels wide, and fails if axe-core finds anything serious, if the page asks for
// anything from elsewhere, if it is wider than the window, or if it needs a
// script to be read.
//
// node tests/browser/accessibility.mjs report.html [folder for pictures]

import { readFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [page_path, pictures] = process.argv.slice(2);
if (!page_path) {
  console.error("usage: node accessibility.mjs report.html [folder for pictures]");
  process.exit(2);
}
if (pictures) mkdirSync(pictures, { recursive: true });
const address = pathToFileURL(resolve(page_path)).href;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({
  executablePath,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
  ],
});

const problems = [];
const views = ["light", "dark"].flatMap((colorScheme) =>
  [1280, 400].map((width) => ({
    name: `${colorScheme}-${width}`,
    colorScheme,
    viewport: { width, height: 900 },
  })),
);
for (const { name, colorScheme, viewport } of views) {
  const context = await browser.newContext({ colorScheme, viewport, offline: true });
  const page = await context.newPage();
  page.on("request", (request) => {
    if (request.url() !== address) problems.push(`${name}: asks for ${request.url()}`);
  });
  page.on("pageerror", (error) => problems.push(`${name}: ${error.message}`));
  await page.goto(address);
  const wide = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  if (wide > 0) problems.push(`${name}: ${wide} pixels wider than the window`);
  if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
  await page.evaluate(axe);
  const { violations, passes } = await page.evaluate(() => globalThis.axe.run());
  console.log(`${name}: ${passes.length} rules kept, ${violations.length} broken`);
  for (const { id, impact, help, nodes } of violations) {
    const first = nodes[0]?.html.slice(0, 160);
    const line = `${name}: ${impact} ${id}: ${help} (${nodes.length} places, first ${first})`;
    console.log(`  ${line}`);
    if (impact === "serious" || impact === "critical") problems.push(line);
  }
  await context.close();
}

// The words must be there without scripts.
const context = await browser.newContext({ javaScriptEnabled: false, offline: true });
const page = await context.newPage();
await page.goto(address);
const headings = await page.locator("h2").count();
if (headings < 4) problems.push(`without scripts: ${headings} headings`);
if (pictures) {
  await page.pdf({ path: join(pictures, "print.pdf"), format: "A4", printBackground: false });
}
await browser.close();

if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
console.log("no serious or critical finding, nothing loaded from elsewhere");
