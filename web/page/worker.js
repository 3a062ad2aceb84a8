// The analysis, in a thread of its own: the page stays alive, and to cancel is to end this one.
import init, { analyse } from "./coalescope.js";
import { setFiles, toldBug } from "./slices.js";

onmessage = async ({ data: { module, files, asked, ahead } }) => {
  try {
    await init({ module_or_path: module });
    setFiles(files, ahead);
    const judged = analyse(JSON.stringify(asked));
    // The verdict first: of many connections JSON is long, and pictures and hashes take two more readings.
    postMessage({ kind: "judged", found: { impact: judged.impact(), verdict: judged.verdict(), warnings: judged.warnings(), text: judged.text() } });
    postMessage({ kind: "written", json: judged.json() });
    postMessage({ kind: "done", page: judged.page() });
  } catch (error) {
    postMessage({ kind: "failed", why: wordsOf(error) });
  }
};

/**
 * An error of the analysis is a text; what WebAssembly itself throws is for programmers.
 * @param {unknown} error
 */
function wordsOf(error) {
  if (typeof error === "string") return error;
  const said = error instanceof Error ? error.message : String(error);
  if (toldBug()) return `This is a bug of coalescope, please report it: ${toldBug()}`;
  if (error instanceof RangeError || /memory|unreachable/i.test(said))
    return "This tab ran out of memory. The program itself (coalescope trace) reads captures of any size.";
  return said;
}
