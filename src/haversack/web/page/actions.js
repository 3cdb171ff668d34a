// Changes to memories: each can be undone from the bar, and again with the key u.
import { tool } from "./api.js";
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
  await last.undo();
  announce(`Undone: ${last.text}`);
  changed();
}

export const changed = () => document.dispatchEvent(new Event("memory-changed"));

// `before` is the memory as it was read; its hash keeps us from overwriting what an agent wrote meanwhile.
export async function update(before, change, text) {
  await tool("mem_update", { id: before.id, expected_hash: before.hash, ...change });
  const back = Object.fromEntries(Object.keys(change).map((name) => [name, before[name] ?? EMPTY[name] ?? ""]));
  announce(text, () => tool("mem_update", { id: before.id, ...back }));
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
  announce(`${reply.outcome === "duplicate" ? "It is there already as" : "Saved"} #${reply.id}.`, reply.outcome === "saved" ? () => tool("mem_delete", { id: reply.id }) : null);
  changed();
  return reply.id;
}

export async function copy(text, what) {
  await navigator.clipboard.writeText(text);
  announce(`Copied ${what}.`);
}
