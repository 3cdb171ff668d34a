// What wants a decision: pending, disputed, changed lately, deleted.
import { remove, restore, update } from "./actions.js";
import { facts, settings, tell, tool } from "./api.js";
import { complain, editor } from "./detail.js";
import { button, h, number, region, spans, when } from "./dom.js";

const TABS = {
  pending: ["Pending", { status: "pending" }],
  disputed: ["Disputed", { verification: "disputed" }],
  changed: ["Changed in 7 days", { since: "7d" }],
  deleted: ["Deleted", { deleted: true, status: "all" }],
};
const ask = (name, more) => ({ ...TABS[name][1], project: settings.project || "all", ...more });

export async function waiting() {
  const replies = await Promise.all(["pending", "disputed"].map((name) => tool("list_observations", ask(name, { limit: 1, max_tokens: 200 }))));
  return replies.reduce((sum, reply) => sum + reply.total, 0);
}

// Lines that are only in one of two texts, by their longest common sequence.
export function difference(before, after) {
  const a = before.split("\n").slice(0, 400), b = after.split("\n").slice(0, 400);
  const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) for (let j = b.length - 1; j >= 0; j--) length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  const found = [];
  let i = 0, j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) { found.push(["same", a[i]]); i++; j++; }
    else if (j >= b.length || (i < a.length && length[i + 1][j] >= length[i][j + 1])) found.push(["old", a[i++]]);
    else found.push(["new", b[j++]]);
  }
  return found;
}

export function view(state, go) {
  const chosen = state.tab in TABS ? state.tab : "pending";
  const list = h("div", { class: "stack" }), tabs = h("div", { class: "tabs", role: "group", "aria-label": "Lists" });
  let focus = 0, cards = [], limit = 50;

  function card(each) {
    const node = h("article", { class: "card", tabindex: -1, "data-id": each.id, "aria-label": `Memory #${each.id}`, onfocusin: () => { focus = each.id; } });
    const act = (run) => async () => { try { const memory = chosen === "deleted" ? each : await facts("mem_get_observation", { id: each.id }); await run(memory); } catch (error) { complain(error, load); } };
    const actions = chosen === "deleted" ? { restore: act(() => restore(each.id)) } : {
      accept: act((memory) => update(memory, { status: "active", verification: "verified" }, `Accepted #${each.id}.`)),
      edit: act((memory) => { node.replaceChildren(editor(memory, load)); node.querySelector("input").focus(); }),
      archive: act((memory) => update(memory, { status: "archived" }, `Archived #${each.id}.`)),
      supersede: act((memory) => update(memory, { status: "superseded" }, `Superseded #${each.id}.`)),
      dispute: act((memory) => update(memory, { verification: "disputed" }, `Disputed #${each.id}.`)),
      remove: act(remove),
    };
    const names = { restore: "Restore", accept: "Accept", edit: "Edit", archive: "Archive", supersede: "Supersede", dispute: "Dispute", remove: "Delete" };
    const texts = region(`Content of #${each.id}`, each.content);
    node.append(spans(`#${each.id}`, h("span", { class: "kind" }, each.kind), each.project || "no project", `${each.status}, ${each.verification}`, when(each.updated)), h("h2", { dir: "auto" }, each.title), texts,
      h("div", { class: "actions" }, Object.entries(actions).map(([name, run]) => button(names[name], run, { "aria-label": `${names[name]} #${each.id}`, class: name === "remove" ? "danger" : undefined })), each.revisions ? button("Diff to the last text", async (event) => {
        const { revisions } = await facts("observation_history", { id: each.id, detail_level: "full", max_tokens: 60000 });
        if (revisions[0]) texts.replaceWith(h("div", { class: "diff", role: "region", tabindex: 0, "aria-label": `Changes of #${each.id}` }, difference(revisions[0].content ?? "", each.content).map(([kind, line]) => h("div", { class: kind }, `${{ old: "- ", new: "+ ", same: "  " }[kind]}${line}`))));
        event.target.disabled = true;
      }) : ""));
    return { id: each.id, node, actions };
  }

  async function load() {
    try {
      const totals = await Promise.all(Object.keys(TABS).map((name) => tool("list_observations", ask(name, { limit: 1, max_tokens: 200 }))));
      tabs.replaceChildren(...Object.entries(TABS).map(([name, [title]], index) => button(`${title} (${number(totals[index].total)})`, () => go({ tab: name }), { "aria-pressed": String(name === chosen) })));
      const { observations, total } = await facts("list_observations", ask(chosen, { detail_level: "full", limit }));
      cards = observations.map(card);
      const rest = total > cards.length ? h("p", { class: "actions" }, `${number(cards.length)} of ${number(total)} shown `, limit < 200 ? button("Show more", () => { limit = 200; load(); }) : "; choose a project for fewer") : "";
      list.replaceChildren(...(cards.length ? cards.map((each) => each.node) : [h("p", { class: "card empty" }, "Nothing here. Well kept.")]), rest);
    } catch (error) { tell(error, list); }
  }
  const move = (step) => { const index = cards.findIndex((each) => each.id === focus); cards[Math.max(0, Math.min(cards.length - 1, index + step))]?.node.focus(); };
  const act = (name) => cards.find((each) => each.id === focus)?.actions[name]?.();
  load();
  return { node: [h("h2", { class: "sr" }, "Review"), tabs, list], refresh: load, keys: { j: () => move(1), k: () => move(-1), a: () => act("accept"), e: () => act("edit"), x: () => act("archive") } };
}
