// A page in headless Firefox, by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/).
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { within } from "../../scripts/within.mjs";

// Opens an empty page in which a script runs before those of each document.
export async function begin(preload) {
  const requests = [], problems = [], waiting = new Map();
  const profile = mkdtempSync(join(tmpdir(), "coalescope-firefox-"));
  const firefox = spawn(process.env.FIREFOX, ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0", "about:blank"], { stdio: ["ignore", "ignore", "pipe"] });
  const socket = new WebSocket(await within(address(firefox.stderr), "Firefox"));
  await within(new Promise((done, failed) => { socket.onopen = done; socket.onerror = failed; }), "a connection to Firefox");
  socket.onmessage = ({ data }) => hear(JSON.parse(data));
  let last = 0;
  const tell = (method, params = {}) => {
    const id = ++last;
    socket.send(JSON.stringify({ id, method, params }));
    return new Promise((done, failed) => waiting.set(id, { done, failed }));
  };
  function hear({ id, type, method, params, result, message }) {
    if (type === "event") {
      if (method === "network.beforeRequestSent") requests.push(params.request.url);
      if (method === "log.entryAdded" && params.level === "error") problems.push(`log: ${params.text}`);
      return;
    }
    const { done, failed } = waiting.get(id);
    waiting.delete(id);
    if (type === "success") done(result);
    else failed(new Error(message));
  }
  await within(tell("session.new", { capabilities: {} }), "a session");
  await tell("session.subscribe", { events: ["network.beforeRequestSent", "log.entryAdded"] });
  await tell("script.addPreloadScript", { functionDeclaration: `() => { ${preload} }` });
  const { contexts: [{ context }] } = await tell("browsingContext.getTree");
  const evaluated = async (expression) => {
    const { type, result, exceptionDetails } = await tell("script.evaluate", { expression, target: { context }, awaitPromise: true });
    if (type === "exception") throw new Error(exceptionDetails.text);
    return result;
  };
  return {
    name: "Firefox", pid: firefox.pid, requests, problems,
    // A page that begins anew by itself, once it is kept, is never complete for whoever waits for its first beginning.
    async go(url) {
      await within(tell("browsingContext.navigate", { context, url, wait: "none" }), "the page");
      const there = `location.href === ${JSON.stringify(url)} && document.readyState === "complete"`;
      const isThere = () => evaluated(there).then(({ value }) => value, () => false);
      while (!(await within(isThere(), "the page"))) await new Promise((done) => setTimeout(done, 10));
    },
    reload: () => within(tell("browsingContext.reload", { context, wait: "complete" }), "the page"),
    async evaluate(expression) {
      const { value } = await evaluated(`Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))`);
      return JSON.parse(value);
    },
    async choose(selector, files) {
      const { sharedId } = await evaluated(`document.querySelector(${JSON.stringify(selector)})`);
      await tell("input.setFiles", { context, element: { sharedId }, files });
    },
    // A window of such a width; its theme is that of the system.
    async size(width, theme) {
      await tell("browsingContext.setViewport", { context, viewport: { width, height: 900 } });
      return theme === "light";
    },
    // A headless window never has the focus, and so buttons in it hear of keys and do nothing: what Enter would do is done.
    press: (key) => evaluated(`void (${JSON.stringify(key)} === "Enter" && document.activeElement.click())`),
    // Closes it, and ends this program.
    end(good) {
      firefox.once("exit", () => {
        rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
        process.exit(good ? 0 : 1);
      });
      tell("browser.close").catch(() => firefox.kill());
    },
  };
}

// It says where it listens.
async function address(stream) {
  const lines = createInterface({ input: stream });
  for await (const line of lines) {
    const found = line.match(/WebDriver BiDi listening on (ws:\S+)/);
    if (!found) continue;
    stream.resume();
    return `${found[1]}/session`;
  }
  throw new Error("it ended");
}
