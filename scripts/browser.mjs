// What scripts/browser does, by the DevTools protocol over a pair of pipes.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { end, listeners, send } from "./chromium.mjs";
import { within } from "./within.mjs";

const SHOT_HEIGHT = 8000;
// A small phone, a tablet, a laptop.
const WIDTHS = [360, 768, 1280];
// 184 mm.
const PAPER_WIDTH = 695;
const files = process.argv.slice(2);
let shots = null, measures = null;
while (["--shots", "--measure"].includes(files[0])) {
  const [option, value] = files.splice(0, 2);
  if (option === "--shots") shots = value;
  else measures = value;
}
// https://github.com/dequelabs/axe-core, which knows what screen readers and keyboards need.
const axe = process.env.AXE ? readFileSync(process.env.AXE, "utf8") : null;
if (!axe) console.log("skipped: no axe-core here, so that nobody looks for what screen readers need");
const measured = [];

// Runs in the page: what is asked of every table that sorts.
async function useTables() {
  const problems = [];
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  let slowest = 0;
  const boxes = [...document.querySelectorAll(".listing")];
  for (const box of boxes) {
    const table = box.querySelector("table");
    const wrong = (text) => problems.push(`${table.id}: ${text}`);
    if (!box.querySelector(".tools")) {
      if (table.tBodies[0].rows.length > 1) wrong("has no tools");
      continue;
    }
    for (const head of table.tHead.rows[0].cells) {
      const begin = performance.now();
      head.querySelector("button").click();
      slowest = Math.max(slowest, performance.now() - begin);
      const first = head.getAttribute("aria-sort");
      head.querySelector("button").click();
      if (!first || first === head.getAttribute("aria-sort")) wrong(`${head.textContent} does not sort`);
    }
    const rows = () => table.tBodies[0].rows.length;
    const all = rows();
    const search = box.querySelector("input[type=search]");
    const fill = async (text) => {
      search.value = text;
      search.dispatchEvent(new Event("input"));
      await pause(400);
    };
    await fill("no row has this in it");
    if (rows() !== 0) wrong("does not filter");
    await fill(table.tBodies[0].rows[0]?.cells[0].textContent ?? "");
    await fill("");
    if (rows() !== all) wrong("does not show all again");
    const next = [...box.querySelectorAll(".pages button")].at(-1);
    if (next && !next.disabled) {
      const before = table.tBodies[0].textContent;
      next.click();
      if (before === table.tBodies[0].textContent) wrong("does not turn the page");
    }
  }
  return { problems, tables: boxes.length, slowest: Math.round(slowest) };
}

