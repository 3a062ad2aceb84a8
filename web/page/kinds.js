// What a file is: a capture, or what a host printed. Its first bytes decide, and its name where it is packed as no browser unpacks.
const MAGIC = new Set(["a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "a1b2cd34", "34cdb2a1", "0a0d0d0a"]);
const GZIP = "1f8b", ZSTD = "28b52ffd";
const CAPTURE = /\.(pcap|pcapng|cap|dmp|snoop)\d*(\.(gz|zst|zstd))?$/i;
const HOST = /\.(tar|tgz|txz|tbz2?|tar\.\w+|txt|json|log|out|conf)(\.(gz|zst|zstd|xz|bz2))?$|sosreport/i;

/**
 * In a folder only what is a capture is one, and what has the name of one: there is more in folders, empty files among it.
 * @param {File} file
 * @param {boolean} isInFolder
 */
export async function isCapture(file, isInFolder) {
  if (CAPTURE.test(file.name)) return true;
  const first = await firstOf(file.slice(0, 4).stream());
  if (MAGIC.has(first)) return true;
  // One that cannot be read, or is empty, is told so by whoever reads it.
  if (!first) return !isInFolder;
  if (first.startsWith(GZIP)) return MAGIC.has(await firstOf(unpacked(file)));
  return first.startsWith(ZSTD) && !HOST.test(file.name) && !isInFolder;
}

/** @param {File} file */
const unpacked = file => file.slice(0, 1 << 16).stream().pipeThrough(new DecompressionStream("gzip"));

/**
 * The first four bytes, or none, as hexadecimal digits.
 * @param {ReadableStream<Uint8Array>} stream
 */
async function firstOf(stream) {
  const reader = stream.getReader();
  let digits = "";
  try {
    while (digits.length < 8) {
      const { done, value } = await reader.read();
      if (done) break;
      digits += Array.from(value.subarray(0, 4), byte => byte.toString(16).padStart(2, "0")).join("");
    }
    // What is behind these bytes is of no interest, nor that it is cut.
    reader.cancel().catch(() => {});
  } catch {
    return "";
  }
  return digits.slice(0, 8);
}
