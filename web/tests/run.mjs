// The page in a browser: node --experimental-websocket web/tests/run.mjs DIR PROGRAM FOLDER...
//
// DIR is what scripts/web built, PROGRAM the command, each FOLDER holds the captures of a path. They are given to the page
// through its own file input, alone and beside what hosts printed: its JSON must be the program's, no request may leave the
// page while it works, what is neither gives clear words, names are text, and Cancel ends an analysis. CHROMIUM or FIREFOX names
// the browser; the latter is spoken to over a web socket, which node has had by itself since version 22.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { createInterface } from "node:readline";
import { within } from "../../scripts/within.mjs";
import { long, pcap, together } from "./captures.mjs";
import { MARK, NAMES, broken, marked, printed } from "./hostile.mjs";
import { Page, browser, served } from "./page.mjs";

const [dir, given, ...folders] = process.argv.slice(2), program = resolve(given);
const scratch = mkdtempSync(join(tmpdir(), "coalescope-web-"));
const chosen = await browser(), { problems } = chosen, page = new Page(chosen);

// Where two documents differ first.
function difference(a, b, path = "") {
  if (typeof a !== "object" || typeof b !== "object" || !a || !b) return a === b ? null : `${path}: ${JSON.stringify(a)} and not ${JSON.stringify(b)}`;
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const found = difference(a[key], b[key], `${path}.${key}`);
    if (found) return found;
  }
  return null;
}

function ofProgram(folder, asked) {
  try {
    return JSON.parse(execFileSync(program, [...asked, "--format", "json"], { cwd: folder, stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 30 }));
  } catch (error) {
    return error.stdout?.length ? JSON.parse(error.stdout) : null;
  }
}

const capturesIn = (folder) => readdirSync(folder).filter((name) => /\.(pcap|pcapng|cap)(\.gz|\.zst)?$/.test(name)).sort();
const KINDS = { "--compare": "compare", "--points-by-interface": "interfaces" };
// Captures as trace judges them, or beside what hosts printed as diagnose does.
async function good(folder, names = capturesIn(folder), asked = ["trace", ...names]) {
  await page.choose([...names, ...asked.filter((_, i) => asked[i - 1] === "--from")].map((name) => resolve(folder, name)));
  const { state, took } = await page.ask({ kind: KINDS[asked[1]] });
  const json = await page.answer(), differs = difference(json, ofProgram(folder, asked));
  if (differs !== null) problems.push(`${folder}: not what the program says (${state}): ${differs}`);
  const bytes = names.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  console.log(`${basename(folder)}: ${names.length} captures, ${bytes} bytes, verdict after ${Math.round(took)} ms, ${differs === null ? "the same JSON" : "ANOTHER JSON"}`);
}

// Whatever strangers wrote is text: in the page, in the report, and in JSON as the program writes it. Captures that are
// broken anywhere come to what the program says of them.
async function hostile(folder) {
  const own = join(scratch, "hostile"), files = capturesIn(folder).slice(0, 2);
  const bytes = files.map((name) => readFileSync(join(folder, name))), names = files.map((_, n) => `${n}${NAMES[n + 1]}.pcapng`);
  mkdirSync(own);
  names.forEach((name, n) => writeFileSync(join(own, name), marked(bytes[n], n)));
  writeFileSync(join(own, "both.pcapng"), together(bytes.map(marked)));
  writeFileSync(join(own, `${NAMES[0]}.txt`), printed());
  await page.open(page.url);
  await page.evaluate(`addEventListener("message", () => { globalThis.isOwned = true; })`);
  for (const [chosen, asked] of [
    [names, ["trace", ...names]],
    [["both.pcapng"], ["trace", "--points-by-interface", "both.pcapng"]],
    [[], ["diagnose", "--from", `${NAMES[0]}.txt`]],
    [names, ["diagnose", "--from", `${NAMES[0]}.txt`, ...names]],
  ]) {
    await good(own, chosen, asked);
    await isText(asked[1]);
  }
  for (let seed = 1; seed <= 8; seed++) {
    const name = `broken-${seed}.pcapng`;
    writeFileSync(join(own, name), broken(bytes[seed % 2], seed));
    await good(own, [name]);
  }
}

