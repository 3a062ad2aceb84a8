// The page: files in, a worker that judges them, its answer as text and as the report's own page.
import engine from "./engine.js";
import { Points, alone, dropped } from "./points.js";

/**
 * What a worker tells.
 * @typedef {{ kind: "progress", step: "reading" | "drawing" | "hashing", bytes: number }} Progress
 * @typedef {{ impact: string, verdict: string, warnings: string[], text: string }} Found
 * @typedef {Progress | { kind: "judged", found: Found } | { kind: "written", json: string } | { kind: "done", page: string } | { kind: "failed", why: string }} Told
 */

/**
 * An element by its id, and of its kind.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} kind
 * @returns {T}
 */
function at(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new TypeError(`there is no ${id}`);
  return found;
}
const [run, cancel, clear] = ["run", "cancel", "clear"].map(id => at(id, HTMLButtonElement));
const [impact, verdict, state] = ["impact", "verdict", "state"].map(id => at(id, HTMLParagraphElement));
const [savePage, saveJson, saveText] = ["save-page", "save-json", "save-text"].map(id => at(id, HTMLAnchorElement));
const [beside, first] = ["beside", "first"].map(id => at(id, HTMLDivElement));
const form = at("form", HTMLFormElement), drop = at("drop", HTMLLabelElement), chooser = at("files", HTMLInputElement);
const progress = at("progress", HTMLProgressElement), result = at("result", HTMLElement), text = at("text", HTMLPreElement);
const report = at("report", HTMLIFrameElement);

const STEPS = { reading: [0, .45], drawing: [.45, .85], hashing: [.85, 1] };
// Compiled once, while somebody looks for files.
const module = compiled();
// Whoever asks is told, not the console.
module.catch(() => {});
// A worker made of a blob has the policy of this page, and so may connect to nothing either. One made of a file has the policy
// that its own answer names: the page's keeper names it, most web servers name none.
const BLOB = URL.createObjectURL(new Blob([`import ${JSON.stringify(new URL("worker.js", location.href).href)};`], { type: "text/javascript" }));
// Nobody where the page is sent without TLS to another machine, nor in some private windows.
/** @type {ServiceWorkerContainer | undefined} */
const keeper = navigator.serviceWorker;
/** @type {Worker | null} */
let worker = null;
/** @type {Worker | null} */
let reader = null;
/** @type {string[]} */
let urls = [];
let total = 0, began = 0, warnings = "";

