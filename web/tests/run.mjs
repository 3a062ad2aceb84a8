// The page in headless Chromium: node web/tests/run.mjs DIR PROGRAM FOLDER...
//
// DIR is what scripts/web built, PROGRAM the command, each FOLDER holds the captures of a path. They are given to the page
// through its own file input, alone and beside what hosts printed: its JSON must be the program's, no request may leave the
// page while it works, what is neither gives clear words, names are text, and Cancel ends an analysis.
import { execFileSync } from "node:child_process";
import { createReadStream, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, extname, join, resolve } from "node:path";
import { end, listeners, send, within } from "../../scripts/chromium.mjs";

const [dir, given, ...folders] = process.argv.slice(2), program = resolve(given);
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
const server = createServer((request, response) => {
  const path = join(dir, request.url === "/" ? "index.html" : new URL(request.url, "http://x").pathname);
  if (!existsSync(path)) return response.writeHead(404).end();
  response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" });
  createReadStream(path).pipe(response);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const url = `http://127.0.0.1:${server.address().port}/`;

const problems = [];
const { targetId } = await send("Target.createTarget", { url: "about:blank" });
const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
const tell = (method, params) => within(send(method, params, sessionId), method);
const requests = [];
listeners.add(({ method, params }) => {
  if (method === "Network.requestWillBeSent") requests.push(params.request.url);
  if (method === "Runtime.exceptionThrown") problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
  if (method === "Log.entryAdded" && params.entry.level === "error") problems.push(`log: ${params.entry.text}`);
});
for (const domain of ["Page", "Runtime", "Log", "Network", "DOM"]) await tell(`${domain}.enable`);
// Workers too: what they fetch is seen like the page's own.
await tell("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: true });
listeners.add(({ method, params }) => {
  if (method === "Target.attachedToTarget") send("Network.enable", {}, params.sessionId).catch(() => {});
});
const evaluate = async (expression) => {
  const { result, exceptionDetails } = await tell("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? "an exception");
  return result.value;
};
const loaded = new Promise((done) => listeners.add(({ method }) => method === "Page.loadEventFired" && done()));
await tell("Page.navigate", { url });
await within(loaded, "the page");
await within(evaluate("navigator.serviceWorker.ready.then(() => true)"), "the service worker");

async function analyse(files, meanwhile = () => {}) {
  const { root } = await tell("DOM.getDocument", { depth: 0 });
  const { nodeId } = await tell("DOM.querySelector", { nodeId: root.nodeId, selector: "#files" });
  await evaluate("document.getElementById('clear').click()");
  await tell("DOM.setFileInputFiles", { nodeId, files });
  // The page looks into each file before it can be asked.
  await within(evaluate(`new Promise((done) => {
    const look = () => document.getElementById("run").disabled ? setTimeout(look, 5) : done(true);
    look();
  })`), "the files");
  meanwhile();
  const before = requests.length;
  const done = evaluate(`new Promise((done) => {
    document.getElementById("run").click();
    const began = performance.now();
    let judged = 0;
    const look = () => {
      if (!judged && !document.getElementById("result").hidden) judged = performance.now() - began;
      if (document.getElementById("cancel").hidden) done([document.getElementById("state").textContent, judged]);
      else setTimeout(look, 5);
    };
    setTimeout(look, 5);
  })`);
  const [state, took] = await within(done, "the analysis");
  const outside = requests.slice(before).filter((one) => !one.startsWith("blob:") && !one.startsWith(url));
  if (outside.length) problems.push(`requests: ${outside}`);
  const json = await evaluate(`document.getElementById("result").hidden ? null : fetchText("save-json")`);
  return { state, took, json: json && JSON.parse(json) };
}
// Where two documents differ first.
function difference(a, b, path = "") {
  if (typeof a !== "object" || typeof b !== "object" || !a || !b) return a === b ? null : `${path}: ${JSON.stringify(a)} and not ${JSON.stringify(b)}`;
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = difference(a[key], b[key], `${path}.${key}`);
    if (found) return found;
  }
  return null;
}

// A page that may connect to nothing cannot fetch even its own blobs: a link to one is read by the test's own hook.
await evaluate(`{
  const blobs = new Map(), make = URL.createObjectURL;
  URL.createObjectURL = (blob) => { const made = make(blob); blobs.set(made, blob); return made; };
  globalThis.fetchText = (id) => blobs.get(document.getElementById(id).href).text();
}`);

function ofProgram(folder, asked) {
  try {
    return JSON.parse(execFileSync(program, [...asked, "--format", "json"], { cwd: folder, stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 30 }));
  } catch (error) {
    return error.stdout?.length ? JSON.parse(error.stdout) : null;
  }
}

const capturesIn = (folder) => readdirSync(folder).filter((name) => /\.(pcap|pcapng|cap)(\.gz|\.zst)?$/.test(name)).sort();
// Captures as trace judges them, or beside what hosts printed as diagnose does.
const good = async (folder, names = capturesIn(folder), asked = ["trace", ...names]) => {
  const { state, took, json } = await analyse([...names, ...asked.filter((_, i) => asked[i - 1] === "--from")].map((name) => resolve(folder, name)));
  const wanted = ofProgram(folder, asked);
  const differs = difference(json, wanted), same = differs === null;
  if (!same) problems.push(`${folder}: not what the program says (${state}): ${differs}`);
  const bytes = names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  console.log(`${basename(folder)}: ${names.length} captures, ${bytes} bytes, verdict after ${Math.round(took)} ms, ${same ? "the same JSON" : "ANOTHER JSON"}`);
};
// What a host printed, as text and as `coalescope collect` prints it, without captures and beside them.
const beside = async (folder) => {
  const router = ["ip -d link show", "sysctl net.ipv4.ip_forward", "ethtool -k eth0"].map((command) => `root@router:~# ${command}\n${PRINTED[command]}`).join("");
  writeFileSync(join(scratch, "router.txt"), router);
  writeFileSync(join(scratch, "here.json"), execFileSync(program, ["collect"], { maxBuffer: 1 << 28 }));
  const names = folder ? capturesIn(folder) : [];
  for (const name of names) writeFileSync(join(scratch, name), readFileSync(join(folder, name)));
  const from = ["--from", "router.txt", "--from", "here.json"];
  await good(scratch, [], ["diagnose", ...from]);
  if (names.length) await good(scratch, names, ["diagnose", ...from, ...names]);
};
const PRINTED = {
  "ip -d link show": `1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00 promiscuity 0
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000
    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0
`,
  "sysctl net.ipv4.ip_forward": "net.ipv4.ip_forward = 1\n",
  "ethtool -k eth0": "Features for eth0:\ngeneric-receive-offload: on\nlarge-receive-offload: on\n",
};
// A capture that takes long is given up; the next one is judged as if nothing had been.
const cancelled = async () => {
  const path = join(scratch, "long.pcap"), record = Buffer.alloc(16 + 64);
  record.writeUInt32LE(64, 8);
  record.writeUInt32LE(64, 12);
  writeFileSync(path, Buffer.concat([pcap, Buffer.concat(Array(1_000_000).fill(record))]));
  const { state } = await analyse([path], () => evaluate(`setTimeout(() => document.getElementById("cancel").click(), 100)`));
  if (state !== "Cancelled.") problems.push(`Cancel: ${state}`);
  if (folders[0]) await good(folders[0]);
};
// A capture of Ethernet without frames.
const pcap = Buffer.alloc(24);
pcap.writeUInt32LE(0xa1b2c3d4);
pcap.writeUInt16LE(2, 4);
pcap.writeUInt16LE(4, 6);
pcap.writeUInt32LE(1, 20);
const scratch = mkdtempSync(join(tmpdir(), "coalescope-web-"));
const bad = async (name, bytes, words, meanwhile = () => {}) => {
  const path = join(scratch, name);
  writeFileSync(path, bytes);
  const { state } = await analyse([path], () => meanwhile(path));
  if (!words.test(state)) problems.push(`${name}: ${state}`);
  if (await evaluate("document.querySelector('#points b, #points img') !== null")) problems.push(`${name} became markup`);
};
try {
  for (const folder of folders) await good(folder);
  await beside(folders[0]);
  await cancelled();
  await bad("empty.pcap", "", /empty/);
  await bad("notes.txt", "these are notes\n", /nothing in notes\.txt is understood/);
  await bad("<b>bold<img src=x onerror=alert(1)>.pcap", "x", /no capture|not a capture/i);
  await bad("changed.pcap", pcap, /changed, moved or removed/, (path) => writeFileSync(path, "something else, and longer than before"));
  await bad("gone.pcap", pcap, /changed, moved or removed/, (path) => rmSync(path));
  const report = await evaluate("document.getElementById('report').getAttribute('sandbox')");
  if (report !== "allow-scripts") problems.push("the report's frame may do more than run its scripts");
  // Without a network, and without its server, it opens and works again.
  server.closeAllConnections();
  server.close();
  const again = new Promise((done) => listeners.add(({ method }) => method === "Page.loadEventFired" && done()));
  await tell("Page.reload", {});
  await within(again, "the page without its server");
  if ((await evaluate("document.getElementById('run') !== null")) !== true) problems.push("it does not open offline");
} catch (error) {
  problems.push(error.message);
}
rmSync(scratch, { recursive: true });
console.log(`${folders.length} paths, ${requests.length} requests, ${problems.length} problems`);
for (const problem of problems) console.log(`  ${String(problem).slice(0, 400)}`);
end(!problems.length);
