// One way to the server; what goes wrong is told once, in the strip.
import { byId, button, h } from "./dom.js";

export const settings = { project: "", profile: "" };
const listeners = { unauthorized() {}, back() {} };
let wait = 0;

export class Failure extends Error {
  constructor(status, error) {
    super(error.hint ? `${error.message}. ${error.hint}` : error.message);
    this.status = status;
    this.code = error.code;
  }
}

export function on(name, run) { listeners[name] = run; }

export function strip(text, { bad = false, action = null } = {}) {
  const node = byId("strip");
  node.hidden = !text;
  node.className = bad ? "bad" : "";
  node.replaceChildren(text || "", action ? button(action.name, action.run, { class: "small" }) : "");
}

let pending = 0;
const busy = (step) => byId("main").setAttribute("aria-busy", (pending += step) > 0);

async function request(path, options) {
  let reply;
  busy(1);
  try {
    reply = await fetch(path, { cache: "no-store", ...options });
  } catch (error) {
    if (error.name !== "AbortError") { error.lost = true; lost(); }
    throw error;
  } finally { setTimeout(busy, 50, -1); }
  if (wait) { wait = 0; strip(""); }
  if (reply.ok) return reply;
  const body = await reply.json().catch(() => ({ error: { code: "error", message: `status ${reply.status}`, hint: "" } }));
  if (reply.status === 401) listeners.unauthorized();
  if (["store_busy", "store_read_only", "store_full"].includes(body.error.code)) strip(`${body.error.message}. Reading goes on.`, { bad: true });
  throw new Failure(reply.status, body.error);
}

// The page keeps what it shows and asks again after 1, 2, 4 ... 30 seconds.
function lost() {
  if (wait) return;
  wait = 1;
  const again = async () => {
    strip(`The server cannot be reached. What is shown is old; trying again in ${wait} s.`, { bad: true });
    await new Promise((done) => setTimeout(done, wait * 1000));
    if (!wait) return;
    try {
      await fetch("/healthz", { cache: "no-store" });
      wait = 0;
      strip("");
      listeners.back();
    } catch { wait = Math.min(30, wait * 2); again(); }
  };
  again();
}

export async function tool(name, given, { signal, plain = false } = {}) {
  const body = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== "" && value !== undefined && value !== null));
  const headers = { "content-type": "application/json" };
  if (settings.profile) headers["haversack-profile"] = settings.profile;
  if (plain) headers["haversack-footer"] = "off";
  const reply = await request(`/api/v1/tools/${name}`, { method: "POST", headers, body: JSON.stringify(body), signal });
  const head = (key) => reply.headers.get(`haversack-${key}`);
  return {
    text: await reply.text(),
    tokens: Number(head("tokens") || 0),
    shown: Number(head("shown") || 0),
    total: Number(head("total") || 0),
    more: head("more") || "",
    left: Number(head("left") || 0),
    price: Number(head("left-tokens") || 0),
    ids: (head("ids") || "").split(",").filter(Boolean).map(Number),
  };
}

export const PLENTY = 400000;
export async function facts(name, given, options) {
  return JSON.parse((await tool(name, { max_tokens: PLENTY, ...given, format: "json" }, options)).text);
}

export const figures = async () => (await request("/metrics")).text();

export async function signIn({ code, token }) {
  const headers = { "content-type": "application/json" };
  if (token) headers.authorization = `Bearer ${token}`;
  await request("/session", { method: "POST", headers, body: JSON.stringify(code ? { code } : {}) });
}

// Only the answer to the newest question counts.
export function latest() {
  let current = null;
  return async (run) => {
    current?.abort();
    const mine = (current = new AbortController());
    try {
      const value = await run(mine.signal);
      return mine === current ? { value } : null;
    } catch (error) {
      if (mine !== current || error.lost || error.name === "AbortError") return null;
      return { error };
    }
  };
}

// While the server cannot be reached, what is shown stays.
export const tell = (error, node) => error.lost || node.replaceChildren(note(error));
export const note = (error) => h("p", { class: "empty", role: "alert" }, error.message);
