"use strict";
const report = JSON.parse(document.getElementById("report").textContent);
const at = id => document.getElementById(id);

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}
function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  for (const child of children) if (child !== null && child !== undefined) element.append(child);
  return element;
}
const number = value => value === null || value === undefined ? "" : value.toLocaleString("en");
const seconds = value => value === null || value === undefined ? "" : value < 10 ? value.toFixed(1) + " s" : Math.round(value) + " s";
const bytes = value => { if (!value) return ""; const power = Math.min(4, Math.floor(Math.log(value) / Math.log(1024))); return (value / 1024 ** power).toFixed(power ? 1 : 0) + " " + ["B", "KB", "MB", "GB", "TB"][power]; };
const time = text => text.slice(0, 19).replace("T", " ");
const state = value => make("span", {class: "state " + value}, value);
const short = (text, length) => [...text].length > length ? [...text].slice(0, length - 1).join("") + "…" : text;

// A heading that begins with `#` is of a column of numbers, unless the headings are a user's own names.
function table(head, rows, own) {
  const wide = ["message", "type", "comment", "computed from", "used for", "operators"];
  const cell = (tag, value, name) => {
    const kind = own ? "" : name.startsWith("#") ? "number" : wide.includes(name) ? "text" : "";
    const out = make(tag, kind ? {class: kind} : {}, value);
    if (tag === "th") out.scope = "col";
    return out;
  };
  return make("table", {},
    make("thead", {}, make("tr", {}, ...head.map(name => cell("th", own ? name : name.replace("#", ""), name)))),
    make("tbody", {}, ...rows.map(row => make("tr", {}, ...row.map((value, i) => cell("td", value, head[i]))))));
}


function levels(nodes) {
  const known = new Map(nodes.map(n => [n.id, n])), memo = new Map();
  const level = (id, path) => {
    if (memo.has(id)) return memo.get(id);
    if (path.has(id)) return 0;
    path.add(id);
    const value = 1 + Math.max(-1, ...known.get(id).inputs.filter(each => known.has(each) && each !== id).map(each => level(each, path)));
    path.delete(id);
    memo.set(id, value);
    return value;
  };
  nodes.forEach(n => level(n.id, new Set()));
  return memo;
}

// Each node: id, label, inputs (ids), state, lines (texts). `select` is called with the id of the chosen one.
function graph(box, nodes, name, select) {
  const memo = levels(nodes), columns = [], place = new Map();
  for (const n of nodes) (columns[memo.get(n.id)] ||= []).push(n);
  columns.forEach((column, x) => {
    const centre = n => { const from = n.inputs.map(id => place.get(id)).filter(Boolean); return from.length ? from.reduce((s, p) => s + p.y, 0) / from.length : Infinity; };
    if (x) column.sort((a, b) => centre(a) - centre(b) || a.id.localeCompare(b.id));
    column.forEach((n, y) => place.set(n.id, {x: 12 + x * 270, y: 12 + y * 94}));
  });
  // An edge over several columns has a row of its own in those between: it crosses no box.
  const rows = columns.map(column => column.length), lanes = new Map(), edges = [];
  const lane = (id, x) => {
    const key = JSON.stringify([id, x]);
    if (!lanes.has(key)) lanes.set(key, 12 + rows[x]++ * 94 + 38);
    return lanes.get(key);
  };
  for (const n of nodes) for (const id of new Set(n.inputs)) if (place.has(id) && id !== n.id) {
    const a = place.get(id), b = place.get(n.id);
    let x = a.x + 220, y = a.y + 38, line = `M${x},${y}`;
    const bend = (x2, y2) => { line += ` C${x + 25},${y} ${x2 - 25},${y2} ${x2},${y2}`; x = x2; y = y2; };
    for (let column = memo.get(id) + 1; column < memo.get(n.id); column++) { bend(12 + column * 270, lane(id, column)); line += " h220"; x += 220; }
    bend(b.x, b.y + 38);
    edges.push(draw("path", {class: "edge", d: line}));
  }
  const width = columns.length * 270, height = Math.max(...rows) * 94 + 10;
  const svg = draw("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": name});
  // A wide graph is reduced to the page, to a size that can still be read; a wider one scrolls.
  Object.assign(svg.style, {width: "100%", height: "auto", maxWidth: width + "px", minWidth: Math.min(width, Math.max(660, 0.65 * width)) + "px"});
  svg.append(...edges);
  for (const n of nodes) {
    const p = place.get(n.id), lines = n.lines.filter(Boolean);
    const node = draw("g", {role: "button", tabindex: 0, transform: `translate(${p.x},${p.y})`, "data-name": n.id},
      draw("rect", {class: "node", width: 220, height: 76, rx: 6}),
      draw("rect", {class: "mark " + (n.state || ""), width: 5, height: 76, rx: 2}),
      draw("text", {x: 14, y: 20}, short(n.label, 27)), " ",
      ...lines.flatMap((text, i) => [draw("text", {x: 14, y: 36 + 15 * i, class: "small"}, short(text, 32)), " "]));
    node.addEventListener("click", () => select(n.id));
    node.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); select(n.id); } });
    svg.append(node);
  }
  box.append(svg);
}

// Show the details of a node below the graph.
function details(id, ...parts) {
  document.querySelectorAll("#graph g").forEach(g => g.classList.toggle("selected", g.dataset.name === id));
  const box = at("details");
  box.hidden = false;
  box.replaceChildren(...parts.filter(Boolean));
  box.scrollIntoView({block: "nearest"});
}
