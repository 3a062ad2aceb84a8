// What the analysis reads and tells, in the worker: files by their numbers, slice by slice.
const files = new Map(), reader = typeof FileReaderSync === "undefined" ? null : new FileReaderSync();
// So much is read at once: asking the browser costs as much as copying some 100 KB.
const AHEAD = 1 << 20;
let held = { number: -1, from: 0, bytes: new Uint8Array(0) };

export function setFiles(list) {
  files.clear();
  list.forEach((file, number) => files.set(number, file));
  held = { number: -1, from: 0, bytes: new Uint8Array(0) };
}

export function readSlice(number, from, into) {
  const at = from - held.from;
  if (held.number !== number || at < 0 || at >= held.bytes.length) {
    const slice = files.get(number).slice(from, from + Math.max(AHEAD, into.length));
    let bytes;
    try {
      bytes = new Uint8Array(reader.readAsArrayBuffer(slice));
    } catch {
      throw ""; // Words for people are in slices.rs.
    }
    if (!bytes.length) throw "the file is shorter than when it was chosen";
    held = { number, from, bytes };
    return copy(bytes, into);
  }
  return copy(held.bytes.subarray(at), into);
}

function copy(bytes, into) {
  const some = bytes.length > into.length ? bytes.subarray(0, into.length) : bytes;
  into.set(some);
  return some.length;
}

let last = 0;
export function tellProgress(step, bytes) {
  const now = performance.now();
  if (now - last < 100 && step === "reading") return;
  last = now;
  postMessage({ kind: "progress", step, bytes });
}
