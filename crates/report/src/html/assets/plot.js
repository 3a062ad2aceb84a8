// Time-sequence plots: drawn anew when zoomed, and what is under the pointer in words.
// Without this script they are still there, as a whole.
"use strict";
(() => {
  const ARMS = [[60, 4], [300, 2.5], [Infinity, 1.5]], LEAST = 2, BORDERS = 8, NEAR = 14, NARROWEST = 240;
  const DATA = ["", ", out of order", ", late", ", sent again"];
  const FATE = ["", ", arrived", ", arrived in pieces", ", arrived inside a larger frame", ", lost in part on the next hop",
    ", LOST on the next hop", ", missed by the next capture", ", fate not known"];

  const sums = column => { let sum = 0; return Float64Array.from(column, step => (sum += step)); };
  const tenth = px => Math.round(px * 10) / 10;
  const group = n => Math.round(n).toLocaleString("en-US");

  // The least of 1, 2 or 5 times a power of ten that makes at most so many steps.
  const stepOf = (range, most) => {
    const rough = range / most, power = 10 ** Math.floor(Math.log10(rough));
    return ([1, 2, 5].find(factor => factor * power >= rough * (1 - 1e-9)) ?? 10) * power;
  };
  const ticks = (low, high, most) => {
    const step = stepOf(high - low, most), first = Math.ceil(low / step), values = [];
    for (let i = first; i * step <= high + step * 1e-9; i++) values.push(i * step);
    return { step, values };
  };
  const scaled = (value, step, units) => {
    const [size, name] = units.find(([size]) => Math.abs(value) >= size) ?? units[units.length - 1];
    const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
    return (value / size).toFixed(Math.min(digits, 9)) + " " + name;
  };
  const time = (ns, step) => ns === 0 ? "0 s" : scaled(ns, step, [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]]);
  const bytes = (n, step) => n === 0 ? "0 B" : scaled(n, step, [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"], [1, "B"]]);

  const element = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };

  const unpack = lane => {
    const { data, answers } = lane;
    for (const part of [data, answers]) { part.number = sums(part.number); part.time = sums(part.time); }
    data.start = sums(data.start);
    answers.ack = sums(answers.ack);
    return lane;
  };

  class Sequence {
    constructor(figure) {
      const id = figure.dataset.sequence;
      const plot = JSON.parse(document.getElementById(id + "-data").textContent);
      this.g = plot.geometry;
      this.lanes = plot.lanes.map(unpack);
      this.svg = document.getElementById(id);
      this.whole = [this.g.begin_ns, Math.max(this.g.end_ns, this.g.begin_ns + 1)];
      this.view = [...this.g.view_ns];
      this.figure = figure;
      this.groups = [...this.svg.querySelectorAll("g[data-lane]")];
      this.under = null;
      this.addTools(figure);
      this.listen();
      new ResizeObserver(() => this.fit()).observe(this.svg.parentNode);
    }

    // In a narrow window the picture is drawn as wide as that, and need not be moved sideways.
    fit() {
      const { svg, g, groups } = this, room = svg.parentNode.clientWidth, { width: is, height } = svg.viewBox.baseVal;
      this.usual ??= is;
      const width = room >= 0.75 * this.usual || room < NARROWEST ? this.usual : room;
      if (width === is) return;
      const edge = width === this.usual ? 26 : 14;
      g.right = width - edge;
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("width", width);
      svg.style.minWidth = width === this.usual ? "" : "0";
      svg.querySelector("clipPath > rect").setAttribute("width", width - 10 - g.left);
      for (const group of groups) group.querySelector("text.lane").setAttribute("x", width === this.usual ? g.left : 4);
      this.draw();
    }

    addTools(figure) {
      const tools = document.createElement("div");
      tools.className = "tools";
      // A name contains what is seen, so that who speaks to the page can say that.
      const button = (text, name, act) => {
        const made = document.createElement("button");
        made.type = "button"; made.textContent = text; made.title = name;
        if (text.length === 1) made.setAttribute("aria-label", name);
        made.addEventListener("click", act);
        tools.append(made);
      };
      button("+", "zoom in", () => this.zoom(.5));
      button("\u2212", "zoom out", () => this.zoom(2));
      button("\u2190", "earlier", () => this.pan(-.25));
      button("\u2192", "later", () => this.pan(.25));
      button("Whole trace", "the whole connection", () => this.show(...this.whole));
      const [from, to] = this.g.view_ns;
      if (from > this.whole[0] || to < this.whole[1]) button("First loss", "where it happens first", () => this.show(from, to));
      button("Next loss", "the next frame that vanished", () => this.nextLoss());
      const help = document.createElement("span");
      help.textContent = "or drag over a time; in the picture: wheel or + \u2212 \u2190 \u2192, 0 for all, n and p from frame to frame";
      tools.append(help);
      this.hint = document.createElement("p");
      this.hint.className = "tip"; this.hint.setAttribute("role", "status");
      this.svg.parentNode.before(tools);
      figure.append(this.hint);
      figure.querySelector("details.whole")?.remove();
    }

    listen() {
      const { svg } = this;
      svg.setAttribute("tabindex", "0");
      svg.addEventListener("wheel", event => this.wheel(event), { passive: false });
      svg.addEventListener("keydown", event => this.key(event));
      svg.addEventListener("pointerdown", event => this.press(event));
      svg.addEventListener("pointermove", event => this.move(event));
      svg.addEventListener("pointerup", event => this.release(event));
      svg.addEventListener("pointercancel", () => this.endDrag());
      svg.addEventListener("pointerleave", () => { if (!this.drag) this.say(null); });
    }

    // Scales of the part that is shown: all bytes that passed in this time, in any lane.
    scales() {
      const { g, view: [from, to] } = this;
      let low = Infinity, high = -Infinity;
      if (from === this.whole[0] && to === this.whole[1]) [low, high] = [g.low, g.high];
      else for (const { data } of this.lanes)
        for (let i = 0; i < data.time.length; i++)
          if (data.time[i] >= from && data.time[i] <= to) {
            low = Math.min(low, data.start[i]);
            high = Math.max(high, data.start[i] + data.payload[i]);
          }
      if (low > high) [low, high] = [this.low ?? g.low, this.high ?? g.high];
      else if (from !== this.whole[0] || to !== this.whole[1]) {
        const room = Math.max(high - low, 100) * .06;
        [low, high] = [low - room, high + room];
      }
      [this.low, this.high] = [low, high];
      const wide = (g.right - g.left) / (to - from), tall = g.height / Math.max(high - low, 1);
      this.x = ns => g.left + (ns - from) * wide;
      this.y = byte => Math.min(Math.max(g.height - (byte - low) * tall, -1e4), 1e4);
    }

    draw() {
      this.scales();
      this.lanes.forEach((lane, i) => this.drawLane(lane, this.groups[i]));
      this.drawAxes();
      this.say(this.under);
    }

    drawLane(lane, group) {
      const marks = { window: "", ack: "", sack: "", single: "", merged: "", uncut: "", again: "", odd: "", borders: "", diamonds: "", triangles: "", lost: "" };
      this.drawData(lane, marks);
      this.drawAnswers(lane, marks);
      for (const [kind, d] of Object.entries(marks)) group.querySelector(".marks > path." + kind).setAttribute("d", d);
    }

    drawData({ data, segment }, marks) {
      const { x, y, view: [from, to] } = this;
      const apart = y(this.low) - y(this.low + segment);
      let odd = 0;
      for (let i = 0; i < data.time.length; i++) {
        const fate = data.kind[i] >> 3;
        if (data.time[i] >= from && data.time[i] <= to && (data.kind[i] & 3 || fate === 4 || fate === 5)) odd++;
      }
      const [, arm] = ARMS.find(([most]) => odd <= most);
      for (let i = 0; i < data.time.length; i++) {
        if (data.time[i] < from || data.time[i] > to) continue;
        const at = tenth(x(data.time[i])), bottom = tenth(y(data.start[i]));
        const top = Math.min(tenth(y(data.start[i] + data.payload[i])), bottom - LEAST);
        const what = data.kind[i] & 3, uncut = data.kind[i] & 4, fate = data.kind[i] >> 3;
        const kind = what === 3 ? "again" : what ? "odd" : data.segments[i] <= 1 ? "single" : uncut ? "uncut" : "merged";
        marks[kind] += `M${at} ${bottom}V${top}`;
        const tip = top - 2 * arm;
        if (what === 3) marks.diamonds += `M${at} ${tip}l${arm} ${arm}l-${arm} ${arm}l-${arm} -${arm}z`;
        else if (what) marks.triangles += `M${at - arm} ${tip}h${2 * arm}l-${arm} ${2 * arm}z`;
        if (data.segments[i] > 1 && segment && apart >= BORDERS)
          for (let s = 1; s < data.segments[i]; s++) marks.borders += `M${at - 3} ${tenth(y(data.start[i] + s * segment))}h6`;
        if (fate === 4 || fate === 5) marks.lost += `M${at - arm} ${tenth((top + bottom) / 2 - arm)}l${2 * arm} ${2 * arm}m-${2 * arm} 0l${2 * arm} -${2 * arm}`;
      }
    }

    drawAnswers({ answers }, marks) {
      const { x, y, view: [from, to] } = this, { time: times, ack, window: windows, sack } = answers;
      const line = (kind, value) => {
        let d = "", last = null;
        for (let i = 0; i < times.length && times[i] <= to; i++) {
          const byte = value(i);
          if (byte === null) continue;
          const at = tenth(Math.max(x(times[i]), this.g.left)), here = tenth(y(byte));
          if (times[i] < from) { last = here; continue; }
          if (d === "") d = last === null ? `M${at} ${here}` : `M${this.g.left} ${last}`;
          if (last !== null && here !== last) d += `L${at} ${last}L${at} ${here}`;
          last = here;
        }
        if (last !== null) d += (d === "" ? `M${this.g.left} ${last}` : "") + `H${tenth(Math.min(x(to), x(times[times.length - 1])))}`;
        marks[kind] = d;
      };
      line("ack", i => ack[i]);
      line("window", i => windows[i] < 0 ? null : ack[i] + windows[i]);
      for (let i = 0; i < sack.length; i += 3) {
        const at = times[sack[i]];
        if (at < from || at > to) continue;
        const bottom = tenth(y(sack[i + 1]));
        marks.sack += `M${tenth(x(at))} ${bottom}V${Math.min(tenth(y(sack[i + 2])), bottom - LEAST)}`;
      }
    }

    drawAxes() {
      const { g, view: [from, to] } = this;
      const across = ticks(this.low, this.high, g.height / 45);
      for (const group of this.groups) {
        const axis = element("g", { class: "axis", "aria-hidden": "true" });
        for (const value of across.values) {
          const at = tenth(this.y(value));
          axis.append(element("path", { class: "grid", d: `M${g.left} ${at}H${g.right}` }),
            element("text", { x: g.left - 6, y: at + 4, "text-anchor": "end" }, bytes(value, across.step)));
        }
        group.querySelector(".axis").replaceWith(axis);
      }
      const bottom = g.top + this.lanes.length * (g.height + g.gap) - g.gap, down = ticks(from, to, (g.right - g.left) / 110);
      const axis = element("g", { class: "axis", "aria-hidden": "true" });
      axis.append(element("path", { d: `M${g.left} ${bottom}H${g.right}` }));
      for (const value of down.values) {
        const at = tenth(this.x(value));
        axis.append(element("path", { d: `M${at} ${bottom}v5` }),
          element("text", { x: at, y: bottom + 18, "text-anchor": "middle" }, time(value, down.step)));
      }
      axis.append(element("text", { class: "label", x: (g.left + g.right) / 2, y: bottom + 36, "text-anchor": "middle" }, "time since the first frame"));
      this.svg.querySelector("g.time .axis").replaceWith(axis);
    }

    show(from, to) {
      const [first, last] = this.whole, width = Math.min(Math.max(to - from, 1000), last - first);
      from = Math.min(Math.max(from, first), last - width);
      this.view = [from, from + width];
      this.draw();
    }

    zoom(factor, at) {
      const [from, to] = this.view;
      at ??= this.under ? this.lanes[this.under.lane].data.time[this.under.i] : (from + to) / 2;
      this.show(at - (at - from) * factor, at + (to - at) * factor);
    }

    pan(part) {
      const [from, to] = this.view, by = (to - from) * part;
      this.show(from + by, to + by);
    }

    nextLoss() {
      const middle = (this.view[0] + this.view[1]) / 2, isWhole = this.view[1] - this.view[0] >= this.whole[1] - this.whole[0];
      const losses = [];
      this.lanes.forEach(({ data }, lane) => data.kind.forEach((kind, i) => {
        if ((kind >> 3 === 4 || kind >> 3 === 5)) losses.push({ lane, i, at: data.time[i] });
      }));
      losses.sort((a, b) => a.at - b.at);
      const after = this.loss ? losses.findIndex(one => one.lane === this.loss.lane && one.i === this.loss.i) + 1 : -1;
      const next = losses[after > 0 ? after % losses.length : Math.max(losses.findIndex(one => isWhole || one.at > middle), 0)];
      if (!next) return this.say(null, "No frame vanished.");
      this.loss = this.under = next;
      const width = (this.whole[1] - this.whole[0]) / 40;
      this.show(next.at - width / 2, next.at + width / 2);
    }

    key(event) {
      const acts = {
        "+": () => this.zoom(.5), "=": () => this.zoom(.5), "-": () => this.zoom(2),
        ArrowLeft: () => this.pan(-.25), ArrowRight: () => this.pan(.25),
        0: () => this.show(...this.whole), n: () => this.step(1), p: () => this.step(-1),
      };
      if (event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(acts, event.key)) return;
      event.preventDefault();
      acts[event.key]();
    }

    // To the frame before or after, in its lane.
    step(by) {
      const lane = this.under?.lane ?? 0, { time: times } = this.lanes[lane].data;
      let i = this.under ? this.under.i + by : times.findIndex(at => at >= this.view[0]);
      i = Math.min(Math.max(i, 0), times.length - 1);
      if (i < 0) return;
      this.under = { lane, i };
      const at = times[i], [from, to] = this.view;
      if (at < from || at > to) this.show(at - (to - from) / 2, at + (to - from) / 2);
      else { this.scales(); this.say(this.under); }
    }

    place(event) {
      const box = this.svg.getBoundingClientRect(), size = this.svg.viewBox.baseVal;
      return [(event.clientX - box.left) * size.width / box.width, (event.clientY - box.top) * size.height / box.height];
    }

    timeAt(px) {
      const { g, view: [from, to] } = this;
      return from + (Math.min(Math.max(px, g.left), g.right) - g.left) / (g.right - g.left) * (to - from);
    }

    // The wheel scrolls the page until somebody has taken the picture in hand.
    wheel(event) {
      if (document.activeElement !== this.svg && !event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? .8 : 1.25, this.timeAt(this.place(event)[0]));
    }

    press(event) {
      if (event.button !== 0 || event.pointerType === "touch") return;
      this.svg.focus({ preventScroll: true });
      this.svg.setPointerCapture(event.pointerId);
      const [px] = this.place(event), { g } = this;
      const box = element("rect", { class: "chosen", x: px, width: 0, y: g.top, height: this.lanes.length * (g.height + g.gap) - g.gap });
      this.svg.append(box);
      this.drag = { from: px, box };
    }

    move(event) {
      const [px, py] = this.place(event);
      if (this.drag) {
        this.drag.box.setAttribute("x", Math.min(px, this.drag.from));
        this.drag.box.setAttribute("width", Math.abs(px - this.drag.from));
      } else if (!this.waits) {
        this.waits = true;
        requestAnimationFrame(() => { this.waits = false; this.hover(px, py); });
      }
    }

    release(event) {
      if (!this.drag) { const [px, py] = this.place(event); return this.hover(px, py); }
      const [px] = this.place(event), { from } = this.drag;
      this.endDrag();
      if (Math.abs(px - from) > 5) {
        const ends = [this.timeAt(from), this.timeAt(px)];
        this.show(Math.min(...ends), Math.max(...ends));
      }
    }

    endDrag() {
      this.drag?.box.remove();
      this.drag = null;
    }

    hover(px, py) {
      const { g } = this;
      const lane = Math.floor((py - g.top + g.gap / 2) / (g.height + g.gap));
      if (!this.lanes[lane]) return this.say(null);
      if (!this.x) this.scales();
      const { data } = this.lanes[lane], down = py - g.top - lane * (g.height + g.gap);
      let best = null, least = NEAR;
      for (let i = 0; i < data.time.length; i++) {
        if (data.time[i] < this.view[0] || data.time[i] > this.view[1]) continue;
        const dx = Math.abs(this.x(data.time[i]) - px);
        if (dx >= least) continue;
        const bottom = this.y(data.start[i]), top = this.y(data.start[i] + data.payload[i]);
        const away = Math.hypot(dx, Math.max(down - bottom, top - down, 0));
        if (away < least) [least, best] = [away, { lane, i }];
      }
      this.say(best);
    }

    // Says what a frame is, beside it, and puts a ring around it.
    say(under, otherwise = "") {
      this.under = under;
      this.ring?.remove();
      if (!under) { this.hint.textContent = otherwise; this.putHint(null); return; }
      const { point, data } = this.lanes[under.lane], i = under.i;
      const many = data.segments[i] > 1 ? `${data.kind[i] & 4 ? "not cut yet" : "merged"}, ${data.segments[i]} segments` : "one segment";
      this.hint.textContent = `${point}, frame ${data.number[i]}: ${(data.time[i] / 1e6).toFixed(6)} ms, ` +
        `bytes ${group(data.start[i])} to ${group(data.start[i] + data.payload[i])} (${group(data.payload[i])}), ` +
        many + DATA[data.kind[i] & 3] + FATE[data.kind[i] >> 3];
      if (data.time[i] < this.view[0] || data.time[i] > this.view[1]) return this.putHint(null);
      const middle = this.y(data.start[i] + data.payload[i] / 2);
      this.ring = element("circle", { class: "ring", r: 8, cx: this.x(data.time[i]), cy: middle });
      this.groups[under.lane].append(this.ring);
      this.putHint(this.ring);
    }

    // Beside a mark, on the side where there is room; without one, in the upper corner.
    putHint(mark) {
      const { hint, figure } = this, room = figure.getBoundingClientRect();
      const svg = this.svg.parentNode.getBoundingClientRect();
      const at = mark ? mark.getBoundingClientRect() : { left: svg.left, right: svg.left, top: svg.top, bottom: svg.top };
      const { width, height } = hint.getBoundingClientRect();
      const right = at.right + 8 - room.left, left = at.left - 8 - width - room.left;
      hint.style.left = Math.max(0, right + width <= room.width ? right : left) + "px";
      hint.style.top = Math.max(0, at.top - height - 6 - room.top) + "px";
    }
  }

  // A plot in a closed <details> is read when it is opened.
  const begin = figure => { if (!figure.dataset.ready) { figure.dataset.ready = "1"; new Sequence(figure); } };
  for (const figure of document.querySelectorAll("figure[data-sequence]")) {
    const closed = figure.closest("details:not([open])");
    if (closed) closed.addEventListener("toggle", () => begin(figure), { once: true });
    else begin(figure);
  }
})();
