// Tables of class "listing": sorts, filters, turns pages. Without it the first rows are shown.
(function () {
  "use strict";
  const PAGE = 100; // as table.rs has it
  const POWER = { T: 1e12, G: 1e9, M: 1e6, k: 1e3, K: 1e3, m: 1e-3, u: 1e-6, n: 1e-9 };

  // "343 KB/s", "12.3 us", "1,234", "< 0.1%", "1.40 / 22": the first number, in whole units.
  function number(text) {
    const found = /(-?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s?([TGMkKmun](?=[A-Za-z]|\b))?/.exec(text);
    if (!found) return NaN;
    return parseFloat(found[1].replace(/,/g, "")) * (POWER[found[2]] || 1);
  }

  function make(name, attributes, ...inner) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...inner);
    return element;
  }

  function listing(box) {
    const table = box.querySelector("table");
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const kinds = heads.map((head) => head.dataset.kind);
    const rows = [...body.rows].map((row) => [...row.cells].map((cell) => cell.textContent));
    const more = document.getElementById(box.dataset.table + "-rows");
    if (more) for (const row of JSON.parse(more.textContent)) rows.push(row);
    if (rows.length < 2) return;

    let sorted = rows.map((_, i) => i);
    let order = sorted;
    let first = 0;
    let words = [];
    const chosen = new Map();
    const lower = new Array(rows.length);

    function fits(i) {
      for (const [column, value] of chosen) if (rows[i][column] !== value) return false;
      if (!words.length) return true;
      const text = (lower[i] ??= rows[i].join("\n").toLowerCase());
      return words.every((word) => text.includes(word));
    }

    function show() {
      const fragment = document.createDocumentFragment();
      for (const i of order.slice(first, first + PAGE)) {
        const line = fragment.appendChild(document.createElement("tr"));
        rows[i].forEach((text, column) => {
          const cell = document.createElement(column ? "td" : "th");
          if (!column) cell.scope = "row";
          else if (kinds[column] === "number") cell.className = "number";
          cell.textContent = text;
          line.append(cell);
        });
      }
      body.replaceChildren(fragment);
      const last = Math.min(first + PAGE, order.length);
      const all = order.length.toLocaleString("en");
      said.textContent = order.length
        ? `${(first + 1).toLocaleString("en")} to ${last.toLocaleString("en")} of ${all}`
        : "nothing fits";
      back.disabled = first === 0;
      next.disabled = last >= order.length;
    }

    function filter() {
      order = sorted.filter(fits);
      first = 0;
      show();
    }

    function compare(column) {
      if (kinds[column] !== "number") {
        const collator = new Intl.Collator("en", { numeric: true });
        return (a, b) => collator.compare(rows[a][column], rows[b][column]);
      }
      const keys = Float64Array.from(rows, (row) => number(row[column]));
      return (a, b) => keys[a] - keys[b];
    }

    // What has no number stays last, whichever way it is sorted.
    function sort(column) {
      const head = heads[column];
      const begin = kinds[column] === "number" ? "descending" : "ascending";
      const other = begin === "descending" ? "ascending" : "descending";
      const way = head.getAttribute("aria-sort") === begin ? other : begin;
      const sign = way === "ascending" ? 1 : -1;
      const by = compare(column);
      const has = (i) => kinds[column] !== "number" || !Number.isNaN(number(rows[i][column]));
      const all = rows.map((_, i) => i);
      sorted = all.filter(has).sort((a, b) => sign * by(a, b) || a - b);
      sorted.push(...all.filter((i) => !has(i)));
      heads.forEach((one) => one.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", way);
      filter();
    }

    heads.forEach((head, column) => {
      const button = make("button", { type: "button" }, head.textContent);
      button.addEventListener("click", () => sort(column));
      head.replaceChildren(button);
    });

    const tools = make("div", { class: "tools" });
    const search = make("input", { type: "search" });
    let timer;
    search.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
        filter();
      }, rows.length > 5000 ? 150 : 0);
    });
    tools.append(make("label", {}, "Filter ", search));
    kinds.forEach((kind, column) => {
      if (kind !== "choice") return;
      const values = [...new Set(rows.map((row) => row[column]))].sort();
      if (values.length < 2) return;
      const select = make("select", {}, make("option", { value: "" }, "all"));
      for (const value of values) select.append(make("option", { value: "=" + value }, value));
      select.addEventListener("change", () => {
        if (select.value) chosen.set(column, select.value.slice(1));
        else chosen.delete(column);
        filter();
      });
      tools.append(make("label", {}, heads[column].textContent + " ", select));
    });
    const back = make("button", { type: "button" }, "Previous");
    const next = make("button", { type: "button" }, "Next");
    const said = make("output", { "aria-live": "polite" });
    const turn = (by) => () => {
      first = Math.max(0, first + by);
      show();
    };
    back.addEventListener("click", turn(-PAGE));
    next.addEventListener("click", turn(PAGE));
    const pages = rows.length > PAGE ? [back, next] : [];
    tools.append(make("span", { class: "pages" }, said, ...pages));
    box.prepend(tools);
    show();
  }

  document.querySelectorAll(".listing").forEach(listing);
})();