// Nothing of it became an element, nothing ran, and all of it is there to read.
async function isText(what) {
  const report = await page.report(), wrong = (where) => problems.push(`${what}: what strangers wrote is markup, or missing, in ${where}`);
  const [inPage, inText, inReport, readable, isOwned] = await page.evaluate(`(async () => {
    await new Promise((done) => setTimeout(done, 300)); // The report's frame runs its scripts.
    const parsed = new DOMParser().parseFromString(${JSON.stringify(report)}, "text/html"), strange = "${MARK}, img, [onclick], [onerror]";
    return [!!document.querySelector(strange), document.getElementById("text").textContent.includes("${MARK}"),
      !!parsed.querySelector(strange), parsed.body.textContent.includes("<${MARK}"), !!globalThis.isOwned];
  })()`);
  if (inPage) wrong("the page");
  if (!inText) wrong("the text");
  if (inReport || !readable) wrong("the report");
  if (!JSON.stringify(await page.answer()).includes(MARK)) wrong("JSON");
  if (isOwned) problems.push(`${what}: a script of strangers runs`);
}

// The first two points of a path in one file, and as if they were two transfers.
async function otherKinds(folder) {
  const names = capturesIn(folder).slice(0, 2), own = join(scratch, "kinds");
  mkdirSync(own);
  for (const name of names) writeFileSync(join(own, name), readFileSync(join(folder, name)));
  await good(own, names, ["trace", "--compare", ...names]);
  writeFileSync(join(own, "both.pcapng"), together(names.map((name) => readFileSync(join(folder, name)))));
  await good(own, ["both.pcapng"], ["trace", "--points-by-interface", "both.pcapng"]);
  const { points } = await page.answer();
  if (points.length !== 2) problems.push(`by interface: ${points.length} points`);
  if (!(await page.report()).includes("coalescope trace --points-by-interface both=both.pcapng")) problems.push("by interface: the report names another command");
}

// Captures are compared in pairs, and interfaces are those of one file: others are told so, and not judged.
async function wrongNumbers(folder) {
  const files = capturesIn(folder).map((name) => resolve(folder, name));
  for (const [given, kind, words] of [[3, "compare", /two transfers.*3 given/], [1, "compare", /two transfers.*1 given/], [2, "interfaces", /one file.*2 files/]]) {
    await page.choose(files.slice(0, given));
    const { state } = await page.ask({ kind });
    if (!words.test(state)) problems.push(`${kind} of ${given}: ${state}`);
    if (await page.answer()) problems.push(`${kind} of ${given}: an answer`);
  }
}

// A folder has more in it than captures: what is neither a capture nor of a host is named, and the rest is judged.
async function strays(folder) {
  const names = capturesIn(folder), own = join(scratch, "strays"), tell = (name, bytes) => writeFileSync(join(own, name), bytes);
  mkdirSync(own);
  tell("README.md", "# What was captured\n\nOn Tuesday.\n");
  tell("facts.csv", "point,frames\nVM,100\n");
  tell("screen.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]));
  tell("Thumbs.db", Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1, 0, 0, 0, 0]));
  const others = readdirSync(own).map((name) => join(own, name));
  for (const kind of ["path", "compare"]) {
    const some = kind === "path" ? names : names.slice(0, 2);
    await page.choose([...some.map((name) => resolve(folder, name)), ...others]);
    const { state } = await page.ask({ kind }), differs = difference(await page.answer(), ofProgram(folder, ["trace", ...(kind === "path" ? [] : ["--compare"]), ...some]));
    if (differs !== null) problems.push(`with other files, ${kind}: ${state}: ${differs}`);
    if (!/left out: .*README\.md/.test(state)) problems.push(`with other files, ${kind}: nobody says what was left out: ${state}`);
  }
}

