// Points and their files: captures that are dropped become points, named after the files, in an order that can be changed;
// what a host printed stands beside them.
import { isCapture } from "./kinds.js";

const SUFFIXES = /\.(gz|zst|zstd|pcap|pcapng|cap)$/i;

/**
 * A point, by its name and file; and a file as it is asked for, by its number.
 * @typedef {{ name: string, file: File }} Point
 * @typedef {{ number: number, name: string, size: number }} Numbered
 */

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
      this.points.push({ name, file });
    }
    this.show();
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
   * @param {Point[] | File[]} from
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
    const leave = button("\u00d7", () => this.leaveOut(this.hosts, this.hostList, i));
    leave.setAttribute("aria-label", `Leave out: ${file.name}`);
    item.append(described(file), leave);
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
    item.append(name, described(point.file), ...buttons);
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
 * @param {File} file
 */
function described(file) {
  const made = document.createElement("span"), name = document.createElement("bdi");
  made.className = "files";
  name.textContent = file.name;
  made.append(name, `, ${file.size.toLocaleString("en")} bytes`);
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
    // What file managers leave in folders is nobody's capture.
    for (const one of some) if (!one.name.startsWith(".")) await walk(one, found);
  }
}
