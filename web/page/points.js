// Points and their files: captures that are dropped become points, named after the files, in an order that can be changed;
// what a host printed stands beside them.
import { isCapture } from "./kinds.js";

const SUFFIXES = /\.(gz|zst|zstd|pcap|pcapng|cap)$/i;

/**
 * A point, by its name and files; and a file as it is asked for, by its number.
 * @typedef {{ name: string, files: File[] }} Point
 * @typedef {{ number: number, name: string, size: number }} Numbered
 */

/** @param {string} name */
export const stem = name => {
  let rest = name;
  while (SUFFIXES.test(rest) && rest.replace(SUFFIXES, "")) rest = rest.replace(SUFFIXES, "");
  return rest;
};

export class Points {
  /** @param {HTMLElement} list @param {HTMLElement} hostList @param {(count: number) => void} changed */
  constructor(list, hostList, changed) {
    this.list = list;
    this.hostList = hostList;
    this.changed = changed;
    /** @type {Point[]} */
    this.points = [];
    /** @type {File[]} */
    this.hosts = [];
    /** @type {number | null} */
    this.held = null;
  }

  /** @param {File[]} files */
  async add(files) {
    const kinds = await Promise.all(files.map(async file => ({ file, captured: await isCapture(file) })));
    for (const { file, captured } of kinds) {
      if (!captured) {
        this.hosts.push(file);
        continue;
      }
      const taken = new Set(this.points.map(point => point.name));
      let name = stem(file.name);
      for (let n = 2; taken.has(name); n++) name = `${stem(file.name)}-${n}`;
      this.points.push({ name, files: [file] });
    }
    this.show();
  }

  clear() { this.points = []; this.hosts = []; this.show(); }

  /** @param {number} from @param {number} to */
  move(from, to) {
    if (to < 0 || to >= this.points.length || from === to) return;
    this.points.splice(to, 0, ...this.points.splice(from, 1));
    this.show();
  }

  // Files of one name are one point, read one after the other.
  asked() {
    /** @type {File[]} */
    const files = [];
    /** @type {{ name: string, files: Numbered[] }[]} */
    const points = [];
    for (const { name, files: own } of this.points) {
      let point = points.find(one => one.name === name);
      if (!point) points.push(point = { name, files: [] });
      for (const file of own) point.files.push({ number: files.push(file) - 1, name: file.name, size: file.size });
    }
    const hosts = this.hosts.map(file => ({ number: files.push(file) - 1, name: file.name, size: file.size }));
    return { files, points, hosts };
  }

  show() {
    this.list.replaceChildren(...this.points.map((point, i) => this.item(point, i)));
    this.hostList.replaceChildren(...this.hosts.map((file, i) => this.hostItem(file, i)));
    this.changed(this.points.length + this.hosts.length);
  }

  /** @param {File} file @param {number} i */
  hostItem(file, i) {
    const item = document.createElement("li");
    item.append(described([file]), button("\u00d7", `Leave out ${file.name}`, () => { this.hosts.splice(i, 1); this.show(); }));
    return item;
  }

  /**
   * Names of files are text, whatever is in them.
   * @param {Point} point
   * @param {number} i
   */
  item(point, i) {
    const item = document.createElement("li"), name = document.createElement("input");
    name.type = "text"; name.value = point.name;
    name.setAttribute("aria-label", `Name of point ${i + 1}`);
    name.addEventListener("input", () => { point.name = name.value || stem(point.files[0].name); });
    item.append(name, described(point.files), button("\u2191", `Earlier on the path: ${point.name}`, () => this.move(i, i - 1)),
      button("\u2193", `Later on the path: ${point.name}`, () => this.move(i, i + 1)),
      button("\u00d7", `Leave out ${point.name}`, () => { this.points.splice(i, 1); this.show(); }));
    item.draggable = true;
    item.addEventListener("dragstart", () => { this.held = i; item.classList.add("held"); });
    item.addEventListener("dragend", () => { this.held = null; item.classList.remove("held"); });
    item.addEventListener("dragover", event => { if (this.held !== null) event.preventDefault(); });
    item.addEventListener("drop", event => {
      if (this.held === null) return;
      event.preventDefault(); event.stopPropagation();
      this.move(this.held, i);
    });
    return item;
  }
}

/** @param {File[]} files */
function described(files) {
  const made = document.createElement("span");
  made.className = "files";
  made.textContent = files.map(file => `${file.name}, ${file.size.toLocaleString("en")} bytes`).join("; ");
  return made;
}

/** @param {string} text @param {string} label @param {() => void} act */
function button(text, label, act) {
  const made = document.createElement("button");
  made.type = "button"; made.textContent = text; made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}

/**
 * Files of a drop, those in folders among them.
 * @param {DataTransfer} transfer
 */
export async function dropped(transfer) {
  const entries = [...transfer.items].map(item => item.webkitGetAsEntry?.()).filter(entry => !!entry);
  if (!entries.length) return [...transfer.files];
  /** @type {File[]} */
  const found = [];
  for (const entry of entries) await walk(entry, found);
  return found.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
}

/**
 * @param {FileSystemEntry} entry
 * @param {File[]} found
 * @returns {Promise<void>}
 */
async function walk(entry, found) {
  if (entry.isFile) {
    const file = /** @type {FileSystemFileEntry} */ (entry);
    found.push(await new Promise((done, failed) => file.file(done, failed)));
    return;
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return;
    for (const one of some) await walk(one, found);
  }
}
