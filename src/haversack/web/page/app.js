// The frame: signing in, views by address, keys, theme.
import { undoLast } from "./actions.js";
import { facts, on, settings, signIn, strip } from "./api.js";
import { button, byId, h } from "./dom.js";
import { view as figures } from "./figures.js";
import { view as ledger } from "./ledger.js";
import { view as memory } from "./memory.js";
import { view as pack } from "./pack.js";
import { view as review, waiting } from "./review.js";
import { view as timeline } from "./timeline.js";

const VIEWS = { memory: ["Memory", memory], pack: ["Pack", pack], timeline: ["Timeline", timeline], ledger: ["Ledger", ledger], review: ["Review", review], figures: ["Figures", figures] };
const PROFILES = ["o200k", "claude", "cl100k", "llama3", "qwen", "deepseek", "mistral", "bytes4"];
const KEYS = [["/", "search"], ["j k", "next, previous"], ["Enter", "open"], ["e", "edit"], ["a", "accept"], ["p", "into the pack"], ["x", "leave out, archive"], ["c", "copy the pack"], ["u", "undo"], ["g then m p t l r f", "go to Memory, Pack, Timeline, Ledger, Review, Figures"], ["?", "this help"], ["Esc", "back"]];
let shown = null, name = "", gone = false;

const read = () => {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { view: path in VIEWS ? path : "memory", ...Object.fromEntries(new URLSearchParams(query || "")) };
};
const address = ({ view, ...state }) => {
  const query = new URLSearchParams(Object.entries(state).filter(([, value]) => value !== "" && value !== undefined && value !== null)).toString();
  return `#/${view}${query ? `?${query}` : ""}`;
};

function go(state, quietly = false) {
  const next = address({ view: name, ...state });
  if (quietly) history.replaceState(null, "", next);
  else if (next === location.hash) draw();
  else location.hash = next;
}

function draw() {
  if (gone) return;
  const state = read();
  name = state.view;
  for (const link of document.querySelectorAll("#views a")) link.toggleAttribute("aria-current", link.dataset.view === name);
  document.querySelector("#views a[aria-current]")?.setAttribute("aria-current", "page");
  document.title = `${VIEWS[name][0]} - Haversack`;
  strip("");
  shown = VIEWS[name][1](state, go);
  byId("main").replaceChildren(...shown.node);
}

async function refresh() {
  const count = await waiting().catch(() => 0);
  const link = document.querySelector('#views a[data-view="review"]');
  link.replaceChildren("Review ", count ? h("span", { class: "badge" }, String(count)) : "");
}

function signedOut() {
  if (gone) return;
  gone = true;
  shown = null;
  const token = h("input", { type: "password", autocomplete: "off", required: true });
  const form = h("form", { class: "form" }, h("label", {}, "Or paste a token (hvk_…)", token), h("div", { class: "actions" }, h("button", { class: "main" }, "Sign in")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try { await signIn({ token: token.value.trim() }); gone = false; strip(""); start(); } catch (error) { strip(error.message, { bad: true }); }
  });
  byId("main").replaceChildren(h("section", { class: "card sign" }, h("h2", {}, "Sign in"), h("p", {}, "Run ", h("code", {}, "haversack web"), " and open the address it prints. It works once, for five minutes."), h("p", {}, " "), form));
}

function theme(step = 0) {
  const all = ["system", "light", "dark"];
  const held = all[(Math.max(0, all.indexOf(localStorage.getItem("theme"))) + step) % 3];
  localStorage.setItem("theme", held);
  document.documentElement.dataset.theme = held;
  byId("theme").textContent = `Theme: ${held}`;
}

async function projects() {
  const { figures: rows } = await facts("memory_figures", {});
  const names = [...new Set(rows.map((row) => row.project).filter(Boolean))].sort();
  byId("project").replaceChildren(h("option", { value: "" }, "all"), ...names.map((each) => h("option", { value: each, selected: each === settings.project }, each)));
}

function help() {
  const box = byId("keys");
  box.replaceChildren(h("h2", { id: "keys-title" }, "Keys"), h("dl", {}, KEYS.map(([keys, what]) => [h("dt", {}, keys.split(" ").map((key) => [key === "then" ? " then " : h("kbd", {}, key), " "])), h("dd", {}, what)])), h("p", {}, "None works while typing."), h("div", { class: "actions" }, button("Close", () => box.close(), { class: "main" })));
  box.showModal();
}

let going = false;
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest?.("input, textarea, select");
  if (event.key === "Escape") { if (typing) typing.blur(); return; }
  if (typing || event.ctrlKey || event.metaKey || event.altKey || byId("keys").open || gone) return;
  if (going) {
    going = false;
    const target = Object.keys(VIEWS).find((each) => each[0] === event.key);
    if (target) { event.preventDefault(); location.hash = `#/${target}`; }
    return;
  }
  const run = { g: () => { going = true; }, u: undoLast, "?": help, ...shown?.keys }[event.key];
  if (run) { event.preventDefault(); run(); }
});
document.addEventListener("memory-changed", () => { refresh(); if (name !== "memory" || !document.querySelector("form.form")) shown?.refresh?.(); });
window.addEventListener("hashchange", draw);
window.addEventListener("focus", async () => {
  const reload = await shown?.recheck?.().catch(() => null);
  if (reload) strip("Changed since you opened it.", { action: { name: "Reload", run: () => { strip(""); reload(); } } });
});
window.addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  if (event.reason?.name !== "AbortError" && !event.reason?.lost) strip(event.reason?.message || "Something went wrong.", { bad: true, action: { name: "Close", run: () => strip("") } });
});
on("unauthorized", signedOut);
on("back", () => shown?.refresh?.());

byId("views").append(...Object.entries(VIEWS).map(([key, [title]]) => h("li", {}, h("a", { href: `#/${key}`, "data-view": key }, title))));
byId("profile").append(...PROFILES.map((each) => h("option", { value: each }, each)));
byId("profile").addEventListener("change", (event) => { settings.profile = event.target.value; shown?.refresh?.(); });
byId("project").addEventListener("change", (event) => { settings.project = event.target.value; refresh(); shown?.refresh?.(); });
byId("theme").addEventListener("click", () => theme(1));
byId("help").addEventListener("click", help);

function start() {
  draw();
  projects().catch(() => {});
  refresh();
}

theme();
const code = /^#k=([\w-]+)$/.exec(location.hash)?.[1];
if (code) history.replaceState(null, "", "#/memory");
(code ? signIn({ code }).catch(() => {}) : Promise.resolve()).then(start);
