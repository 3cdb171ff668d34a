// The account of a context window over its calls.
import { facts, tell } from "./api.js";
import { h, number, s, swatch, table, when } from "./dom.js";

const TIERS = [["system", "System", "var(--c6)"], ["user", "User", "var(--c3)"], ["history", "History", "var(--c2)"], ["tool_results", "Tool results", "var(--c1)"]];

// What each tier held after each call, told backwards from what it holds now.
function steps(account, entries) {
  const now = Object.fromEntries(TIERS.map(([name]) => [name, account.tiers[name]?.used ?? 0]));
  const back = [{ ...now }];
  for (const entry of entries) {
    now.tool_results = Math.max(0, now.tool_results - entry.tokens_sent);
    now.history = Math.max(0, now.history - (entry.evicted ? 0 : entry.cost));
    back.push({ ...now });
  }
  return back.reverse();
}

function chart(account, entries) {
  const held = steps(account, entries);
  const most = Math.max(account.total, ...held.map((each) => TIERS.reduce((sum, [name]) => sum + each[name], 0)));
  const x = (index) => 60 + (820 * index) / Math.max(1, held.length - 1), y = (tokens) => 210 - (190 * tokens) / most;
  const picture = s("svg", { viewBox: "0 0 900 235", role: "img", "aria-label": `Use of ${account.handle} over ${entries.length} calls; the table below has the figures` });
  const line = (tokens, name) => picture.append(s("line", { class: "grid", x1: 60, x2: 880, y1: y(tokens), y2: y(tokens), "stroke-dasharray": "4 4" }), s("text", { x: 56, y: y(tokens) + 4, "text-anchor": "end" }, number(tokens)), s("text", { x: 884, y: y(tokens) - 4, "text-anchor": "end" }, name));
  let under = held.map(() => 0);
  for (const [name, , colour] of TIERS) {
    const over = under.map((base, index) => base + held[index][name]);
    const top = over.map((value, index) => `${x(index)},${y(value)}`), bottom = under.map((value, index) => `${x(index)},${y(value)}`).reverse();
    picture.append(s("polygon", { points: [...top, ...bottom].join(" "), fill: colour, opacity: 0.75 }), s("polyline", { points: top.join(" "), fill: "none", stroke: colour, "stroke-width": 2 }));
    under = over;
  }
  line(account.total, "total");
  if (account.warning) line(Math.max(0, account.total - account.warning), "warning");
  if (account.critical) line(Math.max(0, account.total - account.critical), "hand over");
  picture.append(s("line", { class: "grid", x1: 60, x2: 880, y1: 210, y2: 210 }), s("text", { x: 60, y: 228 }, "oldest call"), s("text", { x: 880, y: 228, "text-anchor": "end" }, "now"));
  return picture;
}

export function view(state, go) {
  const choice = h("select", { id: "account" }), body = h("div", { class: "stack" });
  choice.addEventListener("change", () => show(choice.value));

  async function show(handle) {
    go({ account: handle }, true);
    try {
      const [{ account }, log] = await Promise.all([facts("budget_status", { account: handle }), facts("work_log", { account: handle, limit: 200, evicted: true, looking: true })]);
      const rows = log.entries.map((each) => ({ ...each, at: when(each.at) }));
      const leases = accounts.filter((each) => each.parent === handle);
      body.replaceChildren(
        account.alert ? h("p", { class: "badge" }, account.alert) : "",
        h("figure", { class: "card" }, h("h2", {}, `${account.handle}: ${number(account.remaining)} of ${number(account.total)} tokens remaining`), h("figcaption", { class: "legend" }, TIERS.map(([name, title, colour]) => swatch(colour, `${title} ${number(account.tiers[name]?.used)} of ${number(account.tiers[name]?.limit)}`)), h("span", {}, `${number(account.tiers.reserve?.used)} reserved`)), chart(account, log.entries)),
        leases.length ? h("section", { class: "card" }, h("h3", {}, "Leases"), h("ul", { class: "lane" }, leases.map((each) => h("li", {}, `└ ${each.handle}: ${number(each.remaining)} of ${number(each.total)} remaining${each.closed ? ", closed" : ""}`)))) : "",
        h("section", { class: "card" }, h("h3", {}, "Calls, newest first"), rows.length ? table("Calls", [{ key: "at", name: "At" }, { key: "tool", name: "Tool" }, { key: "brief", name: "Reply" }, { key: "tokens_before", name: "Before", n: 1 }, { key: "tokens_sent", name: "Sent", n: 1 }, { key: "tokens_after", name: "After", n: 1 }, { key: "key", name: "Key" }], rows) : h("p", { class: "empty" }, "No call yet.")));
    } catch (error) { tell(error, body); }
  }
  let accounts = [];
  async function load() {
    try {
      accounts = ((await facts("budget_status", {})).accounts ?? []).sort((a, b) => b.entries - a.entries);
    } catch (error) { return tell(error, body); }
    choice.parentNode.hidden = !accounts.length;
    choice.replaceChildren(...accounts.map((each) => h("option", { value: each.handle, selected: each.handle === state.account }, `${each.parent ? "└ " : ""}${each.handle}, ${number(each.remaining)} left`)));
    if (state.account || accounts.length) await show(state.account || accounts[0].handle);
    else body.replaceChildren(h("p", { class: "empty card" }, "No account is open; `haversack budget open` makes one."));
  }
  load();
  return { node: [h("h2", { class: "sr" }, "Ledger"), h("div", { class: "bar" }, h("label", {}, "Account", choice)), body], refresh: load, keys: {} };
}
