// Memory of the tab while the page judges a capture: node web/tests/memory.mjs DIR FILE
//
// DIR is what scripts/web built, FILE a capture of any size, which is given to the page through its own file input and read to the end: verdict,
// pictures, hashes. MOST is how many MB the process of the tab may hold at its highest (300); if it holds more, the exit code is 1. CHROMIUM
// names the browser; Linux counts. The peak is of the resident set, which counts Chromium's own code as well; what is private to the tab is
// looked at four times a second.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Page, browser, served } from "./page.mjs";
import { memory } from "./processes.mjs";

const [dir, file] = process.argv.slice(2).map((path) => resolve(path)), most = Number(process.env.MOST ?? 300);
const chosen = await browser(), page = new Page(chosen), server = await served(dir);
const mb = (number) => `${Math.round(number)} MB`, seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

// The memory of a tab and its browser before, and at its highest while a file is judged.
async function measured() {
  await page.open(server.url);
  const before = memory(chosen.pid);
  let own = 0;
  const look = () => { own = Math.max(own, memory(chosen.pid).own); };
  await page.choose([file]);
  const looking = setInterval(look, 250), { took, whole, state } = await page.ask({ seconds: 1800 });
  clearInterval(looking);
  look();
  if (!/^Done/.test(state)) throw new Error(state);
  return { took, whole, before, after: { ...memory(chosen.pid), own } };
}

let good = false;
try {
  const { took, whole, before, after } = await measured(), { size } = statSync(file);
  const told = ({ peak, own, browser }) => `tab ${mb(peak)}, ${mb(own)} of its own; browser ${mb(browser)}`;
  console.log(`${(size / 1e9).toFixed(2)} GB, judged after ${seconds(took)}, with pictures and hashes after ${seconds(whole)}`);
  console.log(`before: ${told(before)}\nat its highest: ${told(after)}`);
  good = after.peak > 0 && after.peak <= most;
  if (!good) console.log(`more than ${mb(most)}, or nothing to be seen`);
} catch (error) {
  console.log(error.stack);
}
server.close();
chosen.end(good);
