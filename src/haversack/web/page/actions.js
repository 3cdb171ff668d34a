// Changes to memories: each can be undone from the bar, and again with the key u.
import { facts, tool } from "./api.js";
import { byId, button, h } from "./dom.js";

const done = [];
let timer = 0;

export function announce(text, undo) {
  const bar = byId("undo");
  clearTimeout(timer);
  if (undo) done.push({ text, undo });
  bar.replaceChildren(h("div", {}, h("span", {}, text), undo ? button("Undo (u)", undoLast) : ""));
  timer = setTimeout(() => bar.replaceChildren(), 10000);
}

export async function undoLast() {
  const last = done.pop();
  if (!last) return announce("Nothing to undo.");
  try { await last.undo(); } catch (error) {
    if (error.status !== 412) done.push(last);
    return announce(`Not undone: ${error.status === 412 ? "it has been changed since." : error.message}`);
  }
  announce(`Undone: ${last.text}`);
  changed();
}

// What undoes a change must not overwrite what somebody else wrote after it.
const now = async (id) => (await facts("mem_get_observation", { id })).hash;
export const changed = () => document.dispatchEvent(new Event("memory-changed"));

// `before` is the memory as it was read; its hash keeps us from overwriting what an agent wrote meanwhile.
export async function update(before, change, text) {
  await tool("mem_update", { id: before.id, expected_hash: before.hash, ...change });
  const back = Object.fromEntries(Object.keys(change).map((name) => [name, before[name] ?? EMPTY[name] ?? ""]));
  const expected_hash = await now(before.id);
  announce(text, () => tool("mem_update", { id: before.id, expected_hash, ...back }));
  changed();
}
const EMPTY = { pinned: false, tags: [], importance: 0.5, status: "active", verification: "unverified" };

export async function remove(before) {
  await tool("mem_delete", { id: before.id, expected_hash: before.hash });
  announce(`Deleted #${before.id}.`, () => tool("mem_update", { id: before.id, restore: true }));
  changed();
}

export async function restore(id) {
  await tool("mem_update", { id, restore: true });
  announce(`Restored #${id}.`, () => tool("mem_delete", { id }));
  changed();
}

export async function save(draft) {
  const reply = JSON.parse((await tool("mem_save", { ...draft, format: "json" })).text);
  const isNew = reply.outcome === "saved", expected_hash = isNew && (await now(reply.id));
  announce(`${isNew ? "Saved" : "It is there already as"} #${reply.id}.`, isNew && (() => tool("mem_delete", { id: reply.id, expected_hash })));
  changed();
  return reply.id;
}

export async function copy(text, what) {
  try { await navigator.clipboard.writeText(text); announce(`Copied ${what}.`); } catch { announce("The browser does not let this page copy; select the text instead."); }
}
