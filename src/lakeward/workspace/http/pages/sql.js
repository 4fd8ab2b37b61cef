// The SQL editor: statements on the local warehouse, their results, and the history of queries.
import { ask, button, cut, duration, el, number, plain, state, table, time } from "/ui/dom.js";

const STATEMENTS = "/api/2.0/sql/statements", WAITING = ["PENDING", "RUNNING"], ROWS = 1000;
const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));

// Run a statement to its end; `onStart` gets its id. Errors are those of the statement.
export async function statement(text, { catalog, schema, onStart } = {}) {
  const { warehouses } = await ask("/api/2.0/sql/warehouses"), begun = performance.now();
  let answer = await ask(STATEMENTS, { statement: text, warehouse_id: warehouses[0].id, wait_timeout: "0s", row_limit: ROWS, ...(catalog ? { catalog } : {}), ...(schema ? { schema } : {}) });
  if (onStart) onStart(answer.statement_id);
  for (let wait = 60; WAITING.includes(answer.status.state); wait = Math.min(1000, wait * 1.5)) { await pause(wait); answer = await ask(STATEMENTS + "/" + answer.statement_id); }
  if (answer.status.state !== "SUCCEEDED") throw new Error((answer.status.error || {}).message || "The statement was canceled.");
  const rows = [...(answer.result.data_array || [])];
  for (let next = answer.result.next_chunk_internal_link; next;) { const part = await ask(next); rows.push(...(part.data_array || [])); next = part.next_chunk_internal_link; }
  return { columns: answer.manifest.schema.columns || [], rows, truncated: answer.manifest.truncated, seconds: (performance.now() - begun) / 1000 };
}

const NUMBERS = new Set(["BYTE", "SHORT", "INT", "LONG", "FLOAT", "DOUBLE", "DECIMAL"]);
export function resultTable({ columns, rows, truncated, seconds }) {
  const shown = rows.map(row => row.map(value => value === null ? el("span", { class: "null" }, "null") : cut(value, 400)));
  const about = `${number(rows.length)} rows${truncated ? ", the result has more" : ""}, ${duration(seconds)}`;
  return [el("p", { class: "dim", role: "status" }, about), columns.length ? table(columns.map(each => (NUMBERS.has(each.type_name) ? "#" : "") + each.name), shown, "The result has no rows.", "tall") : plain("The statement has no result.")];
}

export async function sql([given]) {
  const catalogs = (await ask("/api/2.1/unity-catalog/catalogs")).catalogs.map(each => each.name);
  const field = el("textarea", { id: "statement", "aria-label": "SQL statement", spellcheck: "false", placeholder: "SELECT * FROM main.default.t" });
  field.value = given || sessionStorage.getItem("statement") || "";
  const catalog = el("select", { id: "catalog" }, catalogs.map(name => el("option", { value: name }, cut(name, 60)))), schema = el("select", { id: "schema" });
  const keep = (name, element) => { const kept = sessionStorage.getItem(name); if ([...element.options].some(each => each.value === kept)) element.value = kept; };
  const schemas = async () => {
    sessionStorage.setItem("catalog", catalog.value);
    const found = catalog.value ? (await ask("/api/2.1/unity-catalog/schemas?catalog_name=" + encodeURIComponent(catalog.value)).catch(() => ({ schemas: [] }))).schemas : [];
    schema.replaceChildren(...found.map(each => el("option", { value: each.name }, each.name)));
    keep("schema", schema);
  };
  keep("catalog", catalog); catalog.onchange = schemas; schema.onchange = () => sessionStorage.setItem("schema", schema.value);
  await schemas();
  const result = el("div", { id: "result", "aria-live": "polite" }), past = el("div", {});
  let running = null;
  const cancel = button("Cancel", () => running && ask(`${STATEMENTS}/${running}/cancel`, {}), { id: "cancel" });
  const run = async () => {
    const { selectionStart: from, selectionEnd: to, value } = field, text = from === to ? value : value.slice(from, to);
    if (!text.trim() || running) return;
    sessionStorage.setItem("statement", value);
    result.replaceChildren(plain("Running …"));
    try { result.replaceChildren(...resultTable(await statement(text, { catalog: catalog.value, schema: schema.value, onStart: id => { running = id; } }))); }
    catch (error) { result.replaceChildren(el("pre", { class: "bad", role: "alert", tabindex: "0" }, error.message)); }
    finally { running = null; past.replaceChildren(...await history(field)); }
  };
  field.onkeydown = event => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); } };
  past.replaceChildren(...await history(field));
  return [el("h1", {}, "SQL editor"), el("div", { class: "actions" }, el("label", {}, "Catalog", catalog), el("label", {}, "Schema", schema)), field,
    el("div", { class: "actions" }, button("Run", run, { class: "main", id: "run" }), cancel, el("span", { class: "dim" }, "Ctrl+Enter runs the statement, or the part that is selected.")), result, past];
}

async function history(field) {
  const { res } = await ask("/api/2.0/sql/history/queries?max_results=20");
  const use = text => el("button", { type: "button", "aria-label": "Edit this query", onclick: () => { field.value = text; field.focus(); } }, "Edit");
  return [el("h2", {}, "History"), table(["query", "state", "started", "#took", "#rows", "action"], res.map(each => [cut(each.query_text, 150), state(each.status), time(each.query_start_time_ms),
    each.duration === undefined ? "" : duration(each.duration / 1000), number(each.rows_produced), use(each.query_text)]), "No queries.")];
}
