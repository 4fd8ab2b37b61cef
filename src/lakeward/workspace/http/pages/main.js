// Sections of the page, by the part of the address after #.
import { ask, el, morphChildren } from "/ui/dom.js";
import { job, jobs, run, runs } from "/ui/jobs.js";
import { pipeline, pipelines } from "/ui/pipelines.js";
import { secrets } from "/ui/secrets.js";
import { sql } from "/ui/sql.js";
import { tables } from "/ui/tables.js";

const SECTIONS = { jobs, runs, job, run, pipelines, pipeline, tables, sql, secrets };
const NAVIGATION = { job: "jobs", run: "runs", pipeline: "pipelines" };
const STILL = new Set(["sql", "tables", "secrets"]);
const REFRESH = 2000;
const content = document.getElementById("content"), problem = document.getElementById("problem");

const first = new URLSearchParams(location.hash.slice(1));
if (first.get("token")) { sessionStorage.setItem("token", first.get("token")); history.replaceState(null, "", "#" + (first.get("then") || "jobs")); }

function decoded(text) { try { return decodeURIComponent(text); } catch { return text; } }

function place() {
  const [path, query] = (location.hash.slice(1) || "jobs").split("?", 2);
  let parts = path.split("/").map(decoded);
  // Addresses of the platform's own pages, as its clients print them.
  if (parts[0] === "joblist" && parts[1] === "pipelines") parts = ["pipeline", parts[2], parts[4]];
  if (parts[0] === "job" && parts[2] === "run") parts = ["run", ...parts.slice(1)];
  if (!(parts[0] in SECTIONS)) parts = ["jobs"];
  return { name: parts[0], values: parts.slice(1), query: new URLSearchParams(query || ""), key: path };
}

let turn = 0, shownKey = null;
async function show() {
  const mine = ++turn, { name, values, query, key } = place();
  for (const each of document.querySelectorAll("nav a"))
    each.hash.slice(1) === (NAVIGATION[name] || name) ? each.setAttribute("aria-current", "page") : each.removeAttribute("aria-current");
  try {
    const nodes = (await SECTIONS[name](values, query)).filter(Boolean);
    if (mine !== turn) return;
    const before = document.getElementById("log"), followed = !before || before.scrollTop + before.clientHeight > before.scrollHeight - 20;
    if (shownKey === key) morphChildren(content, nodes); else content.replaceChildren(...nodes);
    const after = document.getElementById("log");
    if (after && (followed || shownKey !== key)) after.scrollTop = after.scrollHeight;
    const heading = content.querySelector("h1");
    document.title = (heading ? [...heading.textContent].slice(0, 60).join("") + ": " : "") + "lakeward workspace";
    shownKey = key; problem.textContent = "";
  } catch (error) {
    if (mine !== turn) return;
    problem.textContent = error.message;
    if (shownKey !== key) { content.replaceChildren(); shownKey = null; }
    if (error.status === 401 || error.status === 403 && !sessionStorage.getItem("name")) signIn();
  }
}

// The token is kept for this tab alone.
function signIn() {
  const field = el("input", { type: "password", name: "token", autocomplete: "off", id: "token" });
  const form = el("form", { class: "actions", onsubmit: event => { event.preventDefault(); sessionStorage.setItem("token", field.value.trim()); begin(); } },
    el("label", {}, "Token", field), el("button", { class: "main" }, "Sign in"));
  content.replaceChildren(el("p", {}, "Open the address that `lakeward workspace` prints, or enter its token: it is in .lakeward/TARGET/workspace/connection.json."), form);
  shownKey = null;
}

async function begin() {
  try {
    const { userName } = await ask("/api/2.0/preview/scim/v2/Me");
    sessionStorage.setItem("name", userName);
    document.getElementById("who").textContent = userName;
  } catch { sessionStorage.removeItem("name"); }
  show();
}

addEventListener("hashchange", show);
// Text that is being selected is not replaced, and a token that is being typed is not removed.
setInterval(() => { if (!document.hidden && !STILL.has(place().name) && !getSelection().toString() && !document.getElementById("token")) show(); }, REFRESH);
begin();
