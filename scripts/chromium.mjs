// Headless Chromium, by the DevTools protocol over a pair of pipes.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const profile = mkdtempSync(join(tmpdir(), "coalescope-browser-"));
const chromium = spawn(
  process.env.CHROMIUM,
  ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
    "--no-first-run", "--disable-background-networking", `--user-data-dir=${profile}`, "about:blank"],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
);
export const { pid } = chromium;
const [, , , commands, answers] = chromium.stdio;
let last = 0;
const waiting = new Map();
export const listeners = new Set();
let rest = "";
answers.setEncoding("utf8");
answers.on("data", (text) => {
  const parts = (rest + text).split("\0");
  rest = parts.pop();
  for (const part of parts) hear(JSON.parse(part));
});

function hear(message) {
  const { id } = message;
  if (!waiting.has(id)) return listeners.forEach((listener) => listener(message));
  const { done, failed } = waiting.get(id);
  waiting.delete(id);
  if (message.error) failed(new Error(message.error.message));
  else done(message.result);
}

export function send(method, params = {}, sessionId = undefined) {
  const id = ++last;
  commands.write(JSON.stringify({ id, method, params, sessionId }) + "\0");
  return new Promise((done, failed) => waiting.set(id, { done, failed }));
}

// Closes it, and ends this program.
export function end(good) {
  chromium.once("exit", () => {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    process.exit(good ? 0 : 1);
  });
  send("Browser.close").catch(() => {});
}
