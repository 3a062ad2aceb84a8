// Memory of a browser's processes, as Linux counts it in /proc.
import { readFileSync, readdirSync } from "node:fs";

// What a process has written down about itself; nothing once it has ended.
function told(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

// The numbers of a process and of all that came of it.
function family(first) {
  const children = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const parent = told(pid, "stat").replace(/^.*\) \S (\d+) .*$/s, "$1");
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const all = (pid) => [pid, ...(children.get(pid) ?? []).flatMap(all)];
  return all(String(first));
}

// Whether a process runs pages from elsewhere: Chromium draws its own window by such processes as well.
const runsPages = (pid) => ((line) => line.includes("--type=renderer") && !/--top-chrome-webui|--extension-process/.test(line))(told(pid, "cmdline"));

// Adds up lines of kB, in MB.
const megabytes = (text, lines) => [...text.matchAll(lines)].reduce((sum, [, kb]) => sum + Number(kb), 0) / 1e3;

// What the largest of a browser's tabs and the browser itself hold now: resident at its highest; of their own, which is what would be free
// again without them; MB.
export function memory(first) {
  const held = { peak: 0, own: 0, browser: megabytes(told(first, "status"), /^VmHWM:\s+(\d+)/gm) };
  for (const pid of family(first).filter(runsPages)) {
    held.peak = Math.max(held.peak, megabytes(told(pid, "status"), /^VmHWM:\s+(\d+)/gm));
    held.own = Math.max(held.own, megabytes(told(pid, "smaps_rollup"), /^Private_\w+:\s+(\d+)/gm));
  }
  return held;
}