// Runs in the page: zooms every time-sequence plot, by button, key and pointer, and asks it for frames.
async function usePlots() {
  const problems = [];
  let slowest = 0;
  for (const details of document.querySelectorAll("details.connection")) details.open = true;
  await new Promise((done) => setTimeout(done, 300));
  for (const button of document.querySelectorAll("[data-copy] button")) {
    button.click();
    // On a busy machine a clipboard takes its time.
    const copied = () => ["Copied", "Press Ctrl+C"].includes(button.textContent);
    for (let n = 0; n < 200 && !copied(); n++) await new Promise((done) => setTimeout(done, 10));
    if (!copied()) problems.push(`a filter is not copied: ${button.textContent}`);
  }
  const figures = [...document.querySelectorAll("figure[data-sequence]")];
  for (const figure of figures) {
    const svg = document.getElementById(figure.dataset.sequence);
    const wrong = (text) => problems.push(`${svg.id}: ${text}`);
    const drawn = () => [...svg.querySelectorAll(".marks > path")].map((path) => path.getAttribute("d")).join();
    const axis = () => svg.querySelector("g.time").textContent;
    const press = (key) => svg.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    const button = (name) => [...figure.querySelectorAll(".tools button")].find((one) => one.textContent === name);
    if (!button("Whole trace")) {
      wrong("has no tools");
      continue;
    }
    const lines = (text) => text.split(/[Mm]/).length;
    const before = [lines(drawn()), axis()];
    button("Whole trace").click();
    const whole = [drawn(), axis()];
    if (before[1].split(" ").length < 3 || lines(whole[0]) < before[0] / 2) wrong("is drawn otherwise by its script");
    const begin = performance.now();
    press("+");
    slowest = Math.max(slowest, performance.now() - begin);
    if (axis() === whole[1]) wrong("does not zoom");
    const zoomed = axis();
    press("ArrowRight");
    if (axis() === zoomed) wrong("does not go on");
    press("0");
    if (drawn() !== whole[0] || axis() !== whole[1]) wrong("does not show all again");
    press("n");
    const tip = figure.querySelector(".tip").getBoundingClientRect();
    const ring = svg.querySelector(".ring")?.getBoundingClientRect();
    if (!ring || Math.abs(tip.bottom - ring.top) > 60) wrong("does not say beside a frame what it is");
    if (!/frame [0-9]+: [0-9.]+ ms, bytes/.test(figure.querySelector(".tip").textContent)) wrong("does not name a frame");
    const lost = svg.querySelectorAll(".marks > path.lost:not([d=''])").length > 0;
    button("Next loss").click();
    const said = figure.querySelector(".tip").textContent;
    if (lost !== /lost|LOST/.test(said)) wrong(`says of a loss: ${said}`);
    if (/NaN|Infinity|undefined/.test(svg.innerHTML)) wrong("has no number somewhere");
    const box = svg.getBoundingClientRect();
    const point = (type, x) =>
      svg.dispatchEvent(new PointerEvent(type, { clientX: box.left + x, clientY: box.top + 60, pointerId: 1, pointerType: "mouse" }));
    svg.setPointerCapture = () => {};
    press("0");
    ["pointerdown", "pointermove", "pointerup"].forEach((type, i) => point(type, box.width * (0.4 + 0.1 * i)));
    if (axis() === whole[1]) wrong("does not zoom where it is dragged over");
  }
  return { problems, plots: figures.length, slowest: Math.round(slowest) };
}

// Runs in the page: what has to hold of every page.
function lookAround() {
  const problems = [];
  const seen = new Set();
  for (const { id } of document.querySelectorAll("[id]")) {
    if (seen.has(id)) problems.push(`the id ${id} is there twice`);
    seen.add(id);
  }
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    if (!seen.has(link.getAttribute("href").slice(1))) problems.push(`${link.href} leads nowhere`);
  }
  for (const one of document.querySelectorAll("[aria-labelledby], [aria-describedby]")) {
    const ids = `${one.getAttribute("aria-labelledby") ?? ""} ${one.getAttribute("aria-describedby") ?? ""}`;
    for (const id of ids.split(/\s+/).filter(Boolean)) if (!seen.has(id)) problems.push(`no ${id} to name ${one.id}`);
  }
  for (const svg of document.querySelectorAll("svg[role=img]")) {
    const named = ["title", "desc"].every((name) => svg.querySelector(`:scope > ${name}`)?.textContent.trim());
    if (!named) problems.push(`the drawing ${svg.id} has no title and description`);
    if (/NaN|Infinity|undefined/.test(svg.innerHTML)) problems.push(`the drawing ${svg.id} has no number somewhere`);
  }
  return problems;
}

// Runs in the page: where sections stand, and what is wider than the window.
function measure() {
  const lines = [];
  const round = (px) => Math.round(px / 10) * 10;
  const parts = document.querySelectorAll("h1, section, .impact, .story, .hop, details.connection[open] figure");
  for (const part of parts) {
    const { top, width, height } = part.getBoundingClientRect();
    const name = part.id ? `#${part.id}` : part.className ? `.${String(part.className).split(" ")[0]}` : part.localName;
    lines.push(`${part.localName === "section" ? "" : "  "}${name} at ${round(top + scrollY)}, ${round(width)} x ${round(height)}`);
  }
  return lines;
}

// Runs in the page: what stands beside a level of proof, on the side where that has no neighbour.
function hangs() {
  const levels = [...document.querySelectorAll("ol.proof li")];
  const left = (one) => parseFloat(getComputedStyle(one, "::before").left);
  return levels.some((one) => one.getBoundingClientRect().left + left(one) < 0);
}

