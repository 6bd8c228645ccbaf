"use strict";
// The page works without this script, except for filters and the details of a
// question. All that comes from data is set as text, never as markup.
(() => {
  const $ = (id) => document.getElementById(id);
  const pageSize = 100;
  document.documentElement.classList.add("js");

  const tables = [...document.querySelectorAll("table.questions")].map((table) => ({
    set: table.dataset.set,
    box: table.parentElement,
    title: table.caption.textContent,
    methods: [...table.querySelectorAll("thead .m")].map((th) => ({
      name: th.textContent,
      colour: [...th.classList].find((c) => /^c\d$/.test(c)),
    })),
    rows: [...table.tBodies[0].rows],
  }));
  const items = tables.flatMap((table) => table.rows.map((row) => ({ table, row, text: null })));
  const itemOf = new Map(items.map((item) => [item.row, item]));
  let found = items;
  let limit = pageSize;

  // Filters.
  const form = $("filters");
  form.hidden = items.length === 0;
  for (const name of new Set(tables.flatMap((t) => t.methods.map((m) => m.name)))) {
    form.elements.method.append(new Option(name, name));
  }
  const matches = (cell, want) =>
    cell.dataset.p !== undefined &&
    (!want.state || want.state === "mixed" || cell.classList.contains(want.state)) &&
    (!want.lost || cell.dataset.l === want.lost);

  function filter() {
    const want = Object.fromEntries(new FormData(form));
    const text = want.text.trim().toLowerCase();
    const asked = want.state || want.lost || want.method;
    found = items.filter((item) => {
      if (want.set && item.table.set !== want.set) return false;
      if (text) {
        item.text ??= (item.row.dataset.id + " " + item.row.cells[0].textContent + " " + item.row.cells[1].textContent).toLowerCase();
        if (!item.text.includes(text)) return false;
      }
      if (!asked) return true;
      const cells = [...item.row.cells].slice(3);
      if (want.state === "mixed") {
        const states = new Set(cells.filter((c) => c.dataset.p !== undefined).map((c) => c.classList.contains("y")));
        if (states.size < 2) return false;
      }
      return cells.some((cell, i) => (!want.method || item.table.methods[i].name === want.method) && matches(cell, want));
    });
    for (const item of items) {
      [...item.row.cells].slice(3).forEach((cell, i) => {
        cell.classList.toggle("off", Boolean(asked) && cell.dataset.p !== undefined &&
          !((!want.method || item.table.methods[i].name === want.method) && matches(cell, want)));
      });
    }
    limit = pageSize;
    show();
  }

  function show() {
    const seen = new Set(found.slice(0, limit));
    const boxes = new Set();
    for (const item of items) {
      const here = seen.has(item);
      item.row.hidden = !here;
      if (here) {
        boxes.add(item.table.box);
        button(item.row);
      }
    }
    for (const table of tables) table.box.hidden = !boxes.has(table.box);
    $("more").hidden = found.length <= limit;
    $("shown").textContent = found.length === items.length
      ? `${items.length.toLocaleString("en")} questions`
      : `${found.length.toLocaleString("en")} of ${items.length.toLocaleString("en")} questions`;
  }
  // Rows that are shown get a button, so that a keyboard reaches them.
  function button(row) {
    const cell = row.cells[0];
    if (cell.firstElementChild) return;
    cell.replaceChildren(make("button", { type: "button" }, cell.textContent));
  }

  // Elements.
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== "") element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  }

  // Details.
  const packs = new Map();
  function pack(number) {
    if (!packs.has(number)) packs.set(number, unpack($("pack" + number).textContent));
    return packs.get(number);
  }
  async function unpack(text) {
    if (typeof DecompressionStream === "undefined") throw new Error("This browser cannot show details: it needs DecompressionStream, which browsers have since 2023.");
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }

  const kinds = new Set(["keep", "replace", "add", "delete", "right", "wrong", "unsure", "subject", "quiet"]);
  const folded = new Set(["Hits", "Warnings"]);
  const bdi = (text) => make("bdi", {}, text);

  function what(row) {
    const out = make("span", { class: "what" });
    if (row.t) {
      out.append(bdi(row.t[0]), make("span", { class: "rel", dir: "auto" }, row.t[1]), bdi(row.t[2]));
    } else if (row.p) {
      row.p.forEach((part, i) => {
        if (i % 2 === 0) out.append(bdi(part));
        else if (part.startsWith("←")) out.append(make("span", { class: "rel back", dir: "auto" }, part.slice(1)));
        else out.append(make("span", { class: "rel", dir: "auto" }, part));
      });
    } else {
      out.append(bdi(row.x ?? ""));
    }
    const names = out.querySelectorAll("bdi");
    if (row.y & 1) names[0].classList.add("gold");
    if (row.y & 2) names[names.length - 1].classList.add("gold");
    return out;
  }
  function line(row) {
    const classes = ["row"];
    if (kinds.has(row.k)) classes.push("k-" + row.k);
    const out = make("div", { class: classes.join(" ") });
    if (row.s !== undefined) out.append(make("span", { class: "score" }, row.s.toFixed(2)));
    if (row.l) out.append(make("span", { class: "tag" }, row.l));
    out.append(what(row));
    if (!row.r) return [out];
    return [out, make("div", { class: "below" }, ...row.r.flatMap(line))];
  }
  function section(s) {
    const out = make("details", { class: "sect" }, make("summary", {}, s.t, make("small", {}, s.n ?? "")));
    out.open = !folded.has(s.t);
    if (s.c) out.append(make("pre", { dir: "auto" }, s.c));
    out.append(...(s.r ?? []).flatMap(line));
    return out;
  }
  function render(view) {
    const facts = make("dl", {});
    for (const [name, value] of view.f ?? []) facts.append(make("dt", {}, name), make("dd", { dir: "auto" }, value));
    return [
      ...(view.x ? [make("p", { class: "said", dir: "auto" }, view.x)] : []),
      ...(view.a ?? []).flatMap(line), facts, ...(view.g ?? []).map(section),
    ];
  }

  const dialog = $("view");
  let current = null;
  let method = "";

  function open(item) {
    current = item;
    const cells = [...item.row.cells].slice(3);
    $("view-question").textContent = item.row.cells[0].textContent;
    $("view-place").textContent = `${item.table.title} · ${item.row.dataset.id} · ${(found.indexOf(item) + 1).toLocaleString("en")} of ${found.length.toLocaleString("en")}`;
    $("view-answers").replaceChildren("Right: ", bdi(item.row.cells[1].textContent));
    const asked = item.table.methods.map((m, i) => ({ ...m, cell: cells[i] })).filter((m) => m.cell.dataset.p !== undefined);
    $("view-methods").replaceChildren(...asked.map((m) => {
      const b = make("button", { type: "button", class: m.colour, "aria-pressed": "false" }, m.name + " ",
        make("span", { class: m.cell.classList.contains("y") ? "yes" : "no" }, m.cell.textContent.replace(" right", "")));
      b.addEventListener("click", () => choose(m, b));
      return b;
    }));
    const wanted = form.elements.method.value || method;
    const index = Math.max(0, wanted ? asked.findIndex((m) => m.name === wanted) : asked.length - 1);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    $("view-question").focus({ preventScroll: true });
    if (asked.length > 0) choose(asked[index], $("view-methods").children[index]);
    history.replaceState(null, "", "#" + new URLSearchParams({ q: item.row.dataset.id, s: item.table.set }));
  }
  async function choose(m, b) {
    method = m.name;
    for (const other of $("view-methods").children) other.setAttribute("aria-pressed", String(other === b));
    const item = current;
    const [number, index] = m.cell.dataset.p.split(".").map(Number);
    let body;
    try {
      body = render((await pack(number))[index]);
    } catch (err) {
      body = [make("p", {}, String(err.message ?? err))];
    }
    if (current === item && method === m.name) $("view-body").replaceChildren(...body);
  }
  function go(by) {
    const next = found[found.indexOf(current) + by];
    if (next) open(next);
  }

  document.addEventListener("click", (event) => {
    const row = event.target.closest("table.questions tbody tr");
    if (row) {
      const cell = event.target.closest("td[data-p]");
      const item = itemOf.get(row);
      if (cell) method = item.table.methods[cell.cellIndex - 3].name;
      open(item);
    }
  });
  dialog.addEventListener("click", (event) => {
    const b = event.target.closest("button");
    if (event.target === dialog || (b && "close" in b.dataset)) dialog.close();
    if (b?.dataset.go) go(Number(b.dataset.go));
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowLeft") go(-1);
    if (event.key === "ArrowRight") go(1);
  });
  dialog.addEventListener("close", () => {
    history.replaceState(null, "", location.pathname + location.search + "#questions");
    current?.row.querySelector("button")?.focus();
  });
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  $("more").addEventListener("click", () => {
    limit += pageSize;
    show();
  });

  show();
  const linked = new URLSearchParams(location.hash.slice(1));
  if (linked.has("q")) {
    const item = items.find((i) => i.row.dataset.id === linked.get("q") && i.table.set === linked.get("s"));
    if (item) open(item);
  }
})();
