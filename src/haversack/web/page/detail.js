// One memory: everything about it, and what can be done with it.
import { remove, save, update } from "./actions.js";
import { facts, note, settings, strip } from "./api.js";
import { button, h, plural, region, spans, when } from "./dom.js";

export function editor(memory, close) {
  const field = (name, label, more) => h("label", {}, label, h(more?.rows ? "textarea" : "input", { name, value: memory?.[name] ?? "", ...more }));
  const form = h("form", { class: "form", "aria-label": memory ? `Edit #${memory.id}` : "New memory" },
    field("title", "Title", { required: true, maxlength: 500 }),
    field("content", "Content", { required: true, rows: 9 }),
    h("div", { class: "row" },
      field("kind", "Kind", { value: memory?.kind ?? "observation" }),
      field("project", "Project", { value: memory ? memory.project ?? "" : settings.project }),
      field("tags", "Tags, with commas", { value: (memory?.tags ?? []).join(", ") }),
      field("importance", "Importance, 0 to 1", { type: "number", min: 0, max: 1, step: 0.05, value: memory?.importance ?? 0.5 })),
    h("div", { class: "actions" }, h("button", { class: "main" }, "Save"), button("Cancel", () => close())));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form));
    const draft = { ...given, tags: given.tags.split(",").map((tag) => tag.trim()).filter(Boolean), importance: Number(given.importance) };
    try {
      if (!memory) return close(await save(draft));
      const change = {};
      for (const [name, value] of Object.entries(draft)) {
        const before = memory[name] ?? (name === "tags" ? [] : name === "importance" ? 0.5 : "");
        if (JSON.stringify(before) !== JSON.stringify(value)) change[name] = value;
      }
      if (Object.keys(change).length) await update(memory, change, `Changed #${memory.id}.`);
      close(memory.id);
    } catch (error) { complain(error, () => close(memory?.id)); }
  });
  return form;
}

export function complain(error, reload) {
  const stale = error.status === 412;
  strip(stale ? "Changed since you opened it." : error.message, { bad: !stale, action: stale ? { name: "Reload", run: () => { strip(""); reload(); } } : { name: "Close", run: () => strip("") } });
}

export async function detail(id, { again, intoPack }) {
  let memory;
  try { memory = await facts("mem_get_observation", { id }); } catch (error) { if (error.lost) throw error; return { node: note(error) }; }
  const node = h("article", { class: "card detail", "aria-label": `Memory #${id}` });
  const act = (run) => async () => { try { await run(); again(id); } catch (error) { complain(error, () => again(id)); } };
  const actions = {
    edit: () => { node.replaceChildren(editor(memory, () => again(id))); node.querySelector("input").focus(); },
    pin: act(() => update(memory, { pinned: !memory.pinned }, memory.pinned ? `Unpinned #${id}.` : `Pinned #${id}.`)),
    accept: act(() => update(memory, { verification: "verified", status: "active" }, `Accepted #${id}.`)),
    archive: act(() => update(memory, { status: "archived" }, `Archived #${id}.`)),
    remove: act(() => remove(memory)),
  };
  const links = memory.relations ?? [];
  node.append(
    spans(`#${id}`, h("span", { class: "kind" }, memory.kind), memory.pinned && h("span", { class: "badge" }, "pinned"), memory.status !== "active" && h("span", { class: "badge" }, memory.status)),
    h("h2", { dir: "auto" }, memory.title),
    spans(memory.project && `project ${memory.project}`, memory.tags && `tags ${memory.tags.join(", ")}`, `importance ${memory.importance ?? 0}`),
    region("Content", memory.content),
    spans(plural((memory.revisions ?? 0) + 1, "text"), plural(links.length, "link"), `seen ${plural((memory.duplicates ?? 0) + 1, "time")}`, memory.verification, `changed ${when(memory.updated)}`),
    h("div", { class: "actions" }, button("Edit", actions.edit), button(memory.pinned ? "Unpin" : "Pin", actions.pin), button("Accept", actions.accept),
      intoPack ? button("Into the pack", () => intoPack(id)) : "", button("Archive", actions.archive), button("Delete", actions.remove, { class: "danger" })));
  if (links.length) node.append(h("h3", {}, "Links"), h("ul", {}, links.map((link) => h("li", {}, link.from === id ? `${link.type} #${link.to}` : `#${link.from} ${link.type} this`, link.note ? `: ${link.note}` : ""))));
  if (memory.revisions) node.append(earlier(id));
  return { node, memory, actions };
}

function earlier(id) {
  const box = h("details", {}, h("summary", {}, "Earlier texts"));
  box.addEventListener("toggle", async () => {
    if (!box.open || box.children.length > 1) return;
    const { revisions } = await facts("observation_history", { id, detail_level: "full" });
    for (const each of revisions) box.append(spans(`revision ${each.revision}, ${when(each.written)}`, each.title), region(`Revision ${each.revision}`, each.content));
  }, false);
  return box;
}
