// Elements are made here and only here: text enters as text, never as markup.
const SVG = "http://www.w3.org/2000/svg";

function put(node, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked") node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== undefined && child !== null && child !== false) node.append(child);
  }
  return node;
}

export const h = (tag, properties, ...children) => put(document.createElement(tag), properties, children);
export const s = (tag, properties, ...children) => put(document.createElementNS(SVG, tag), properties, children);
export const byId = (id) => document.getElementById(id);
export const number = (value) => Number(value || 0).toLocaleString("en-US");
export const plural = (count, one, many) => `${number(count)} ${count === 1 ? one : many || one + "s"}`;
export const button = (text, onclick, more) => h("button", { type: "button", onclick, ...more }, text);

export const COLOURS = [1, 2, 3, 4, 5, 6].map((place) => `var(--c${place})`);
export function swatch(colour, text) {
  const dot = h("i");
  dot.style.background = colour;
  return h("span", {}, dot, text);
}
// Text that may scroll: reached by the keyboard, and named.
export const region = (label, ...children) => h("div", { class: "preview", dir: "auto", tabindex: 0, role: "region", "aria-label": label }, ...children);
export const spans = (...texts) => h("p", { class: "facts" }, texts.filter(Boolean).map((text) => (text.nodeType ? text : h("span", {}, text))));
export const when = (text) => (text || "").slice(0, 16).replace("T", " ");

// Runs at once, and again no sooner than `gap` milliseconds later; the last of several always counts.
export function paced(run, gap) {
  let timer = 0, last = -gap;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => { last = performance.now(); run(); }, Math.max(0, last + gap - performance.now()));
  };
}

// One tab stop per list; arrows, j and k move inside it.
export function roving(list, choose) {
  const items = () => [...list.querySelectorAll("[role=option]")];
  const to = (index) => {
    const all = items();
    if (!all.length) return;
    const next = all[Math.max(0, Math.min(all.length - 1, index))];
    all.forEach((each) => { each.tabIndex = each === next ? 0 : -1; });
    next.focus();
    choose(next);
  };
  const current = () => items().findIndex((each) => each.getAttribute("aria-selected") === "true");
  list.addEventListener("click", (event) => {
    const item = event.target.closest("[role=option]");
    if (item) to(items().indexOf(item));
  });
  list.addEventListener("keydown", (event) => {
    const moves = { ArrowDown: 1, ArrowUp: -1, Home: -1e6, End: 1e6 };
    if (event.key in moves) { event.preventDefault(); to(Math.max(0, items().indexOf(document.activeElement)) + moves[event.key]); }
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); to(items().indexOf(document.activeElement)); }
  });
  return { move: (step) => to(current() + step) };
}

export function meter(label) {
  const fill = h("div", { class: "fill" });
  const track = h("div", { class: "track", role: "meter", "aria-label": label, "aria-valuemin": 0, "aria-valuenow": 0, "aria-valuemax": 1 }, fill);
  const figure = h("span", { class: "figure" }, "–");
  const note = h("span", { class: "note" });
  const spoken = h("span", { class: "sr", role: "status" });
  let said = 0, waiting = 0;
  return {
    node: h("div", { class: "meter" }, track, figure, note, spoken),
    show(tokens, budget, text) {
      track.setAttribute("aria-valuemax", budget);
      track.setAttribute("aria-valuenow", tokens);
      track.setAttribute("aria-valuetext", `${number(tokens)} of ${number(budget)} tokens`);
      fill.style.width = `${Math.min(100, (100 * tokens) / Math.max(1, budget))}%`;
      figure.textContent = `${number(tokens)} / ${number(budget)}`;
      note.textContent = text;
      clearTimeout(waiting);
      waiting = setTimeout(() => { said = Date.now(); spoken.textContent = `${number(tokens)} of ${number(budget)} tokens. ${text}`; }, Math.max(0, 1000 - (Date.now() - said)));
    },
  };
}

export function table(caption, columns, rows) {
  const numeric = new Set(columns.filter((each) => each.n).map((each) => each.key));
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, h("table", {},
    h("caption", { class: "sr" }, caption),
    h("thead", {}, h("tr", {}, columns.map((each) => h("th", { scope: "col", class: each.n ? "n" : undefined }, each.name)))),
    h("tbody", {}, rows.map((row) => h("tr", {}, columns.map((each) =>
      h("td", { class: each.n ? "n" : undefined }, numeric.has(each.key) && typeof row[each.key] === "number" ? number(row[each.key]) : row[each.key] ?? "")))))));
}
