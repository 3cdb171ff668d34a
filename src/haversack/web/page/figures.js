// Figures drawn by hand, each also as a table.
import { facts, figures, settings, tell } from "./api.js";
import { COLOURS, h, number, s, swatch, table } from "./dom.js";

function summed(rows, key) {
  const sums = new Map();
  for (const row of rows) sums.set(row[key], (sums.get(row[key]) || 0) + row.tokens);
  return [...sums].map(([name, tokens]) => ({ name: name || "(none)", tokens }));
}

function columns(rows, title) {
  const weeks = summed(rows, "week").sort((a, b) => (a.name < b.name ? -1 : 1)).slice(-26);
  const kinds = summed(rows, "kind").sort((a, b) => b.tokens - a.tokens).map((each) => each.name);
  const top = Math.max(1, ...weeks.map((each) => each.tokens)), width = 800 / Math.max(weeks.length, 6);
  const picture = s("svg", { viewBox: "0 0 900 250", role: "img", "aria-label": `${title}; the table below has the figures` });
  for (const part of [0, 0.5, 1]) picture.append(s("line", { class: "grid", x1: 70, x2: 890, y1: 215 - 195 * part, y2: 215 - 195 * part }), s("text", { x: 64, y: 219 - 195 * part, "text-anchor": "end" }, number(Math.round(top * part))));
  weeks.forEach((week, index) => {
    let base = 215;
    kinds.forEach((kind, place) => {
      const tokens = rows.filter((row) => row.week === week.name && row.kind === kind).reduce((sum, row) => sum + row.tokens, 0);
      const height = (195 * tokens) / top;
      base -= height;
      if (tokens) picture.append(s("rect", { x: 76 + index * width, y: base, width: Math.max(3, width - 6), height, rx: 2, fill: COLOURS[Math.min(place, 5)] }, s("title", {}, `${week.name} ${kind}: ${number(tokens)}`)));
    });
    if (!(index % Math.ceil(weeks.length / 8))) picture.append(s("text", { x: 76 + index * width, y: 234 }, week.name.slice(5)));
  });
  const legend = h("p", { class: "legend" }, kinds.slice(0, 6).map((kind, index) => swatch(COLOURS[index], index === 5 && kinds.length > 6 ? "others" : kind)));
  return h("figure", { class: "card" }, h("h2", {}, title), legend, weeks.length ? picture : h("p", { class: "empty" }, "Nothing yet."), shown(title, [{ key: "name", name: "Week of" }, { key: "tokens", name: "Tokens", n: 1 }], [...weeks].reverse()));
}

function bars(title, rows, unit, format = number) {
  const held = [...rows].sort((a, b) => b.tokens - a.tokens).slice(0, 14), top = Math.max(unit === "%" ? 100 : 1, ...held.map((each) => each.tokens));
  const picture = s("svg", { viewBox: `0 0 560 ${16 + held.length * 26}`, role: "img", "aria-label": `${title}; the table below has the figures` });
  held.forEach((each, index) => {
    const y = 8 + index * 26;
    picture.append(s("text", { x: 168, y: y + 14, "text-anchor": "end" }, String(each.name).slice(0, 24)), s("rect", { x: 176, y, width: Math.max(2, (300 * each.tokens) / top), height: 18, rx: 4, fill: COLOURS[0] }), s("text", { x: 184 + (300 * each.tokens) / top, y: y + 14 }, format(each.tokens)));
  });
  return h("figure", { class: "card" }, h("h2", {}, title), held.length ? picture : h("p", { class: "empty" }, "Nothing yet."), held.length ? shown(title, [{ key: "name", name: "Name" }, { key: "tokens", name: unit, n: 1 }], rows) : "");
}

const shown = (title, heads, rows) => h("details", {}, h("summary", {}, "Show as table"), table(title, heads, rows));

function counters(text) {
  const found = {};
  for (const line of text.split("\n")) {
    const match = /^haversack_(\w+)_total\{tool="([^"]+)"\} (\d+)/.exec(line);
    if (match) (found[match[1]] ??= {})[match[2]] = Number(match[3]);
  }
  return found;
}

export function view() {
  const body = h("div", { class: "stack" });
  async function load() {
    try {
      const [{ figures: rows }, served] = await Promise.all([facts("memory_figures", { project: settings.project }), figures().then(counters, () => ({}))]);
      const calls = Object.entries(served.calls || {});
      const share = calls.map(([name, count]) => ({ name, tokens: Math.round((100 * (served.cut_replies?.[name] || 0)) / Math.max(1, count)) }));
      body.replaceChildren(columns(rows, "Tokens stored by week and kind"), h("div", { class: "figures" },
        bars("Tokens by kind", summed(rows, "kind"), "Tokens"), bars("Tokens by project", summed(rows, "project"), "Tokens"),
        bars("Replies by tool, since the server started", calls.map(([name, tokens]) => ({ name, tokens })), "Replies"),
        bars("Share of replies that were cut", share, "%", (value) => `${value} %`)));
    } catch (error) { tell(error, body); }
  }
  load();
  return { node: [h("h2", { class: "sr" }, "Figures"), body], refresh: load, keys: {} };
}
