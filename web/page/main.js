// The page: files in, a worker that judges them, its answer as text and as the report's own page.
import engine from "./engine.js";
import { Points, dropped } from "./points.js";

const at = id => document.getElementById(id);
const STEPS = { reading: [0, .45], drawing: [.45, .85], hashing: [.85, 1] };
// Compiled once, while somebody looks for files. It is no file of its own: to fetch one, this page would have to be allowed
// to connect to somewhere.
const packed = new Blob([Uint8Array.from(atob(engine), letter => letter.charCodeAt(0))]);
const unpacked = new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
const module = unpacked.then(bytes => WebAssembly.compile(bytes));
let worker = null, urls = [], total = 0;

const points = new Points(at("points"), at("hosts"), count => {
  at("beside").hidden = !points.hosts.length;
  at("run").disabled = !count || !!worker;
  at("clear").disabled = !count;
});

const say = words => { at("state").textContent = words; };

function busy(is) {
  at("run").disabled = is || !(points.points.length + points.hosts.length);
  at("cancel").hidden = !is;
  at("progress").hidden = !is;
  if (is) at("progress").value = 0;
}

function stop() {
  worker?.terminate();
  worker = null;
  busy(false);
}

async function run() {
  const { files, ...asked } = points.asked();
  at("result").hidden = true;
  total = files.reduce((sum, file) => sum + file.size, 0) || 1;
  worker = new Worker("worker.js", { type: "module" });
  busy(true);
  say("Reading.");
  worker.onmessage = ({ data }) => hear(data);
  worker.onerror = event => { stop(); say(`This browser cannot run the analysis: ${event.message || "it has no module workers"}.`); };
  const began = performance.now();
  worker.began = began;
  worker.postMessage({ module: await module, files, asked: { ...asked, compare: at("compare").checked, now_unix_s: Date.now() / 1000 } });
}

function hear({ kind, ...data }) {
  if (kind === "progress") {
    const [from, to] = STEPS[data.step];
    at("progress").value = from + (to - from) * Math.min(data.bytes / total, 1);
    return;
  }
  const took = ((performance.now() - worker.began) / 1000).toFixed(2);
  if (kind === "judged") {
    say(`Judged in ${took} s. The report is being drawn: the captures are read once more.`);
    return judged(data.found);
  }
  stop();
  if (kind === "failed") return say(data.why);
  say(`Done in ${took} s. Nothing has left this machine.`);
  drawn(data.page);
}

const url = (type, data) => {
  const made = URL.createObjectURL(new Blob([data], { type }));
  urls.push(made);
  return made;
};

function judged({ impact, verdict, text, json }) {
  urls.forEach((one) => URL.revokeObjectURL(one));
  urls = [];
  at("impact").textContent = impact;
  at("verdict").textContent = verdict;
  at("text").textContent = text;
  at("save-json").href = url("application/json", json);
  at("save-text").href = url("text/plain", text);
  for (const id of ["save-page", "report"]) at(id).hidden = true;
  for (const id of ["first", "result"]) at(id).hidden = false;
}

// The report says all of it again.
function drawn(page) {
  at("save-page").href = at("report").src = url("text/html", page);
  for (const id of ["save-page", "report"]) at(id).hidden = false;
  at("first").hidden = true;
}

at("files").addEventListener("change", async event => {
  // The list of an input that is emptied is empty: what was chosen is kept first.
  const chosen = [...event.target.files];
  event.target.value = "";
  await points.add(chosen);
});
at("form").addEventListener("submit", event => { event.preventDefault(); run(); });
at("cancel").addEventListener("click", () => { stop(); say("Cancelled."); });
at("clear").addEventListener("click", () => { stop(); points.clear(); at("result").hidden = true; say(""); });
addEventListener("dragover", event => { event.preventDefault(); at("drop").classList.toggle("over", points.held === null); });
addEventListener("dragleave", () => at("drop").classList.remove("over"));
addEventListener("drop", async event => {
  event.preventDefault();
  at("drop").classList.remove("over");
  if (points.held === null) await points.add(await dropped(event.dataTransfer));
});
if ("serviceWorker" in navigator) navigator.serviceWorker.register("offline.js").catch(() => {});
