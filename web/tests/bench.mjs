// Speed of the page beside the program, in the same run: node web/tests/bench.mjs DIR PROGRAM GEN
//
// DIR is what scripts/web built, PROGRAM the command (profile dist), GEN bench/trace's generator of captures. CHROMIUM names the
// browser. SMALL=N takes an Nth of the frames, REPS (3) is how often each runs, in turn; the best time counts. The program reads
// with one thread, as the page does, and as whoever calls it has it. TMPDIR holds the captures, 1.1 GB at a time. Ratios are what
// to compare: figures are of one machine on one day.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Page, browser, served } from "./page.mjs";

const [dir, program, gen] = process.argv.slice(2).map((path) => resolve(path));
const part = Number(process.env.SMALL ?? 1), reps = Number(process.env.REPS ?? 3);
const scratch = mkdtempSync(join(tmpdir(), "coalescope-web-bench-"));
const chosen = await browser(), page = new Page(chosen), server = await served(dir);
const seconds = (ms) => (ms / 1000).toFixed(3), rate = (frames, ms) => (frames / ms / 1000).toFixed(2);

// A capture of so many frames in so many connections, of which so many bytes are kept.
function written(name, frames, snap, connections, seed) {
  const path = join(scratch, `${name}.pcap`);
  const truth = execFileSync(gen, [path, frames, snap, connections, 2, seed, 16].map(String));
  return { path, frames: JSON.parse(truth).frames };
}

function byProgram(path, threads) {
  const began = performance.now();
  try {
    execFileSync(program, ["trace", ...threads, path], { stdio: "ignore" });
  } catch (error) {
    if (error.status !== 1) throw error;
  }
  return performance.now() - began;
}

async function byPage(path) {
  await page.choose([path]);
  const { took, whole, state } = await page.ask({ seconds: 600 });
  if (!took) throw new Error(state);
  return { took, whole };
}

async function compared(name, frames, connections, seed) {
  const capture = written(name, Math.round(frames / part), 96, connections, seed);
  const best = { one: Infinity, two: Infinity, page: Infinity, whole: Infinity };
  for (let run = 0; run < reps; run++) {
    best.one = Math.min(best.one, byProgram(capture.path, ["--threads", "1"]));
    best.two = Math.min(best.two, byProgram(capture.path, []));
    const { took, whole } = await byPage(capture.path);
    best.page = Math.min(best.page, took);
    best.whole = Math.min(best.whole, whole);
  }
  rmSync(capture.path);
  const share = (ms) => `${Math.round((100 * ms) / best.page)}%`;
  const of = (ms) => `${seconds(ms)} s, ${rate(capture.frames, ms)}`;
  console.log(`| ${name} | ${capture.frames} | ${of(best.one)} | ${of(best.two)} | ${of(best.page)} | ${share(best.one)} | ${share(best.two)} | ${seconds(best.whole)} s |`);
}

// From the drop of captures on a page that has just been opened to the verdict.
async function firstVerdict() {
  const kept = join(scratch, "demo");
  execFileSync(program, ["demo", "hyperv-rsc-jumbo", "--keep", kept], { stdio: "ignore" });
  const times = [];
  for (let run = 0; run < reps; run++) {
    await page.open(server.url);
    const told = page.evaluate(`new Promise((done) => {
      let began = 0;
      addEventListener("drop", () => { began = performance.now(); }, true);
      const look = () => {
        if (!document.getElementById("result").hidden) return done(performance.now() - began);
        if (began && !document.getElementById("run").disabled) document.getElementById("run").click();
        setTimeout(look, 2);
      };
      look();
    })`);
    await chosen.drop(readdirSync(kept).sort().map((name) => join(kept, name)));
    times.push(await told);
  }
  console.log(`\nFirst verdict of the demo's captures after their drop on a page just opened: ${times.map(seconds).join(", ")} s`);
}

let good = true;
try {
  console.log(`${cpus().length} cores, ${cpus()[0].model}, load ${loadavg()[0].toFixed(1)}; best of ${reps}; times are to the verdict, rates in million frames/s`);
  await page.open(server.url);
  console.log("\n| workload | frames | program, one thread | program | page | page: of one thread | of the program | page, with its report |\n|---|---|---|---|---|---|---|---|");
  await compared("connections-200", 10_000_000, 200, 2);
  await compared("connections-20000", 2_000_000, Math.max(1, Math.round(20_000 / part)), 3);
  await firstVerdict();
  // Where nothing is kept, reading and judging take turns.
  const other = await served(dir);
  await page.open(`${other.url}#unkept`);
  await compared("connections-200, in turn", 10_000_000, 200, 2);
  other.close();
} catch (error) {
  console.log(error.stack);
  good = false;
}
rmSync(scratch, { recursive: true });
server.close();
chosen.end(good);
