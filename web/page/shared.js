// Slices of files: read; and in memory that two workers share: how many bytes there are, then the bytes.
export const SLICE = 1 << 20;
// Where reading and judging take turns, and each slice is asked for anew, larger ones take a quarter less time.
const IN_TURN = 4 << 20;
// Whole words are copied to and from shared memory where both sides are aligned alike, else byte after byte at a fifth of that speed.
const HEAD = 64, WAITING = -1, FAILED = -2;
// Somebody who reads ahead answers within milliseconds, of a sleeping disk within seconds.
const PATIENCE_MS = 10_000;
const reader = new FileReaderSync();
const { port1: nobody, port2: closed } = new MessageChannel();
closed.close();

/**
 * Bytes of a file that are wanted in one of the pieces of such memory that belong to that file. They are sent along once: to send memory
 * takes longer than to read it.
 * @typedef {{ number: number, from: number, slot: number, slots?: SharedArrayBuffer[] }} Wanted
 */

/** @param {File} file @param {number} from */
export function slice(file, from) {
  return new Uint8Array(reader.readAsArrayBuffer(file.slice(from, from + (from < SLICE ? SLICE : IN_TURN))));
}

/**
 * Given away, and so given back at once: as garbage some 200 MB of slices would lie about.
 * @param {Uint8Array} bytes
 */
export function away(bytes) {
  if (bytes.length) nobody.postMessage(null, [bytes.buffer]);
}

/** Memory for a slice. */
export const slot = () => new SharedArrayBuffer(HEAD + SLICE);

/**
 * Nothing is in it any more.
 * @param {SharedArrayBuffer} slot
 */
export function empty(slot) {
  Atomics.store(new Int32Array(slot, 0, 1), 0, WAITING);
}

/** @param {SharedArrayBuffer} slot @param {Uint8Array} bytes @param {number} at */
export function part(slot, bytes, at) {
  new Uint8Array(slot, HEAD).set(bytes, at);
}

/**
 * It holds so many bytes; or none, since reading failed.
 * @param {SharedArrayBuffer} slot
 * @param {number | null} bytes
 */
export function fill(slot, bytes) {
  const length = new Int32Array(slot, 0, 1);
  Atomics.store(length, 0, bytes ?? FAILED);
  Atomics.notify(length, 0);
}

/**
 * Waits until it is filled: null where reading failed, or nobody answers.
 * @param {SharedArrayBuffer} slot
 */
export function filled(slot) {
  const length = new Int32Array(slot, 0, 1);
  Atomics.wait(length, 0, WAITING, PATIENCE_MS);
  const bytes = Atomics.load(length, 0);
  return bytes < 0 ? null : new Uint8Array(slot, HEAD, bytes);
}
