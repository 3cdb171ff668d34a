// What an agent would get, as it would get it.
import { latest, note, settings, tool } from "./api.js";
import { detail, editor } from "./detail.js";
import { byId, button, paced, h, meter, number, roving } from "./dom.js";

// A reply is text; its items begin where a line begins with one of the ids the reply says it shows.
export function parts(text, ids) {
  const wanted = new Set(ids);
  const found = [];
  for (const line of text.split("\n")) {
    const start = /^#(\d+) (\(.*?\) (?=\[))?(?:\[([^\]\s]+)\] )?/.exec(line);
    if (start && wanted.delete(Number(start[1]))) found.push({ id: Number(start[1]), kind: start[3] || "", text: (start[2] || "") + line.slice(start[0].length) });
    else if (/^(⚡|📏|Showing )/u.test(line)) continue;
    else if (/^(## |\[?\d{4}-\d\d-\d\d\]?$)/.test(line)) found.push({ heading: line.replace(/^## |[[\]]/g, "") });
    else if (/^- (session|prompt) /.test(line) || !found.length || found.at(-1).heading) { if (line.trim()) found.push({ other: line }); }
    else found.at(-1)[found.at(-1).id ? "text" : "other"] += `\n${line}`;
  }
  return found;
}

export function view(state, go) {
  const asking = latest();
  const query = h("input", { type: "search", id: "query", value: state.q || "", placeholder: "words or a question", autocomplete: "off" });
  const budget = h("input", { type: "number", min: 64, step: 50, value: state.n || 500 });
  const level = h("select", {}, ["auto", "summary", "standard", "full"].map((name) => h("option", { value: name, selected: name === (state.level || "auto") }, name)));
  const used = meter("Tokens of the reply");
  const list = h("ul", { class: "list", role: "listbox", "aria-label": "Memories in the reply" });
  const rest = h("div", { class: "actions" });
  const right = h("div", {}, h("p", { class: "empty card" }, "Choose a memory to read, edit or pin it."));
  let open = null, focus = Number(state.id) || 0;

  async function show(id) {
    focus = id;
    go({ q: query.value, n: budget.value, level: level.value, id }, true);
    for (const each of list.children) each.getAttribute("role") && each.setAttribute("aria-selected", String(Number(each.dataset.id) === id));
    open = await detail(id, { again: (same) => { show(same); ask(); }, intoPack: (same) => go({ view: "pack", first: same }) });
    right.replaceChildren(open.node);
  }
  const items = roving(list, (node) => show(Number(node.dataset.id)));

  function draw(reply, found, added = false) {
    if (!added) list.replaceChildren();
    for (const each of found) {
      if (each.heading) list.append(h("li", { class: "head", role: "presentation" }, each.heading));
      else if (each.other) list.append(h("li", { class: "other", role: "presentation" }, each.other));
      else {
        const [first, ...more] = each.text.split("\n");
        list.append(h("li", { class: "item", role: "option", tabindex: -1, "data-id": each.id, "aria-selected": String(each.id === focus) },
          h("span", { class: "id" }, `#${each.id}`), each.kind ? h("span", { class: "kind" }, each.kind) : "", h("span", { dir: "auto" }, first), more.length ? h("span", { class: "body", dir: "auto" }, more.join("\n").trim()) : ""));
      }
    }
    const options = [...list.querySelectorAll("[role=option]")];
    (options.find((each) => Number(each.dataset.id) === focus) || options[0])?.setAttribute("tabindex", "0");
    rest.replaceChildren(reply.more ? button(`Show more: ${number(reply.left)} left, ~${number(reply.price)} tokens`, async () => {
      const page = await tool("more", { key: reply.more, max_tokens: Number(budget.value) });
      draw(page, parts(page.text, page.ids), true);
    }) : "");
  }

  async function ask() {
    const most = Number(budget.value);
    const given = { project: settings.project || "all", max_tokens: most, detail_level: level.value };
    const answer = await asking((signal) => query.value.trim() ? tool("mem_search", { ...given, query: query.value, limit: 100 }, { signal }) : tool("mem_context", { ...given, limit: 100 }, { signal }));
    if (!answer) return;
    if (answer.error) { list.replaceChildren(h("li", { role: "presentation" }, note(answer.error))); rest.replaceChildren(); return used.show(0, most || 1, answer.error.code || "no answer"); }
    const reply = answer.value;
    used.show(reply.tokens, most, `${number(reply.shown)} of ${number(reply.total)} shown${reply.left ? `, rest ~${number(reply.price)} tokens` : ""}`);
    draw(reply, parts(reply.text, reply.ids));
  }

  const soon = paced(() => { go({ q: query.value, n: budget.value, level: level.value, id: focus || "" }, true); ask(); }, 100);
  query.addEventListener("input", soon);
  budget.addEventListener("input", soon);
  level.addEventListener("change", soon);
  const fresh = () => { right.replaceChildren(h("div", { class: "card" }, editor(null, (id) => { ask(); if (id) show(id); else right.replaceChildren(); }))); right.querySelector("input").focus(); };
  ask();
  if (focus) show(focus);
  return {
    node: [h("h2", { class: "sr" }, "Memory"), h("form", { class: "bar", role: "search", onsubmit: (event) => { event.preventDefault(); ask(); } }, h("label", { class: "wide" }, "Search", query), h("label", {}, "Budget", budget), h("label", {}, "Level", level), button("New memory", fresh, { class: "main" })),
      used.node, h("div", { class: "two" }, h("section", { class: "card", "aria-label": "Reply" }, list, rest), right)],
    refresh: () => { ask(); if (open?.memory) show(focus); },
    keys: { "/": () => byId("query").focus(), j: () => items.move(1), k: () => items.move(-1), e: () => open?.actions?.edit(), a: () => open?.actions?.accept(), p: () => focus && go({ view: "pack", first: focus }) },
    // Shown again after a while: has somebody else written it meanwhile?
    async recheck() {
      if (!open?.memory) return null;
      const now = await detail(focus, {});
      return now.memory && now.memory.hash !== open.memory.hash ? () => { show(focus); ask(); } : null;
    },
  };
}