// Links of a report lead to its parts, in the frame as well.
async function links(folder) {
  if (!chosen.inFrame) return;
  await good(folder);
  const moved = await chosen.inFrame(`(async () => {
    const all = [...document.querySelectorAll("a[href^='#']")], last = all.filter((one) => document.getElementById(one.hash.slice(1))).at(-1);
    scrollTo(0, 0);
    last.click();
    await new Promise((done) => setTimeout(done, 300));
    return [all.length, scrollY];
  })()`);
  if (!(moved[0] > 3 && moved[1] > 0)) problems.push(`links of the report in its frame: ${moved}`);
}

// What a host printed, as text and as `coalescope collect` prints it, without captures and beside them.
async function beside(folder) {
  const router = ["ip -d link show", "sysctl net.ipv4.ip_forward", "ethtool -k eth0"].map((command) => `root@router:~# ${command}\n${PRINTED[command]}`).join("");
  writeFileSync(join(scratch, "router.txt"), router);
  writeFileSync(join(scratch, "here.json"), execFileSync(program, ["collect"], { maxBuffer: 1 << 28 }));
  const names = capturesIn(folder);
  for (const name of names) writeFileSync(join(scratch, name), readFileSync(join(folder, name)));
  const from = ["--from", "router.txt", "--from", "here.json"];
  await good(scratch, [], ["diagnose", ...from]);
  await good(scratch, names, ["diagnose", ...from, ...names]);
  const { state } = await page.ask({ kind: "compare" });
  if (!/points of one path/.test(state)) problems.push(`hosts beside two transfers: ${state}`);
}
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
async function cancelled(folder) {
  const path = join(scratch, "long.pcap");
  writeFileSync(path, long(1_000_000));
  await page.choose([path]);
  const { state } = await page.ask({ meanwhile: () => page.evaluate(`void setTimeout(() => document.getElementById("cancel").click(), 100)`) });
  if (state !== "Cancelled.") problems.push(`Cancel: ${state}`);
  await good(folder);
}

async function bad(name, bytes, words, asked = {}) {
  const path = join(scratch, name);
  writeFileSync(path, bytes);
  await page.choose([path]);
  const { state } = await page.ask({ ...asked, meanwhile: () => asked.meanwhile?.(path), once: asked.once && { shows: asked.once.shows, act: () => asked.once.act(path) } });
  if (!words.test(state)) problems.push(`${name}: ${state}`);
  if (await page.evaluate("document.querySelector('#points b, #points img') !== null")) problems.push(`${name} became markup`);
}

// Of what cannot be read to its end nothing is said but that, whenever it happens; once it is judged, the report says so.
async function unsteady() {
  const reading = `document.getElementById("progress").value > 0`, lost = /changed, moved or removed|shorter than when it was chosen/;
  // Firefox reads what is there now.
  await bad("changed.pcap", pcap(), chosen.name === "Firefox" ? /is not a capture/ : lost, { meanwhile: (path) => writeFileSync(path, "something else, and longer than before") });
  await bad("gone.pcap", pcap(), lost, { meanwhile: (path) => rmSync(path) });
  await bad("changes.pcap", long(3_000_000), lost, { once: { shows: reading, act: (path) => writeFileSync(path, pcap()) } });
  await bad("goes.pcap", long(3_000_000), lost, { once: { shows: reading, act: (path) => rmSync(path) } });
  const judged = `!document.getElementById("result").hidden`;
  await bad("goes.txt", "root@router:~# ethtool -k eth0\n".repeat(3), lost, { meanwhile: (path) => rmSync(path) });
  await bad("goes-late.pcap", long(3_000_000), /Done/, { once: { shows: judged, act: (path) => rmSync(path) } });
  if (!lost.test(await page.report())) problems.push("the report does not say that its capture has gone");
}

