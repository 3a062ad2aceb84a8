// What the analysis reads and tells, in the worker: files by their numbers, slice by slice.
import { SLICE, away, empty, filled, slice, slot } from "./shared.js";

/** @type {File[]} */
let files = [];
/** @type {MessagePort | null} */
let ahead = null;
// Slices that are used piece by piece: of each file that is being read, since points take turns; and under OPENING of the one opened last.
const OPENING = -1;
/** @type {Map<number, { number: number, from: number, bytes: Uint8Array }>} */
const held = new Map();
/** @type {Map<number, Stream>} */
const streams = new Map();

/**
 * The port leads to whoever reads ahead, if somebody does.
 * @param {File[]} list
 * @param {MessagePort | null} port
 */
export function setFiles(list, port) {
  files = list;
  ahead = port;
}

/** @param {number} number @param {number} from @param {Uint8Array} into */
export function readSlice(number, from, into) {
  const bytes = readAhead(number, from) ?? readNow(number, from);
  if (!bytes.length) throw "the file is shorter than when it was chosen";
  // What is given away has no length any more.
  const length = Math.min(bytes.length, into.length);
  into.set(bytes.subarray(0, length));
  if (from + length >= files[number].size) drop(number);
  return length;
}

/** @param {number} number @param {number} from */
function readNow(number, from) {
  const place = from < SLICE ? OPENING : number, old = held.get(place);
  const at = old?.number === number ? from - old.from : -1;
  if (old && at >= 0 && at < old.bytes.length) return old.bytes.subarray(at);
  let bytes;
  try {
    bytes = slice(files[number], from);
  } catch {
    throw ""; // Words for people are in slices.rs.
  }
  drop(place);
  held.set(place, { number, from, bytes });
  return bytes;
}

/** @param {number} place */
function drop(place) {
  const old = held.get(place);
  if (old) away(old.bytes);
  held.delete(place);
}

// Of files that are only opened for now nothing is read ahead: there may be hundreds.
/** @param {number} number @param {number} from */
function readAhead(number, from) {
  if (!ahead || from < SLICE) return null;
  let stream = streams.get(number);
  if (!stream) streams.set(number, stream = new Stream(ahead, number));
  const bytes = stream.at(from);
  if (!bytes) ahead = null;
  if (!bytes || from + bytes.length >= files[number].size) streams.delete(number);
  return bytes;
}

// A file that is read from one end to the other: the slice that is being judged, and the next one.
class Stream {
  /** @param {MessagePort} port @param {number} number */
  constructor(port, number) {
    this.port = port;
    this.number = number;
    this.from = 0;
    /** @type {Uint8Array} */
    this.bytes = new Uint8Array(0);
    this.asked = -1;
    this.slots = [slot(), slot()];
    this.next = 0;
  }

  /** @param {number} from */
  at(from) {
    const at = from - this.from;
    if (at >= 0 && at < this.bytes.length) return this.bytes.subarray(at);
    if (this.asked !== from) this.ask(from);
    const bytes = filled(this.slots[this.next]);
    if (!bytes) return null;
    this.next = 1 - this.next;
    this.from = from;
    this.bytes = bytes;
    if (bytes.length === SLICE) this.ask(from + SLICE);
    return bytes;
  }

  /** @param {number} from */
  ask(from) {
    // Whoever asks otherwise than in order may still be answered: that answer is for memory which nobody looks at any more.
    const isNew = from !== this.asked + SLICE;
    if (isNew) this.slots = [slot(), slot()];
    this.asked = from;
    empty(this.slots[this.next]);
    this.port.postMessage({ number: this.number, from, slot: this.next, ...(isNew && { slots: this.slots }) });
  }
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
