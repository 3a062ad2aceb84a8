// Points and their files: captures that are dropped become points, named after the files, in an order that can be changed;
// what a host printed stands beside them.
import { isCapture } from "./kinds.js";

const SUFFIXES = /\.(gz|zst|zstd|pcap|pcapng|cap)$/i;

/**
 * A point, by its name and file; what a host printed, as a file or as files of a folder; and a file as it is asked for, by its number.
 * @typedef {{ name: string, file: File }} Point
 * @typedef {{ folder: Folder | null, files: Given[] }} Host
 * @typedef {{ number: number, name: string, size: number }} Numbered
 */

/**
 * A folder that was dropped; and a file, which has a path in its folder.
 * @typedef {{ name: string }} Folder
 * @typedef {{ file: File, folder: Folder | null, path: string }} Given
 */

/** @param {File} file @returns {Given} */
export const alone = file => ({ file, folder: null, path: file.name });

/** @param {string} name */
export const stem = name => {
  let rest = name;
  while (SUFFIXES.test(rest) && rest.replace(SUFFIXES, "")) rest = rest.replace(SUFFIXES, "");
  return rest;
};

export class Points {
  /**
   * @param {HTMLElement} list
   * @param {HTMLElement} hostList
   * @param {(count: number) => void} changed
   * @param {(words: string) => void} say
   */
  constructor(list, hostList, changed, say) {
    this.list = list;
    this.hostList = hostList;
    this.changed = changed;
    this.say = say;
    /** @type {Point[]} */
    this.points = [];
    /** @type {Host[]} */
    this.hosts = [];
    /** @type {number | null} */
    this.held = null;
  }

  /** @param {Given[]} given */
  async add(given) {
    const kinds = await Promise.all(given.map(async one => ({ one, captured: await isCapture(one.file, !!one.folder) })));
    for (const { one, captured } of kinds) captured ? this.addPoint(one.file) : this.addHost(one);
    this.show();
  }

  /** @param {File} file */
  addPoint(file) {
    const taken = new Set(this.points.map(point => point.name));
    let name = stem(file.name);
    for (let n = 2; taken.has(name); n++) name = `${stem(file.name)}-${n}`;
    this.points.push({ name, file });
  }

  // What a folder holds is about one host, unless it says otherwise: all of it is read together.
  /** @param {Given} one */
  addHost(one) {
    const known = one.folder && this.hosts.find(({ folder }) => folder === one.folder);
    if (known) known.files.push(one);
    else this.hosts.push({ folder: one.folder, files: [one] });
  }

  clear() { this.points = []; this.hosts = []; this.show(); }

  /** @param {number} from @param {number} to */
  move(from, to) {
    if (to < 0 || to >= this.points.length || from === to) return;
    this.points.splice(to, 0, ...this.points.splice(from, 1));
    this.show();
    this.say(`${this.points[to].name} is point ${to + 1} of ${this.points.length}.`);
  }

  /**
   * By one of its buttons, which stays at hand wherever the point is now.
   * @param {number} from
   * @param {number} to
   * @param {number} button
   */
  step(from, to, button) {
    this.move(from, to);
    const now = Math.max(0, Math.min(to, this.points.length - 1));
    this.list.children[now].querySelectorAll("button")[button].focus();
  }

  /**
   * The same button of whoever stands there now has the focus.
   * @param {Point[] | Host[]} from
   * @param {HTMLElement} list
   * @param {number} i
   */
  leaveOut(from, list, i) {
    from.splice(i, 1);
    this.show();
    const buttons = list.children[Math.min(i, from.length - 1)]?.querySelectorAll("button") ?? [];
    buttons[buttons.length - 1]?.focus();
  }

  // Files of one name are one point, read one after the other.
  asked() {
    /** @type {File[]} */
    const files = [];
    /** @type {{ name: string, files: Numbered[] }[]} */
    const points = [];
    for (const { name, file } of this.points) {
      let point = points.find(one => one.name === name);
      if (!point) points.push(point = { name, files: [] });
      point.files.push({ number: files.push(file) - 1, name: file.name, size: file.size });
    }
    /** @param {Given} given @returns {Numbered} */
    const numbered = ({ file, path }) => ({ number: files.push(file) - 1, name: path, size: file.size });
    const hosts = this.hosts.flatMap(({ folder, files }) => folder ? [] : files.map(numbered));
    const folders = this.hosts.flatMap(({ folder, files }) => folder ? [{ name: folder.name, files: files.map(numbered) }] : []);
    return { files, points, hosts, folders };
  }