// A tab that gets little memory says so, and the next one is well.
async function shortOfMemory(folder) {
  await page.open(`${page.url}#memory=16`);
  await page.choose(capturesIn(folder).map((name) => resolve(folder, name)));
  const { state } = await page.ask();
  if (!/ran out of memory.*coalescope trace/.test(state)) problems.push(`short of memory: ${state}`);
  await page.open(page.url);
  await good(folder);
}

// Nothing is kept by a browser that refuses to, and then reading and judging take turns.
async function unkept(folder) {
  const server = await served(dir);
  await page.open(`${server.url}#unkept`);
  await good(folder);
  await bound();
  await unsteady();
  server.close();
}

// The first visit begins anew once the page is kept, but not for somebody who has begun to use it.
async function first() {
  for (const isUsed of [false, true]) {
    let go;
    const gone = new Promise((done) => { go = done; });
    const server = await served(dir, (path) => (path === "/offline.js" ? gone : undefined));
    await chosen.go(server.url);
    await page.evaluate(`(globalThis.mark = true, ${isUsed} && dispatchEvent(new Event("dragenter")))`);
    go();
    await page.until(isUsed ? "!!navigator.serviceWorker.controller" : "crossOriginIsolated");
    await new Promise((done) => setTimeout(done, 300));
    if ((await page.evaluate("!!globalThis.mark")) !== isUsed) problems.push(`a first visit that is ${isUsed ? "" : "not "}used ${isUsed ? "begins" : "does not begin"} anew`);
    server.close();
  }
}

// The page as it was kept is apart from all others, and reads files ahead: of some MB, by the same answer, and what goes meanwhile is told.
async function readsAhead(folder) {
  await page.open(page.url);
  const own = join(scratch, "ahead"), names = capturesIn(folder).slice(0, 2);
  mkdirSync(own);
  // The same frames once more, and again: some 14 MB, so that each of the two pieces of memory is used twice.
  for (const name of names) {
    const bytes = readFileSync(join(folder, name)), head = bytes.readUInt32LE(4) + bytes.readUInt32LE(bytes.readUInt32LE(4) + 4);
    const times = Math.ceil(14e6 / bytes.length);
    writeFileSync(join(own, name), Buffer.concat([bytes, ...Array(times).fill(bytes.subarray(head))]));
  }
  await good(own);
  const readers = await page.evaluate(`workers.filter((url) => url.endsWith("ahead.js")).length`);
  if (!readers) problems.push("nothing was read ahead");
  await unsteady();
}

// The worker that reads captures is bound by what binds the page, whatever the server says: it is made of a blob, or its file comes from
// the keeper.
async function bound() {
  const ours = await page.evaluate("navigator.serviceWorker?.controller ? true : workers.length > 0 && workers.every((url) => url.startsWith('blob:'))");
  if (!ours) problems.push("a worker has the policy of the server");
  const script = `fetch(${JSON.stringify(page.url)}).then(() => postMessage("connected"), () => postMessage("refused"))`;
  const told = await page.evaluate(`new Promise((done) => {
    const script = new Blob([${JSON.stringify(script)}], { type: "text/javascript" });
    const worker = new Worker(URL.createObjectURL(script), { type: "module" });
    worker.onmessage = ({ data }) => done(data);
  })`);
  if (told !== "refused") problems.push(`a worker of the page has ${told}`);
  if (await page.evaluate("!!navigator.serviceWorker?.controller")) await boundByItself();
  const report = await page.evaluate("document.getElementById('report').getAttribute('sandbox')");
  if (report !== "allow-scripts") problems.push("the report's frame may do more than run its scripts");
}

// So is one that is a file of its own, once the page is kept. Asked for an engine by an address, the worker would
// fetch it, and find out that it is none.
async function boundByItself() {
  const told = await page.evaluate(`new Promise((done) => {
    const worker = new Worker("worker.js", { type: "module" });
    worker.onmessage = ({ data }) => { worker.terminate(); done(data.why); };
    worker.onerror = (event) => done("no worker: " + event.message);
    worker.postMessage({ module: new URL("index.html", location.href).href, files: [], asked: {} });
  })`);
  if (!/Failed to fetch|NetworkError/.test(told)) problems.push(`a worker of a file may connect: ${told}`);
}

