// The catalog: a tree of catalogs, schemas and tables; one table with columns, sample rows and history.
import { ask, bytes, button, cut, cutText, el, link, number, plain, table, time } from "/ui/dom.js";
import { resultTable, statement } from "/ui/sql.js";

const UC = "/api/2.1/unity-catalog/";
const quoted = name => "`" + name.replaceAll("`", "``") + "`";

async function all(path, name) {
  const found = [];
  for (let token = ""; token !== undefined && found.length < 5000;) {
    const part = await ask(UC + path + (path.includes("?") ? "&" : "?") + "max_results=100" + (token ? "&page_token=" + token : ""));
    found.push(...(part[name] || []));
    token = part.next_page_token;
  }
  return found;
}

async function tree(catalog, schema, name) {
  const catalogs = await all("catalogs", "catalogs");
  const schemas = catalog ? await all("schemas?catalog_name=" + encodeURIComponent(catalog), "schemas") : [];
  const tables = schema ? await all(`tables?omit_columns=true&catalog_name=${encodeURIComponent(catalog)}&schema_name=${encodeURIComponent(schema)}`, "tables") : [];
  const list = (items, open, path, inside) => el("ul", { class: "tree" }, items.map(each => el("li", {}, link(["tables", ...path, each.name], cut(each.name, 60), each.name === open ? { "aria-current": "true" } : {}), each.name === open ? inside : null)));
  const leaves = schema ? list(tables, name, [catalog, schema], null) : null;
  return [el("nav", { "aria-label": "Catalog" }, list(catalogs, catalog, [], catalog ? list(schemas, schema, [catalog], leaves) : null)), tables];
}

export async function tables([catalog, schema, name]) {
  const [side, found] = await tree(catalog, schema, name);
  const right = name ? await oneTable(catalog, schema, name) : schema ? [table(["table", "type", "changed", "~comment"], found.map(each =>
    [link(["tables", catalog, schema, each.name], cut(each.name)), each.table_type.toLowerCase().replaceAll("_", " "), time(each.updated_at), cut(each.comment, 300)]), "The schema has no tables. Run a pipeline, or `lakeward seed CATALOG.SCHEMA.TABLE --from FILE`.")]
    : [plain(catalog ? "Select a schema." : "Select a catalog.")];
  const title = [catalog, schema, name].filter(Boolean).join(".");
  return [el("h1", {}, title ? cut(title, 300) : "Tables"), el("div", { class: "two" }, side, el("div", {}, right))];
}

async function oneTable(catalog, schema, name) {
  const full = [catalog, schema, name], at = full.map(encodeURIComponent).join(".");
  const one = await ask(UC + "tables/" + at), sql = full.map(quoted).join("."), sample = el("div", { "aria-live": "polite" });
  const history = ["MANAGED", "STREAMING_TABLE", "MATERIALIZED_VIEW"].includes(one.table_type) && one.data_source_format === "DELTA" ? await ask("/api/2.0/lakeward/history/" + at) : null;
  const facts = [["Type", one.table_type.toLowerCase().replaceAll("_", " ")], ["Format", one.data_source_format], ["Owner", one.owner], ["Changed", time(one.updated_at)], ["Comment", one.comment], ["Location", one.storage_location]];
  const show = button("Show 100 rows", async () => { sample.replaceChildren(plain("The SQL warehouse runs the query; its first one takes some seconds.")); sample.replaceChildren(...resultTable(await statement(`SELECT * FROM ${sql} LIMIT 100`))); });
  return [el("dl", {}, facts.filter(([, value]) => value).flatMap(([key, value]) => [el("dt", {}, key), el("dd", {}, cut(value, 1000))])),
    el("div", { class: "actions" }, show, link(["sql", `SELECT * FROM ${sql} LIMIT 100`], "Open in the SQL editor")), sample,
    el("h2", {}, (one.columns || []).length + " columns"), table(["column", "type", "nullable", "~comment"], (one.columns || []).map(each => [cut(each.name), cut(each.type_text, 300), each.nullable ? "yes" : "no", cut(each.comment, 600)]), "No columns are known."),
    one.view_definition ? el("h2", {}, "Definition") : null, one.view_definition ? el("pre", { tabindex: "0" }, cutText(one.view_definition, 100000)) : null,
    ...(history ? [el("h2", {}, "History"), table(["#version", "time", "operation", "#rows written", "#files added", "#bytes written"], history.commits.map(historyRow), "No commits."),
      history.omitted ? plain(`The newest ${history.commits.length} of ${number(history.commits.length + history.omitted)} versions. All of them: DESCRIBE HISTORY.`) : null] : []),
    Object.keys(one.properties || {}).length ? el("details", {}, el("summary", {}, "Properties"), table(["property", "~value"], Object.entries(one.properties).map(([key, value]) => [cut(key), cut(value, 1000)]))) : null].filter(Boolean);
}

function historyRow(commit) {
  const { metrics } = commit;
  const rows = metrics.numOutputRows ?? metrics.numTargetRowsInserted ?? metrics.numDeletedRows;
  return [String(commit.version), time(commit.timestamp), cut(commit.operation || "", 80), rows === undefined ? "" : number(rows), metrics.numFiles ?? metrics.numAddedFiles ?? metrics.numTargetFilesAdded ?? "", bytes(metrics.numOutputBytes ?? metrics.numAddedBytes)];
}
