// Sessions as rows, observations as marks; the list beside it is the same data.
import { facts, settings, tell } from "./api.js";
import { detail } from "./detail.js";
import { button, COLOURS, h, number, plural, roving, s, swatch } from "./dom.js";

const day = (moment) => new Date(moment).toISOString().slice(0, 10);
const minute = (moment) => new Date(moment).toISOString().slice(5, 16).replace("T", " ");

function grouped(observations, sessions) {
  const rows = new Map(sessions.map((each) => [each.session, { ...each, marks: [] }]));
  for (const each of observations) {
    const key = each.session_id || "";
    if (!rows.has(key)) rows.set(key, { session: key, project: each.project || "", marks: [] });
    rows.get(key).marks.push({ ...each, at: Date.parse(each.created) });
  }
  return [...rows.values()].filter((row) => row.marks.length)
    .map((row) => ({ ...row, marks: row.marks.sort((a, b) => a.at - b.at || a.id - b.id) })).sort((a, b) => b.marks.at(-1).at - a.marks.at(-1).at);
}

export function view(state, go) {
  const chart = h("figure", { class: "card" }), list = h("ul", { class: "list", role: "listbox", "aria-label": "Around the focus" });
  const right = h("div"), head = h("h3", {}, "In its session");
  let rows = [], held = 0, all = 0, focus = Number(state.id) || 0, kinds = [];

  function draw() {
    const marks = rows.flatMap((row) => row.marks);
    if (!marks.length) return chart.replaceChildren(h("p", { class: "empty" }, "No memory yet."));
    const low = Math.min(...marks.map((each) => each.at)), high = Math.max(...marks.map((each) => each.at), low + 60000);
    const chosen = marks.find((each) => each.id === focus);
    // The focus stands in the middle; the wider side gives the scale.
    const span = chosen ? 2 * Math.max(chosen.at - low, high - chosen.at, 30000) : high - low;
    const start = chosen ? chosen.at - span / 2 : low;
    const x = (at) => 190 + (690 * (at - start)) / span;
    const height = 34 + rows.length * 26;
    const picture = s("svg", { viewBox: `0 0 900 ${height}`, role: "img", "aria-label": `${plural(rows.length, "session")}, ${plural(marks.length, "memory", "memories")}; the list beside it is the same` });
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      const at = start + span * part;
      picture.append(s("line", { class: "grid", x1: x(at), x2: x(at), y1: 18, y2: height }), s("text", { x: x(at), y: 12, "text-anchor": part === 1 ? "end" : "middle" }, day(at)));
    }
    rows.forEach((row, index) => {
      const y = 36 + index * 26;
      picture.append(s("text", { x: 2, y: y + 4 }, `${(row.project || "none").slice(0, 14)} ${String(row.session).slice(0, 12)}`), s("line", { class: "grid", x1: x(row.marks[0].at), x2: x(row.marks.at(-1).at), y1: y, y2: y }));
      for (const mark of row.marks) {
        const spot = s("circle", { class: mark.id === focus ? "mark focus" : "mark", cx: x(mark.at), cy: y, r: mark.id === focus ? 8 : 6, fill: COLOURS[kinds.indexOf(mark.kind) % 6], onclick: () => choose(mark.id) }, s("title", {}, `#${mark.id} ${mark.title}`));
        picture.append(spot);
      }
    });
    const legend = h("p", { class: "legend" }, kinds.slice(0, 12).map((kind, index) => swatch(COLOURS[index % 6], kind)));
    chart.replaceChildren(picture, h("figcaption", {}, legend, all > held ? h("p", { class: "legend" }, `The newest ${number(held)} of ${number(all)}`) : ""));
  }

  async function choose(id) {
    focus = id;
    go({ id }, true);
    draw();
    const row = rows.find((each) => each.marks.some((mark) => mark.id === id));
    head.textContent = row ? `Session ${row.session || "unnamed"}, ${row.project || "no project"}` : "In its session";
    list.replaceChildren(...(row?.marks ?? []).map((mark) => h("li", { class: "item", role: "option", tabindex: mark.id === id ? 0 : -1, "aria-selected": String(mark.id === id), "data-id": mark.id }, h("span", { class: "price" }, minute(mark.at)), h("span", { class: "id" }, `#${mark.id}`), h("span", { class: "kind" }, mark.kind), h("span", { dir: "auto" }, mark.title))));
    const open = await detail(id, { again: choose, intoPack: (same) => go({ view: "pack", first: same }) });
    right.replaceChildren(open.node);
  }
  const items = roving(list, (node) => choose(Number(node.dataset.id)));

  async function load() {
    try {
      const [{ observations, total }, { sessions }] = await Promise.all([facts("list_observations", { project: settings.project || "all", detail_level: "full", limit: 200 }), facts("list_sessions", { project: settings.project, limit: 100 })]);
      kinds = [...new Set(observations.map((each) => each.kind))].sort();
      rows = grouped(observations, sessions).slice(0, 24);
      held = rows.reduce((sum, row) => sum + row.marks.length, 0);
      all = total;
    } catch (error) { return tell(error, chart); }
    const newest = rows[0]?.marks.at(-1)?.id;
    if (focus || newest) await choose(focus || newest); else draw();
  }
  load();
  return {
    node: [h("h2", { class: "sr" }, "Timeline"), chart, h("div", { class: "two gap" }, h("section", { class: "card", "aria-label": "Session" }, head, list, h("div", { class: "actions" }, button("Earlier", () => items.move(-1)), button("Later", () => items.move(1)))), right)],
    refresh: load,
    keys: { j: () => items.move(1), k: () => items.move(-1), p: () => focus && go({ view: "pack", first: focus }) },
  };
}
