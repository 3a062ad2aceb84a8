// Reads files ahead of the analysis, in a thread of its own: while one slice is judged, the next one is on its way. A stream has no pause
// between one slice and the next, in which the browser would be asked anew.
import { SLICE, fill, part } from "./shared.js";

/**
 * A file that is read from somewhere to its end, into a buffer that goes to the browser and comes back: some third faster than
 * with buffers of the browser's own.
 * @typedef {{ reader: ReadableStreamBYOBReader, at: number, buffer: ArrayBuffer }} Source
 */
/** @type {Map<number, Source>} */
const sources = new Map();
/** @type {Map<number, SharedArrayBuffer[]>} */
const memory = new Map();
let turn = Promise.resolve();

onmessage = ({ data: { files, port } }) => {
  port.onmessage = (/** @type {MessageEvent<import("./shared.js").Wanted>} */ { data: { number, from, slot, slots } }) => {
    if (slots) memory.set(number, slots);
    const own = memory.get(number)?.[slot];
    if (own) turn = turn.then(() => read(files[number], number, from, own));
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
  const source = { reader: file.slice(from).stream().getReader({ mode: "byob" }), at: from, buffer: new ArrayBuffer(SLICE) };
  sources.set(number, source);
  return source;
}

/** @param {Source} source @param {SharedArrayBuffer} slot */
async function take(source, slot) {
  for (let length = 0;;) {
    const { done, value } = await source.reader.read(new Uint8Array(source.buffer, 0, SLICE - length));
    if (done) return length;
    source.buffer = value.buffer;
    part(slot, value, length);
    length += value.length;
    if (length === SLICE) return length;
  }
}
