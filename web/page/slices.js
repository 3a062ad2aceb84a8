// What the analysis reads and tells, in the worker: files by their numbers, slice by slice.
/** @type {File[]} */
let files = [];
const reader = new FileReaderSync();
// So much is read at once: asking the browser costs as much as copying some 100 KB.
const AHEAD = 1 << 20;
const { port1: nobody, port2: closed } = new MessageChannel();
closed.close();
let held = { number: -1, from: 0, bytes: new Uint8Array(0) };

/** @param {File[]} list */
export function setFiles(list) {
  files = list;
  held = { number: -1, from: 0, bytes: new Uint8Array(0) };
}

/** @param {number} number @param {number} from @param {Uint8Array} into */
export function readSlice(number, from, into) {
  const at = from - held.from;
  if (held.number !== number || at < 0 || at >= held.bytes.length) {
    const slice = files[number].slice(from, from + Math.max(AHEAD, into.length));
    let bytes;
    try {
      bytes = new Uint8Array(reader.readAsArrayBuffer(slice));
    } catch {
      throw ""; // Words for people are in slices.rs.
    }
    if (!bytes.length) throw "the file is shorter than when it was chosen";
    // Given away, and so given back at once: as garbage some 200 MB of slices would lie about.
    nobody.postMessage(null, [held.bytes.buffer]);
    held = { number, from, bytes };
    return copy(bytes, into);
  }
  return copy(held.bytes.subarray(at), into);
}

/** @param {Uint8Array} bytes @param {Uint8Array} into */
function copy(bytes, into) {
  const some = bytes.length > into.length ? bytes.subarray(0, into.length) : bytes;
  into.set(some);
  return some.length;
}

let bug = "";
/** @param {string} words */
export function tellBug(words) { bug = words; }
export const toldBug = () => bug;

let last = 0;
/** @param {string} step @param {number} bytes */
export function tellProgress(step, bytes) {
  const now = performance.now();
  if (now - last < 100 && step === "reading") return;
  last = now;
  postMessage({ kind: "progress", step, bytes });
}
