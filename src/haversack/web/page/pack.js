// A pack: what is in, what is out and why, and the exact text to paste.
import { announce, copy } from "./actions.js";
import { facts, latest, note, settings, tool } from "./api.js";
import { byId, button, paced, h, meter, number, region } from "./dom.js";

const ids = (text) => String(text || "").split(",").map(Number).filter(Boolean);

export function view(state, go) {
  const asking = latest();
  let first = ids(state.first), without = ids(state.without), text = "", focus = 0;
  const query = h("input", { type: "search", id: "query", value: state.q || "", placeholder: "empty for the most important", autocomplete: "off" });
  const exact = h("input", { type: "number", min: 64, step: 100, value: state.n || 2000, "aria-label": "Budget in tokens" });
  const slider = h("input", { type: "range", min: 64, max: 16000, step: 64, value: exact.value, "aria-label": "Budget, slider" });
  const used = meter("Tokens of the pack");
  const inside = h("ul", { class: "lane", "aria-label": "In the pack" }), outside = h("ul", { class: "lane", "aria-label": "Left out" });
  const inHead = h("h3", {}, "In"), outHead = h("h3", {}, "Out");
  const preview = region("The pack as text");
  const given = () => ({ query: query.value, project: settings.project || "all", first, without });
  const remember = () => go({ q: query.value, n: exact.value, first: first.join(","), without: without.join(",") }, true);

  const others = (list, id) => list.filter((each) => each !== id);
  function change(text, ahead, behind) {
    const before = [first, without];
    const set = (next) => { [first, without] = next; remember(); ask(); };
    set([ahead, behind]);
    announce(text, async () => set(before));
  }
  const leave = (id) => change(`Left out #${id}.`, others(first, id), [...others(without, id), id]);
  const put = (id) => change(`Put in #${id}.`, [...others(first, id), id], others(without, id));
  const ahead = (id) => change(`Put #${id} first.`, [id, ...others(first, id)], without);

  function row(each) {
    const name = `#${each.id}`;
    const buttons = each.in
      ? [button("Leave out", () => leave(each.id), { class: "small", "aria-label": `Leave out ${name}` }), button("First", () => ahead(each.id), { class: "small", "aria-label": `Put ${name} first` })]
      : [button("Put in", () => put(each.id), { class: "small", "aria-label": `Put in ${name}` })];
    return h("li", { tabindex: -1, "data-id": each.id, onfocusin: () => { focus = each.id; } }, h("span", { class: "price" }, number(each.tokens)), h("span", { class: "grow", dir: "auto" }, `${name} `, h("span", { class: "kind" }, each.kind), each.title, first.includes(each.id) ? h("span", { class: "badge" }, "first") : ""), each.why ? h("span", { class: "why" }, each.why) : "", buttons);
  }

  async function ask() {
    const most = Number(exact.value);
    const answer = await asking((signal) => Promise.all([
      tool("context_pack", { ...given(), max_tokens: most }, { signal, plain: true }),
      facts("pack_candidates", { ...given(), pack_tokens: most }, { signal }),
    ]));
    if (!answer) return;
    if (answer.error) { inside.replaceChildren(h("li", {}, note(answer.error))); outside.replaceChildren(); return used.show(0, most || 1, answer.error.code || "no answer"); }
    const [reply, listed] = answer.value;
    text = reply.text;
    preview.textContent = text;
    const all = listed.candidates;
    const held = all.filter((each) => each.in), out = all.filter((each) => !each.in);
    used.show(reply.tokens, most, `${number(held.length)} in, ${number(out.length)} out${listed.behind ? `, ${number(listed.behind)} more were not considered` : ""}`);
    inHead.textContent = `In (${held.length})`;
    outHead.textContent = `Out (${out.length})`;
    inside.replaceChildren(...held.map(row));
    outside.replaceChildren(...out.map(row));
  }

  const soon = paced(() => { remember(); ask(); }, 240);
  query.addEventListener("input", soon);
  exact.addEventListener("input", () => { slider.value = exact.value; soon(); });
  slider.addEventListener("input", () => { exact.value = slider.value; soon(); });
  const download = () => {
    const address = URL.createObjectURL(new Blob([text.endsWith("\n") ? text : `${text}\n`], { type: "text/markdown" }));
    h("a", { href: address, download: "context.md" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  const copyJson = async () => copy((await tool("context_pack", { ...given(), max_tokens: Number(exact.value), format: "json" })).text, "the pack as JSON");
  ask();
  return {
    node: [h("h2", { class: "sr" }, "Pack"), h("div", { class: "bar" }, h("label", { class: "wide" }, "For", query), h("label", {}, "Budget", exact), h("label", { class: "wide" }, "Slide", slider)), used.node,
      h("div", { class: "two" },
        h("section", { class: "card", "aria-label": "Candidates" }, inHead, inside, outHead, outside),
        h("section", { class: "card", "aria-label": "Text" }, h("h3", {}, "What you paste"), h("div", { class: "actions" }, button("Copy Markdown", () => copy(text, "the pack"), { class: "main" }), button("Copy JSON", copyJson), button("Save as a file", download), first.length || without.length ? button("Start over", () => go({ view: "pack", q: query.value, n: exact.value })) : ""), preview))],
    refresh: ask,
    keys: { "/": () => byId("query").focus(), c: () => copy(text, "the pack"), x: () => focus && leave(focus), p: () => focus && put(focus) },
  };
}
