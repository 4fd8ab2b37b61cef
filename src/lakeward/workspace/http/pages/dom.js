// Elements, formats and requests. Every text of a user becomes a text node: names are never markup.
const SVG = "http://www.w3.org/2000/svg";
const SVG_NAMES = new Set(["svg", "path", "rect", "text", "g"]);

function build(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node[key] = value;
    else if (key === "style") Object.assign(node.style, value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return node;
}

export const el = (name, attributes, ...children) => build(document.createElement(name), attributes, children);
export const svg = (name, attributes, ...children) => build(document.createElementNS(SVG, name), attributes, children);

// Make `old` equal to `now` in place: focus, scroll positions, open details and frames are kept.
export function morph(old, now) {
  if (old.nodeType !== now.nodeType || old.nodeName !== now.nodeName || old.id !== now.id) { old.replaceWith(now); return; }
  if (old.nodeType !== Node.ELEMENT_NODE) { if (old.data !== now.data) old.data = now.data; return; }
  for (const { name } of [...old.attributes]) if (!now.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  for (const { name, value } of [...now.attributes]) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  for (const handler of ["onclick", "onkeydown", "onsubmit", "onchange"]) old[handler] = now[handler];
  if (old.matches("input, textarea, select")) return;
  morphChildren(old, [...now.childNodes]);
}

export function morphChildren(parent, nodes) {
  nodes.forEach((node, index) => index < parent.childNodes.length ? morph(parent.childNodes[index], node) : parent.append(node));
  while (parent.childNodes.length > nodes.length) parent.lastChild.remove();
}

// Shorten a long text; the title has all of it.
export function cut(text, most = 120) {
  const letters = [...String(text ?? "")];
  if (letters.length <= most) return letters.join("");
  return el("span", { title: letters.slice(0, 2000).join("") }, letters.slice(0, most - 1).join("") + "…");
}
export const cutText = (text, most) => { const letters = [...String(text ?? "")]; return letters.length <= most ? letters.join("") : letters.slice(0, most - 1).join("") + "…"; };

export const number = value => value === null || value === undefined ? "" : Number(value).toLocaleString("en");
export const time = value => value ? new Date(value).toLocaleString() : "";
export function duration(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(seconds)) return "";
  if (seconds < 1) return Math.round(seconds * 1000) + " ms";
  return seconds < 90 ? seconds.toFixed(1) + " s" : Math.floor(seconds / 60) + " min " + Math.round(seconds % 60) + " s";
}
export function bytes(size) {
  if (size === null || size === undefined || size === "") return "";
  const units = ["B", "KB", "MB", "GB", "TB"];
  let value = Number(size), unit = 0;
  while (value >= 1000 && unit < units.length - 1) { value /= 1000; unit++; }
  return value.toLocaleString("en", { maximumFractionDigits: value < 10 && unit ? 1 : 0 }) + " " + units[unit];
}
// An active run has taken the time until now.
export const took = (begin, end) => begin ? duration(Math.max(0, (end || Date.now()) - begin) / 1000) : "";
export const state = value => value ? el("span", { class: "state " + value }, value.toLowerCase().replaceAll("_", " ")) : "";
export const stateOf = each => each.state.result_state || each.state.life_cycle_state;
export const isActive = each => !each.state.result_state && !["TERMINATED", "SKIPPED", "INTERNAL_ERROR"].includes(each.state.life_cycle_state);
export const plain = text => el("p", { class: "dim" }, text);

// `heads` starting with # are numbers, with ~ long texts.
export function table(heads, rows, empty = "There is nothing here yet.", style = "") {
  if (!rows.length) return plain(empty);
  const kinds = heads.map(head => head[0] === "#" ? "number" : head[0] === "~" ? "wide" : null);
  return el("div", { class: "scroll " + style, tabindex: "0", role: "group", "aria-label": "Table of " + heads[0].replace(/^[#~]/, "") }, el("table", {},
    el("thead", {}, el("tr", {}, heads.map((head, i) => el("th", { scope: "col", class: kinds[i] }, head.replace(/^[#~]/, ""))))),
    el("tbody", {}, rows.map(row => el("tr", {}, row.map((cell, i) => el("td", { class: kinds[i] }, cell)))))));
}

// A part of an address: names may have slashes, blanks and anything else.
export const link = (parts, text, more) => el("a", { href: "#" + parts.map(each => encodeURIComponent(each)).join("/"), ...more }, text);

export function paging(at, answer, size) {
  const { next_page_token: next, prev_page_token: before } = answer;
  if (!next && !before) return null;
  const to = (token, text) => token ? el("a", { href: "#" + at + "?page=" + token }, text) : el("span", { class: "dim" }, text);
  return el("p", { class: "actions" }, to(before, "Newer"), to(next, "Older"), el("span", { class: "dim" }, size + " a page"));
}

export class RequestError extends Error { constructor(status, message) { super(message); this.status = status; } }

export async function ask(path, body) {
  const token = sessionStorage.getItem("token");
  if (!token) throw new RequestError(401, "This tab has no token.");
  const headers = { Authorization: "Bearer " + token };
  const options = body === undefined ? { headers } : { headers: { ...headers, "Content-Type": "application/json" }, method: "POST", body: JSON.stringify(body) };
  let response;
  try { response = await fetch(path, options); } catch { throw new RequestError(0, "The server does not answer. Is `lakeward workspace` still running?"); }
  const answer = await response.json();
  if (!response.ok) throw new RequestError(response.status, answer.message || response.statusText);
  return answer;
}

// A button whose action is a request: disabled until it is answered, errors in the page's alert.
export function button(text, action, more) {
  return el("button", { type: "button", ...more, onclick: async event => {
    const clicked = event.currentTarget;
    clicked.disabled = true;
    try { await action(); } catch (error) { document.getElementById("problem").textContent = error.message; } finally { clicked.disabled = false; }
  } }, text);
}