// Runs in the page: letters of another font have other widths, and then all sizes are others.
function letters() {
  const probe = document.createElement("span");
  probe.textContent = "merged frames vanish 0123456789";
  probe.style.cssText = "position:absolute;font-size:100px;white-space:nowrap";
  document.body.append(probe);
  const width = Math.round(probe.getBoundingClientRect().width);
  probe.remove();
  return width;
}

// Runs in the page, with axe-core in it: every rule of WCAG 2.2 AA and of good practice.
async function lookWithAxe() {
  const { violations } = await axe.run(document);
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `axe ${id}: ${node.html.slice(0, 120)} ${node.failureSummary?.split("\n")[1] ?? ""}`));
}

// With scripts off all is there but what they do: pictures and filters to read.
async function withoutScripts(url, problems) {
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const tell = (method, params) => within(send(method, params, sessionId), method);
  await tell("Page.enable");
  await tell("Emulation.setScriptExecutionDisabled", { value: true });
  const loaded = new Promise((done) => listeners.add((event) => event.sessionId === sessionId && event.method === "Page.loadEventFired" && done()));
  await tell("Page.navigate", { url });
  await within(loaded, `opening ${url} without scripts`);
  const { root } = await tell("DOM.getDocument", { depth: 0 });
  const count = async (selector) => (await tell("DOM.querySelectorAll", { nodeId: root.nodeId, selector })).nodeIds.length;
  const plots = await count("figure[data-sequence]");
  if (plots !== (await count("figure[data-sequence] > .scroll > svg"))) problems.push("without scripts a plot is missing");
  if ((await count(".story")) > 0 && (await count(".story svg")) + (await count(".filters code")) < 2) problems.push("without scripts the story is missing");
  if ((await count(".tools, .filters button")) > 0) problems.push("without scripts there are buttons that do nothing");
  await send("Target.closeTarget", { targetId });
}

// Runs in the page, as it is printed: on a sheet of A4 between margins of 13 mm nothing is cut off, and what findings fold is read.
function lookAtPaper() {
  const problems = [];
  const sheet = document.documentElement.clientWidth + 1;
  for (const one of document.querySelectorAll("table, svg, pre, code")) {
    const { right, width } = one.getBoundingClientRect();
    if (width && right > sheet) problems.push(`on paper a ${one.localName} ends at ${Math.round(right)} of ${sheet} pixels: ${one.textContent.slice(0, 40)}`);
  }
  for (const one of document.querySelectorAll(".finding details")) {
    if (!one.lastElementChild.checkVisibility({ contentVisibilityAuto: true })) problems.push(`on paper "${one.querySelector("summary").textContent}" stays folded`);
  }
  for (const one of document.querySelectorAll("button:not(th button), input, select")) if (one.checkVisibility()) problems.push(`on paper there is a ${one.localName}: ${one.textContent.slice(0, 40)}`);
  return problems;
}

