// What a file is: a capture, or what a host printed. Its first bytes decide, and its name where it is packed.
const MAGIC = new Set(["a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "a1b2cd34", "34cdb2a1", "0a0d0d0a"]);
const PACKED = ["1f8b", "28b52ffd"];
const CAPTURE = /\.(pcap|pcapng|cap|dmp|snoop)\d*(\.(gz|zst|zstd))?$/i;
const HOST = /\.(tar|tgz|txz|tbz2?|tar\.\w+|txt|json|log|out|conf)(\.(gz|zst|zstd|xz|bz2))?$|sosreport/i;

/** @param {File} file */
export async function isCapture(file) {
  // One that cannot be read is told so by whoever reads it.
  const first = await file.slice(0, 4).arrayBuffer().catch(() => new ArrayBuffer(0));
  const hex = Array.from(new Uint8Array(first), byte => byte.toString(16).padStart(2, "0")).join("");
  if (MAGIC.has(hex)) return true;
  if (CAPTURE.test(file.name) || !hex) return true;
  return PACKED.some(magic => hex.startsWith(magic)) && !HOST.test(file.name);
}
