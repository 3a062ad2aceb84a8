// Reads files ahead of the analysis, in a thread of its own: while one slice is judged, the next one is on its way. A stream has no pause
// between one slice and the next, in which the browser would be asked anew.
import { SLICE, away, fill, part } from "./shared.js";

/**
 * A file that is read from somewhere to its end: what comes next stands there in it, and some of that is here already.
 * @typedef {{ reader: ReadableStreamDefaultReader<Uint8Array>, at: number, chunk: Uint8Array, taken: number }} Source
 */
/** @type {Map<number, Source>} */
const sources = new Map();
let turn = Promise.resolve();

onmessage = ({ data: { files, port } }) => {
  port.onmessage = (/** @type {MessageEvent<import("./shared.js").Wanted>} */ { data: { number, from, slot } }) => {
    turn = turn.then(() => read(files[number], number, from, slot));
  };
};

/** @param {File} file @param {number} number @param {number} from @param {SharedArrayBuffer} slot */
async function read(file, number, from, slot) {
  try {
    const source = sourceAt(file, number, from), length = await take(source, slot);
    source.at += length;
    if (length < SLICE) sources.delete(number);
    fill(slot, length);
  } catch {
    sources.delete(number);
    fill(slot, null); // Whoever reads it the other way says why.
  }
}

/** @param {File} file @param {number} number @param {number} from */
function sourceAt(file, number, from) {
  const old = sources.get(number);
  if (old?.at === from) return old;
  old?.reader.cancel().catch(() => {});
  const source = { reader: file.slice(from).stream().getReader(), at: from, chunk: new Uint8Array(0), taken: 0 };
  sources.set(number, source);
  return source;
}

/** @param {Source} source @param {SharedArrayBuffer} slot */
async function take(source, slot) {
  for (let length = 0;;) {
    const some = source.chunk.subarray(source.taken, source.taken + SLICE - length);
    part(slot, some, length);
    source.taken += some.length;
    length += some.length;
    if (length === SLICE) return length;
    away(source.chunk);
    const { done, value } = await source.reader.read();
    if (done) return length;
    source.chunk = value;
    source.taken = 0;
  }
}