async function open(file) {
  if (!existsSync(file)) throw new Error(`there is no ${file}`);
  const problems = [];
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const tell = (method, params) => within(send(method, params, sessionId), method);
  const evaluate = async (script) => {
    const answer = await tell("Runtime.evaluate", { expression: script, awaitPromise: true, returnByValue: true });
    if (answer.exceptionDetails) problems.push(answer.exceptionDetails.exception?.description ?? "an exception");
    return answer.result.value;
  };
  let loaded;
  const isLoaded = new Promise((done) => (loaded = done));
  const url = pathToFileURL(resolve(file)).href;
  listeners.add((event) => {
    if (event.sessionId !== sessionId) return;
    const { method, params } = event;
    if (method === "Page.loadEventFired") loaded();
    if (method === "Runtime.exceptionThrown") problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(params.type)) problems.push(`console: ${JSON.stringify(params.args)}`);
    if (method === "Log.entryAdded" && params.entry.level !== "info") problems.push(`log: ${params.entry.text}`);
    if (method === "Network.requestWillBeSent" && params.request.url.split("#")[0] !== url) problems.push(`it fetches ${params.request.url}`);
  });
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await tell(`${domain}.enable`);
  // Plots fit themselves into a window once it has another size.
  const settled = "new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 100))";
  const size = async (width, height = 900) => {
    await tell("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await evaluate(settled);
  };
  await size(1100);
  const begin = performance.now();
  await tell("Page.navigate", { url });
  await within(isLoaded, `opening ${file}`);
  const took = Math.round(performance.now() - begin);
  if (shots) await picture(file, tell, size, evaluate);
  for (const width of WIDTHS) {
    await size(width);
    const wide = await evaluate("document.documentElement.scrollWidth");
    if (wide > width) problems.push(`it is ${wide} pixels wide in a window of ${width}`);
    const sideways = await evaluate(`[...document.querySelectorAll(".story, #path .hops")].filter((one) => one.scrollWidth > one.clientWidth + 1).length`);
    if (sideways) problems.push(`story or path is wider than a window of ${width}`);
    const cut = await evaluate(`[...document.querySelectorAll("pre, caption")].filter((one) => one.scrollWidth > one.clientWidth + 1 || one.getBoundingClientRect().right > ${width}).map((one) => one.textContent.slice(0, 40))`);
    for (const text of cut ?? []) problems.push(`a command or caption does not fit a window of ${width}: ${text}`);
    const hanging = await evaluate(`(${hangs})()`);
    if (hanging) problems.push(`an arrow between levels of proof hangs out of a window of ${width}`);
    if (!measured.length) measured.push(`letters ${await evaluate(`(${letters})()`)}`);
    measured.push(`${basename(file)} in ${width} pixels`, ...((await evaluate(`(${measure})()`)) ?? []));
    if (axe) {
      for (const theme of ["light", "dark"]) {
        await tell("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] });
        await evaluate(axe);
        for (const found of (await evaluate(`(${lookWithAxe})()`)) ?? []) problems.push(`${width}, ${theme}: ${found}`);
      }
      await tell("Emulation.setEmulatedMedia", { features: [] });
    }
  }
  await withoutScripts(url, problems);
  problems.push(...((await evaluate(`(${lookAround})()`)) ?? []));
  await size(WIDTHS[0]);
  const used = (await evaluate(`(${useTables})()`)) ?? { problems: [], tables: 0, slowest: 0 };
  problems.push(...used.problems);
  await size(1100);
  const plots = (await evaluate(`(${usePlots})()`)) ?? { problems: [], plots: 0, slowest: 0 };
  problems.push(...plots.problems);
  await size(PAPER_WIDTH);
  await tell("Emulation.setEmulatedMedia", { media: "print" });
  await evaluate(settled);
  problems.push(...((await evaluate(`(${lookAtPaper})()`)) ?? []));
  await send("Target.closeTarget", { targetId });
  console.log(`${file}: opened in ${took} ms, ${used.tables} tables used (a sort takes ${used.slowest} ms at most), ${plots.plots} plots zoomed (${plots.slowest} ms at most), ${problems.length} problems`);
  for (const problem of problems) console.log(`  ${problem.slice(0, 300)}`);
  return problems.length === 0;
}

async function picture(file, tell, size, evaluate) {
  mkdirSync(shots, { recursive: true });
  for (const theme of ["light", "dark"]) {
    await tell("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] });
    for (const width of WIDTHS) {
      await size(width);
      const height = Math.min(await evaluate("document.documentElement.scrollHeight"), SHOT_HEIGHT);
      const clip = { x: 0, y: 0, width, height, scale: 1 };
      const { data } = await tell("Page.captureScreenshot", { clip, captureBeyondViewport: true });
      writeFileSync(join(shots, `${basename(file, ".html")}-${theme}-${width}.png`), Buffer.from(data, "base64"));
    }
  }
  await tell("Emulation.setEmulatedMedia", { features: [] });
}

let good = files.length > 0;
try {
  for (const file of files) good = (await open(file)) && good;
} catch (error) {
  console.log(`error: ${error.message}`);
  good = false;
}
if (measures && good) writeFileSync(measures, measured.join("\n") + "\n");
end(good);