// Refusals are written down by the browser.
function expected(what) {
  for (let i = problems.length; i--;) if (what.test(problems[i])) problems.splice(i, 1);
}

// Points are put in order with keys alone: whoever has moved one can move it on.
async function ordered(folder) {
  const names = capturesIn(folder).map((name) => name.replace(/\.pcapng$/, ""));
  await page.choose(capturesIn(folder).map((name) => resolve(folder, name)));
  const down = (n) => `document.querySelector("#points li:nth-child(${n}) button:nth-of-type(2)")`;
  await page.evaluate(`${down(1)}.focus()`);
  for (const _ of names.slice(1)) await chosen.press("Enter");
  const order = await page.evaluate("[...document.querySelectorAll('#points input')].map((one) => one.value)");
  if (order.join() !== [...names.slice(1), names[0]].join()) problems.push(`moved by keys: ${order}`);
  const told = await page.evaluate("document.getElementById('state').textContent");
  if (!told.includes(`${names[0]} is point ${names.length} of ${names.length}`)) problems.push(`moved by keys: "${told}" is said`);
  await page.evaluate(`(() => { const name = document.querySelector("#points input"); name.value = "renamed"; name.dispatchEvent(new Event("input")); })()`);
  const label = await page.evaluate(`${down(1)}.getAttribute("aria-label")`);
  if (!label.includes("renamed")) problems.push(`the button of a point that was renamed says ${label}`);
}

// With the mouse, down and up, and then judged in that order; in a name the mouse selects letters. (Nothing that Firefox drags without a window is
// ever dropped.)
async function draggedIntoOrder(folder) {
  if (!chosen.drag) return;
  const files = capturesIn(folder), order = files.map((name) => name.replace(/\.pcapng$/, ""));
  await page.choose(files.map((name) => resolve(folder, name)));
  const at = (n, part, share = .5) => page.evaluate(`(() => { const box = document.querySelector("#points li:nth-child(${n}) ${part}").getBoundingClientRect();
    return { x: box.x + 4 + (box.width - 8) * ${share}, y: box.y + box.height / 2 }; })()`);
  const is = async (wanted) => {
    const now = await page.evaluate("[...document.querySelectorAll('#points input')].map((one) => one.value)");
    if (now.join() !== wanted.join()) problems.push(`dragged: ${now} and not ${wanted}`);
  };
  await chosen.drag(await at(1, ".files"), await at(files.length, ".files"));
  await is([...order.slice(1), order[0]]);
  await chosen.drag(await at(files.length, ".files"), await at(1, ".files"));
  await is(order);
  await chosen.drag(await at(1, ".files"), await at(files.length, ".files"));
  if (await chosen.drag(await at(1, "input", 0), await at(1, "input", .5))) problems.push("a point is dragged by the letters of its name");
  if (!(await page.evaluate(`(({ selectionStart, selectionEnd }) => selectionEnd - selectionStart)(document.querySelector("#points input"))`))) problems.push("the mouse selects nothing of a name");
  await page.ask();
  const differs = difference(await page.answer(), ofProgram(folder, ["trace", ...files.slice(1), files[0]]));
  if (differs !== null) problems.push(`dragged: not what the program says: ${differs}`);
}

