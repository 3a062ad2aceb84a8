// The page in a browser: files into it, its answer out.
import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { within } from "../../scripts/within.mjs";

// Runs before the page's own scripts. A page that may connect to nothing cannot fetch even its own blobs: what a link leads to
// is read by way of this. `#memory=N` in the address lets the engine have N pages of 64 KiB more than it begins with; `#unkept`
// takes service workers away.
function hooks() {
  if (location.hash === "#unkept") delete Navigator.prototype.serviceWorker;
  const blobs = new Map(), make = URL.createObjectURL;
  URL.createObjectURL = (blob) => { const made = make(blob); blobs.set(made, blob); return made; };
  globalThis.textAt = (url) => blobs.get(url).text();
  globalThis.workers = [];
  globalThis.Worker = class extends Worker {
    constructor(url, options) { super(url, options); globalThis.workers.push(String(url)); }
  };
  const compile = WebAssembly.compile, more = Number(location.hash.replace("#memory=", ""));
  WebAssembly.compile = (bytes) => compile(more ? limited(new Uint8Array(bytes)) : bytes);
  // The section of the memory (5) holds one of which only a beginning is told: an end is written into it.
  function limited(bytes) {
    const number = (at) => { let value = 0, shift = 0, byte; do { byte = bytes[at++]; value |= (byte & 127) << shift; shift += 7; } while (byte & 128); return [value, at]; };
    const written = (value) => value < 128 ? [value] : [(value & 127) | 128, ...written(value >> 7)];
    for (let at = 8; at < bytes.length;) {
      const [size, body] = number(at + 1);
      if (bytes[at] === 5) {
        const [least] = number(body + 2), section = [1, 1, ...written(least), ...written(least + more)];
        return Uint8Array.from([...bytes.subarray(0, at), 5, section.length, ...section, ...bytes.subarray(body + size)]);
      }
      at = body + size;
    }
    throw new Error("no memory");
  }
}
// A browser by the environment: FIREFOX or CHROMIUM names it.
export async function browser() {
  const { begin } = await import(process.env.FIREFOX ? "./firefox.mjs" : "./chromium.mjs");
  return begin(`(${hooks})();`);
}

// Any web server: files, their types, and nothing else. A file is sent once what is wanted `before` has happened.
export async function served(dir, before = async () => {}) {
  const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
  const server = createServer(async (request, response) => {
    await before(request.url);
    const path = join(dir, request.url === "/" ? "index.html" : new URL(request.url, "http://x").pathname);
    if (!existsSync(path)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" });
    createReadStream(path).pipe(response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const close = () => { server.closeAllConnections(); server.close(); };
  return { url: `http://127.0.0.1:${server.address().port}/`, close };
}

export class Page {
  constructor(browser) { this.browser = browser; }

  async open(url) {
    this.url = url.replace(/#.*/, "");
    await this.browser.go("about:blank");
    await this.browser.go(url);
    if (!url.endsWith("#unkept")) await this.until("crossOriginIsolated && !!navigator.serviceWorker.controller && document.readyState === 'complete'");
  }

  // Asks until that is so: once a page is kept it begins anew, and whoever is asked meanwhile may not be there to answer.
  async until(expression, seconds = 60) {
    const end = Date.now() + seconds * 1000;
    while (!(await this.evaluate(expression).catch(() => false))) {
      if (Date.now() > end) throw new Error(`${expression.slice(0, 60)}: not so within ${seconds} s`);
      await new Promise((done) => setTimeout(done, 10));
    }
  }

  evaluate(expression, seconds) { return within(this.browser.evaluate(expression), expression.slice(0, 60), seconds); }

  async choose(files) {
    await this.evaluate("document.getElementById('clear').click()");
    await this.browser.choose("#files", files);
    await this.ready();
  }

  // The page looks into each file before it can be asked.
  ready() {
    return this.evaluate(`new Promise((done) => {
      const look = () => document.getElementById("run").disabled ? setTimeout(look, 5) : done(true);
      look();
    })`);
  }

  // Asks for an answer, and says when it was judged. What happens `meanwhile` happens before it is asked; what is to happen
  // `once` the page shows something begins then.
  async ask({ kind = "path", meanwhile = () => {}, once = null, seconds = 60 } = {}) {
    await this.evaluate(`document.querySelector("input[name=kind][value=${kind}]").click()`);
    await meanwhile();
    const before = this.browser.requests.length;
    const done = this.evaluate(`new Promise((done) => {
      document.getElementById("run").click();
      const began = performance.now();
      let judged = 0;
      const look = () => {
        if (!judged && !document.getElementById("result").hidden) judged = performance.now() - began;
        if (document.getElementById("cancel").hidden) done([document.getElementById("state").textContent, judged, performance.now() - began]);
        else setTimeout(look, 5);
      };
      setTimeout(look, 5);
    })`, seconds);
    if (once) await this.evaluate(`new Promise((done) => { const look = () => (${once.shows}) ? done(true) : setTimeout(look, 2); look(); })`).then(once.act);
    const [state, took, whole] = await done;
    const outside = this.browser.requests.slice(before).filter((one) => !/^(blob|data):/.test(one) && !one.startsWith(this.url));
    if (outside.length) this.browser.problems.push(`requests: ${outside}`);
    return { state, took, whole };
  }

  async answer() {
    const text = await this.evaluate(`document.getElementById("result").hidden ? null : textAt(document.getElementById("save-json").href)`);
    return text && JSON.parse(text);
  }

  report() { return this.evaluate(`textAt(document.getElementById("save-page").href)`); }
}