// It is no file of its own: to fetch one, this page would have to be allowed to connect to somewhere.
async function compiled() {
  const packed = new Blob([bytesOf(atob(engine))]).stream();
  return WebAssembly.compile(await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

/**
 * One by one: `Uint8Array.from` makes a list of all of them first, 90 MB that the tab then keeps.
 * @param {string} letters
 */
function bytesOf(letters) {
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = letters.charCodeAt(at);
  return bytes;
}

const points = new Points(at("points", HTMLOListElement), at("hosts", HTMLUListElement), count => {
  beside.hidden = !points.hosts.length;
  run.disabled = !count || !!worker;
  clear.disabled = !count;
}, say);

/** @returns {string} */
const asKind = () => new FormData(form).get("kind")?.toString() ?? "path";

/** @param {string} words */
function say(words) { state.textContent = words; }

// What was not read is told beside that all is done: the rest is in the text and in the report.
const WARNINGS = 3;
/** @param {string[]} warnings */
function warned(warnings) {
  const more = warnings.length - WARNINGS;
  const lines = warnings.slice(0, WARNINGS).map(warning => `Warning: ${warning}`);
  return [...lines, ...(more > 0 ? [`${more} more warnings are in the text.`] : [])].map(line => `\n${line}`).join("");
}

/** @param {boolean} is */
function busy(is) {
  run.disabled = is || !(points.points.length + points.hosts.length);
  cancel.hidden = !is;
  progress.hidden = !is;
  if (is) progress.value = 0;
}

function stop() {
  worker?.terminate();
  reader?.terminate();
  worker = reader = null;
  busy(false);
}

async function analyse() {
  const { files, ...asked } = points.asked(), kind = asKind();
  result.hidden = true;
  total = files.reduce((sum, file) => sum + file.size, 0) || 1;
  began = performance.now();
  busy(true);
  say("Reading.");
  try {
    begin({ module: await module, files, asked: { ...asked, compare: kind === "compare", by_interface: kind === "interfaces", now_unix_s: Date.now() / 1000 } });
  } catch (error) {
    unable(error instanceof Error ? error.message : String(error));
  }
}

/** @param {string} why */
function unable(why) {
  stop();
  say(`This browser cannot run the analysis: ${why}.`);
}

/**
 * Somebody who reads files ahead, by the port that is returned, where workers may share memory.
 * @param {File[]} files
 */
function readAhead(files) {
  if (!crossOriginIsolated) return null;
  const { port1: port, port2: asks } = new MessageChannel();
  reader = new Worker("ahead.js", { type: "module" });
  reader.postMessage({ files, port }, [port]);
  return asks;
}

/** @param {{ files: File[] } & Record<string, unknown>} asked */
function begin(asked) {
  // Cancelled, while the engine was still being compiled.
  if (cancel.hidden) return;
  worker?.terminate();
  reader?.terminate();
  // Of a blob Firefox asks the server for modules, and not the keeper, whose modules are those of this very page.
  const own = worker = new Worker(keeper?.controller ? "worker.js" : BLOB, { type: "module" });
  // Of one that was ended something may still be on its way.
  own.onmessage = ({ data }) => { if (worker === own) hear(data); };
  own.onerror = event => { if (worker === own) unable(event.message || "it has no module workers"); };
  const ahead = readAhead(asked.files);
  own.postMessage({ ...asked, ahead }, ahead ? [ahead] : []);
}

/** @param {Told} told */
function hear(told) {
  if (told.kind === "progress") {
    const [from, to] = STEPS[told.step];
    progress.value = from + (to - from) * Math.min(told.bytes / total, 1);
    return;
  }
  const took = ((performance.now() - began) / 1000).toFixed(2);
  if (told.kind === "judged") {
    warnings = warned(told.found.warnings);
    say(`Judged in ${took} s. The report is being drawn: the captures are read once more.${warnings}`);
    return judged(told.found);
  }
  if (told.kind === "written") {
    saveJson.href = url("application/json", told.json);
    saveJson.hidden = false;
    return;
  }
  stop();
  if (told.kind === "failed") return say(told.why);
  say(`Done in ${took} s. Nothing has left this machine.${warnings}`);
  drawn(told.page);
}

/** @param {string} type @param {string} data */
function url(type, data) {
  const made = URL.createObjectURL(new Blob([data], { type }));
  urls.push(made);
  return made;
}

/** @param {Found} found */
function judged(found) {
  urls.forEach(one => URL.revokeObjectURL(one));
  urls = [];
  impact.textContent = found.impact;
  verdict.textContent = found.verdict;
  text.textContent = found.text;
  saveText.href = url("text/plain", found.text);
  savePage.hidden = saveJson.hidden = report.hidden = true;
  first.hidden = result.hidden = false;
}

/**
 * The report says all of it again.
 * @param {string} page
 */
function drawn(page) {
  savePage.href = report.src = url("text/html", page);
  savePage.hidden = report.hidden = false;
  first.hidden = true;
}

/** @param {Promise<import("./points.js").Given[]>} files */
async function take(files) {
  try {
    await points.add(await files);
  } catch (error) {
    say(`What was dropped cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

chooser.addEventListener("change", () => {
  // The list of an input that is emptied is empty: what was chosen is kept first.
  const chosen = [...(chooser.files ?? [])].map(alone);
  chooser.value = "";
  take(Promise.resolve(chosen));
});
form.addEventListener("submit", event => { event.preventDefault(); analyse(); });
cancel.addEventListener("click", () => { stop(); say("Cancelled."); });
clear.addEventListener("click", () => { stop(); points.clear(); result.hidden = true; say(""); });
addEventListener("dragover", event => { event.preventDefault(); drop.classList.toggle("over", points.held === null); });
addEventListener("dragleave", () => drop.classList.remove("over"));
addEventListener("drop", event => {
  event.preventDefault();
  drop.classList.remove("over");
  if (points.held === null && event.dataTransfer) take(dropped(event.dataTransfer));
});
if (keeper) kept(keeper);

/**
 * The page is kept for later. What is kept is apart from all other pages, so that its workers may share memory: the first visit begins anew
 * with that, unless somebody has begun to use the page.
 * @param {ServiceWorkerContainer} keeper
 */
function kept(keeper) {
  let isUsed = false;
  for (const sign of ["pointerdown", "keydown", "dragenter", "change"]) addEventListener(sign, () => { isUsed = true; });
  if (!keeper.controller && !crossOriginIsolated) keeper.addEventListener("controllerchange", () => isUsed || location.reload(), { once: true });
  keeper.register("offline.js").catch(() => {});
}
