// Directed graphs: columns by the longest way from a source; edges over several columns get lanes of their own.
import { cutText, el, plain, svg } from "/ui/dom.js";

const WIDTH = 200, HEIGHT = 62, COLUMN = 250, ROW = 80;

function levels(nodes) {
  const inputs = new Map(nodes.map(node => [node.id, node.inputs])), level = new Map();
  const depth = (id, path) => {
    if (level.has(id)) return level.get(id);
    if (path.has(id)) return 0;
    path.add(id);
    const before = (inputs.get(id) || []).filter(each => inputs.has(each) && each !== id).map(each => depth(each, path) + 1);
    path.delete(id);
    level.set(id, Math.max(0, ...before));
    return level.get(id);
  };
  nodes.forEach(node => depth(node.id, new Set()));
  return level;
}

// Each node: id, label, inputs (ids), state, lines (texts), href, current.
export function graph(nodes, name) {
  if (!nodes.length) return plain("The graph is known after the first update.");
  const level = levels(nodes), rows = [], at = new Map();
  for (const { id } of nodes) { const column = level.get(id); rows[column] = (rows[column] || 0) + 1; at.set(id, [column * COLUMN + 8, (rows[column] - 1) * ROW + 8]); }
  const lanes = new Map();
  const lane = (source, column) => {
    const key = JSON.stringify([source, column]);
    if (!lanes.has(key)) { rows[column] = (rows[column] || 0) + 1; lanes.set(key, (rows[column] - 1) * ROW + 8 + HEIGHT / 2); }
    return lanes.get(key);
  };
  const edges = [];
  for (const node of nodes) for (const source of new Set(node.inputs)) if (at.has(source) && source !== node.id) {
    let [x, y] = at.get(source); x += WIDTH; y += HEIGHT / 2;
    let line = `M${x} ${y}`;
    const bend = (x2, y2) => { line += ` C${x + 25} ${y} ${x2 - 25} ${y2} ${x2} ${y2}`; [x, y] = [x2, y2]; };
    for (let column = level.get(source) + 1; column < level.get(node.id); column++) { bend(column * COLUMN + 8, lane(source, column)); line += ` h${WIDTH}`; x += WIDTH; }
    const [x2, y2] = at.get(node.id);
    bend(x2, y2 + HEIGHT / 2);
    edges.push(svg("path", { d: line, class: "edge" }));
  }
  // A wide graph is reduced to the page, to a size that can still be read; a wider one scrolls.
  const width = (Math.max(...level.values()) + 1) * COLUMN - COLUMN + WIDTH + 16, height = Math.max(...rows.filter(Boolean)) * ROW;
  const style = { width: "100%", height: "auto", maxWidth: width + "px", minWidth: Math.min(width, Math.max(660, 0.65 * width)) + "px" };
  const boxes = nodes.map(node => {
    const [x, y] = at.get(node.id), lines = (node.lines || []).filter(Boolean);
    const parts = [svg("rect", { x, y, width: WIDTH, height: HEIGHT, rx: 6, class: "box" }), svg("rect", { x, y, width: 5, height: HEIGHT, rx: 2, class: "mark" + (node.state ? " " + node.state : "") }),
      svg("text", { x: x + 13, y: y + 20 }, cutText(node.label, 26)), ...lines.map((text, i) => svg("text", { x: x + 13, y: y + 37 + 16 * i, class: "small" }, cutText(text, 28)))];
    // Blanks between the texts: the name of a link is its content.
    const spaced = parts.flatMap(part => [part, " "]);
    return node.href ? svg("a", { href: node.href, "aria-current": node.current ? "true" : null }, ...spaced) : svg("g", {}, ...spaced);
  });
  return el("figure", { tabindex: "0", role: "group", "aria-label": name }, svg("svg", { width, height, style, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": name }, ...edges, ...boxes));
}