  show() {
    this.list.replaceChildren(...this.points.map((point, i) => this.item(point, i)));
    this.hostList.replaceChildren(...this.hosts.map((host, i) => this.hostItem(host, i)));
    this.changed(this.points.length + this.hosts.length);
  }

  /** @param {Host} host @param {number} i */
  hostItem({ folder, files }, i) {
    const item = document.createElement("li"), name = folder ? folder.name : files[0].path;
    const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
    const leave = button("\u00d7", () => this.leaveOut(this.hosts, this.hostList, i));
    leave.setAttribute("aria-label", `Leave out: ${name}`);
    item.append(described(name, folder && files.length, bytes), leave);
    return item;
  }

  /**
   * Names of files are text, whatever is in them.
   * @param {Point} point
   * @param {number} i
   */
  item(point, i) {
    const item = document.createElement("li"), name = document.createElement("input");
    const buttons = [
      button("\u2191", () => this.step(i, i - 1, 0)),
      button("\u2193", () => this.step(i, i + 1, 1)),
      button("\u00d7", () => this.leaveOut(this.points, this.list, i)),
    ];
    const label = () => ["Earlier on the path", "Later on the path", "Leave out"].forEach((what, n) => buttons[n].setAttribute("aria-label", `${what}: ${point.name}`));
    label();
    name.type = "text"; name.value = point.name;
    name.setAttribute("aria-label", `Name of point ${i + 1}`);
    name.addEventListener("input", () => { point.name = name.value || stem(point.file.name); label(); });
    item.append(name, described(point.file.name, null, point.file.size), ...buttons);
    item.draggable = true;
    // In its name the mouse selects letters.
    name.addEventListener("pointerenter", () => { item.draggable = false; });
    name.addEventListener("pointerleave", () => { item.draggable = true; });
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

/**
 * A name that is written from right to left, or claims to be, changes nothing beside it.
 * @param {string} words
 * @param {number | null} count of the files in a folder
 * @param {number} bytes
 */
function described(words, count, bytes) {
  const made = document.createElement("span"), name = document.createElement("bdi");
  made.className = "files";
  name.textContent = words;
  const files = count === null ? "" : `, a folder: ${count.toLocaleString("en")} ${count === 1 ? "file" : "files"}`;
  made.append(name, `${files}, ${bytes.toLocaleString("en")} bytes`);
  return made;
}

/** @param {string} text @param {() => void} act */
function button(text, act) {
  const made = document.createElement("button");
  made.type = "button"; made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

/**
 * Files of a drop, those in folders among them.
 * @param {DataTransfer} transfer
 */
export async function dropped(transfer) {
  const entries = [...transfer.items].map(item => item.webkitGetAsEntry?.()).filter(entry => !!entry);
  if (!entries.length) return [...transfer.files].map(alone);
  /** @type {Given[]} */
  const found = [];
  for (const entry of entries) await walk(entry, entry.isDirectory ? { name: entry.name } : null, "", found);
  return found.sort((a, b) => a.file.name.localeCompare(b.file.name, "en", { numeric: true }));
}

/**
 * @param {FileSystemEntry} entry
 * @param {Folder | null} folder that was dropped
 * @param {string} above the path from there
 * @param {Given[]} found
 * @returns {Promise<void>}
 */
async function walk(entry, folder, above, found) {
  if (entry.isFile) {
    const one = /** @type {FileSystemFileEntry} */ (entry);
    /** @type {File} */
    const file = await new Promise((done, failed) => one.file(done, failed));
    found.push({ file, folder, path: above + file.name });
    return;
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const some = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (!some.length) return;
    // What file managers leave in folders is nobody's capture.
    for (const one of some) if (!one.name.startsWith(".")) await walk(one, folder, one.isFile ? above : `${above}${one.name}/`, found);
  }
}