// In windows of all sizes nothing is wider than they are, and axe-core (AXE names its file) finds nothing; with nothing
// chosen, with files, and with an answer.
async function looked(folder) {
  const axe = process.env.AXE ? readFileSync(process.env.AXE, "utf8") : null;
  if (!axe) console.log("skipped: no axe-core here (AXE), so that nobody looks for what screen readers need");
  const look = async (what) => {
    for (const width of [360, 768, 1280]) {
      for (const theme of ["light", "dark"]) {
        if (!(await chosen.size(width, theme))) continue;
        const wide = await page.evaluate("new Promise((done) => setTimeout(() => done(document.documentElement.scrollWidth), 50))");
        if (wide > width) problems.push(`${what}: ${wide} pixels wide in a window of ${width}`);
        if (!axe) continue;
        // Of the page itself; reports are looked at by scripts/browser.
        const found = await page.evaluate(`(async () => { ${axe}; const { violations } = await axe.run(document, { iframes: false });
          return violations.flatMap(({ id, nodes }) => nodes.map((node) => id + ": " + node.html.slice(0, 120))); })()`);
        for (const violation of found) problems.push(`${what}, ${width}, ${theme}: axe ${violation}`);
      }
    }
  };
  await page.open(page.url);
  await look("empty");
  await page.choose([...capturesIn(folder).map((name) => resolve(folder, name)), join(scratch, "router.txt")]);
  await look("with files");
  await page.ask();
  await look("with an answer");
  await page.evaluate("document.querySelector('details').open = true");
  await look("with its text");
}

// A folder and a file are dropped, as from a file manager.
async function dropped(folder) {
  if (!chosen.drop) return;
  const own = join(scratch, "folder");
  mkdirSync(own);
  for (const name of capturesIn(folder)) writeFileSync(join(own, name), readFileSync(join(folder, name)));
  writeFileSync(join(own, ".left-by-a-file-manager"), "nobody's capture");
  await page.evaluate("document.getElementById('clear').click()");
  await chosen.drop([own, join(scratch, "router.txt")]);
  await page.ready();
  const names = await page.evaluate("[...document.querySelectorAll('#points input, #hosts .files')].map((one) => one.value ?? one.textContent)");
  const wanted = capturesIn(folder).map((name) => name.replace(/\.pcapng$/, ""));
  if (names.slice(0, -1).join() !== wanted.join() || !names.at(-1).startsWith("router.txt")) problems.push(`dropped: ${names}`);
}

// A folder of what one host printed is one host, as for the program: with files that are empty, packed, and in folders of it; alone and
// beside captures that lie in the folder.
async function droppedHost(folder) {
  if (!chosen.drop) return;
  const own = join(scratch, "gateway"), elsewhere = join(scratch, "elsewhere"), tell = (name, bytes) => writeFileSync(join(own, name), bytes);
  mkdirSync(join(own, "sub"), { recursive: true });
  tell("uname", "Linux gw 5.10.0-28-amd64 #1 SMP Debian 5.10.209-2 (2024-01-31) x86_64 GNU/Linux\n");
  tell("links", PRINTED["ip -d link show"]);
  tell("sub/ethtool_-k_eth0", PRINTED["ethtool -k eth0"]);
  tell("log.gz", gzipSync("nothing of use\n"));
  tell("empty", "");
  const judged = async (asked, what) => {
    await page.evaluate("document.getElementById('clear').click()");
    await chosen.drop([own]);
    await page.ready();
    const hosts = await page.evaluate("[...document.querySelectorAll('#hosts .files')].map((one) => one.textContent)");
    if (hosts.length !== 1 || !/^gateway, a folder: 5 files, /.test(hosts[0])) problems.push(`${what}: ${hosts}`);
    const { state } = await page.ask(), differs = difference(await page.answer(), ofProgram(elsewhere, asked));
    if (differs !== null) problems.push(`${what}: not what the program says (${state}): ${differs}`);
  };
  cpSync(own, join(elsewhere, "gateway"), { recursive: true });
  await judged(["diagnose", "--from", "gateway"], "a host's folder");
  const report = await page.report();
  if (!report.includes("coalescope diagnose --from gateway<") || !report.includes("gateway/sub/ethtool_-k_eth0")) problems.push("the report of a host's folder names neither that nor its files");
  // On the page captures in the folder are points; the program names them as what they are, and so has them beside it.
  const names = capturesIn(folder);
  for (const name of names) for (const to of [own, elsewhere]) writeFileSync(join(to, name), readFileSync(join(folder, name)));
  await judged(["diagnose", "--from", "gateway", ...names], "a host's folder with captures");
}

// Without a network, and without its server, it opens and works again.
async function offline(folder, close) {
  close();
  await chosen.reload();
  await good(folder);
  await boundByItself();
  expected(/Content.Security.Policy/);
}

// A newer page is taken whole, once the old one is closed: until then the old one has all of its own files.
async function renewed(folder) {
  const own = join(scratch, "renewed");
  cpSync(dir, own, { recursive: true });
  const server = await served(own);
  await page.open(server.url);
  writeFileSync(join(own, "worker.js"), `onmessage = () => postMessage({ kind: "failed", why: "the newer page" });`);
  writeFileSync(join(own, "offline.js"), readFileSync(join(own, "offline.js"), "utf8").replace(/coalescope-\w+/, "coalescope-newer"));
  await page.evaluate(`navigator.serviceWorker.getRegistration().then((one) => one.update()).then((one) => new Promise((done) => {
    const look = () => one.installing || one.active.state === "activating" ? setTimeout(look, 10) : done(true);
    look();
  }))`);
  await good(folder);
  let state = "";
  for (let n = 0; n < 20 && state !== "the newer page"; n++) {
    await page.open(server.url);
    await page.choose(capturesIn(folder).map((name) => resolve(folder, name)));
    ({ state } = await page.ask());
  }
  if (state !== "the newer page") problems.push(`a newer page is not taken: ${state}`);
  server.close();
}

// The program's own server.
async function byProgram(folder) {
  const server = spawn(program, ["web", "--folder", dir, "--listen", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((done) => server.once("exit", done));
  const lines = createInterface({ input: server.stderr })[Symbol.asyncIterator]();
  const { value } = await within(lines.next(), "coalescope web");
  if (!value?.startsWith("listening: ")) throw new Error(`coalescope web: ${value}`);
  await page.open(value.replace("listening: ", ""));
  await good(folder);
  await bound();
  expected(/Content.Security.Policy/);
  await offline(folder, () => server.kill("SIGINT"));
  if ((await within(ended, "the end of coalescope web")) !== 0) problems.push("coalescope web did not end well");
}

async function all() {
  const server = await served(dir);
  await page.open(server.url);
  for (const folder of folders) await good(folder);
  const path = folders.find((folder) => capturesIn(folder).length > 1);
  await otherKinds(path);
  await wrongNumbers(folders.find((folder) => capturesIn(folder).length > 2) ?? path);
  await strays(path);
  await links(path);
  await beside(path);
  await hostile(path);
  await dropped(path);
  await droppedHost(path);
  await ordered(path);
  await draggedIntoOrder(path);
  await looked(path);
  await cancelled(path);
  await bad("empty.pcap", "", /empty/);
  await bad("empty.txt", "", /empty/);
  await bad("empty.pcap.gz", "", /empty/);
  await bad("notes.txt", "these are notes\n", /nothing in notes\.txt is understood/);
  await bad("notes.pcap", "these are notes\n", /no capture|not a capture/i);
  await bad("<b>bold<img src=x onerror=alert(1)>.pcap", "x", /no capture|not a capture/i);
  await readsAhead(path);
  await shortOfMemory(path);
  await bound();
  await unkept(path);
  await first();
  await page.open(server.url);
  expected(/Content.Security.Policy/);
  await offline(path, server.close);
  await renewed(path);
  await byProgram(path);
}

try {
  await all();
} catch (error) {
  problems.push(error.stack);
}
expected(/favicon/);
rmSync(scratch, { recursive: true });
console.log(`${chosen.name}: ${folders.length} paths, ${chosen.requests.length} requests, ${problems.length} problems`);
for (const problem of problems) console.log(`  ${String(problem).slice(0, 400)}`);
chosen.end(!problems.length);
