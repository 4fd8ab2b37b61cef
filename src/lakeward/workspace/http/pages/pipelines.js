// Pipelines: graph, quality, streams, updates and events, from the same document as `lakeward report`.
import { ask, button, cut, cutText, duration, el, link, number, paging, state, table, time } from "/ui/dom.js";
import { graph } from "/ui/graph.js";
import { streamTable } from "/ui/streams.js";

export async function pipelines(_, query) {
  const page = query.get("page") || "0";
  const [found, local] = await Promise.all([ask("/api/2.0/pipelines?max_results=50&page_token=" + page), ask("/api/2.0/lakeward/pipelines")]);
  const rows = found.statuses.map(each => {
    const newest = each.latest_updates[0];
    return [link(["pipeline", each.pipeline_id], cut(each.name, 90)), state(newest ? newest.state : each.state), newest ? time(newest.creation_time) : "",
      cut(each.creator_user_name, 60), button("Start update", () => start(each.pipeline_id))];
  });
  return [el("h1", {}, "Pipelines"), table(["name", "state", "newest update", "owner", "action"], rows, "No pipelines. Deploy a bundle: `lakeward bundle deploy --local`."), paging("pipelines", found, 50),
    ...(local.pipelines.length ? [el("h2", {}, "Run by `lakeward run`, not deployed here"), table(["name", "newest event"], local.pipelines.map(each => [link(["pipeline", "local:" + each.name], cut(each.name, 90)), time(each.changed)]))] : [])];
}

const start = id => ask(`/api/2.0/pipelines/${encodeURIComponent(id)}/updates`, {});
const ENDED = ["COMPLETED", "FAILED", "CANCELED"];

export async function pipeline([id, updateId], query) {
  const local = id.startsWith("local:"), at = "/api/2.0/pipelines/" + encodeURIComponent(id);
  const [one, updates, events, report] = await Promise.all([
    local ? { name: id.slice(6) } : ask(at), local ? { updates: [] } : ask(at + "/updates?max_results=25"),
    local ? { events: [] } : ask(at + "/events?max_results=100" + (query.get("page") ? "&page_token=" + query.get("page") : "")),
    ask("/api/2.0/lakeward/report/" + encodeURIComponent(local ? id.slice(6) : id))]);
  const newest = updates.updates[0], active = newest && !ENDED.includes(newest.state), past = report.updates || [];
  const shown = past.find(each => each.id === updateId) || past[0];
  const results = shown ? shown.datasets : {};
  const heading = active ? newest.state : shown ? shown.state : newest ? newest.state : null;
  const actions = local ? [] : [button("Start update", () => start(id), { disabled: active }),
    button("Full refresh", () => ask(at + "/updates", { full_refresh: true }), { disabled: active }), active ? button("Stop", () => ask(at + "/stop", {})) : null];
  return [el("h1", {}, cut(one.name, 300), " ", heading ? state(heading) : null), el("div", { class: "actions" }, actions),
    shown && shown.error ? el("pre", { class: "bad", tabindex: "0" }, shown.error) : null, ...(report.notes || []).map(note => el("p", { class: "bad" }, note)),
    datasetGraph(report.datasets || [], results), el("h2", {}, shown && updateId ? "Datasets of the update of " + time(shown.started) : "Datasets of the newest update"),
    table(["dataset", "kind", "state", "#rows", "#failed records", "#dropped", "#took", "refresh", "~error"], datasetRows(report.datasets || [], results), "No dataset was refreshed."),
    ...streamTable(report.streams || []), ...quality(past), el("h2", {}, "Updates"), table(["started", "state", "#took", "cause", "#rows", "update"], past.map(each => updateRow(id, each, shown))),
    el("h2", {}, "Events"), eventTable(local ? report.events || [] : events.events, local), local ? null : paging("pipeline/" + id, events, 100)];
}

const shortName = name => name.split(".").pop();
const tableLink = name => name.split(".").length === 3 ? link(["tables", ...name.split(".")], cut(name)) : cut(name);

function datasetGraph(datasets, results) {
  return graph(datasets.map(each => {
    const result = results[each.name] || {};
    const facts = [result.rows === null || result.rows === undefined ? null : number(result.rows) + " rows", duration(result.seconds)].filter(Boolean).join(", ");
    const parts = each.name.split(".");
    return { id: each.name, label: shortName(each.name), inputs: each.flows.flatMap(flow => flow.inputs), state: result.state, href: parts.length === 3 && each.kind !== "view" ? "#tables/" + parts.map(encodeURIComponent).join("/") : null,
      lines: [each.kind.replaceAll("_", " ") + (result.state ? ", " + result.state.toLowerCase() : ""), facts] };
  }), "Datasets of the pipeline");
}

function datasetRows(datasets, results) {
  const kinds = new Map(datasets.map(each => [each.name, each.kind]));
  return Object.entries(results).map(([name, each]) => [tableLink(name), (kinds.get(name) || "").replaceAll("_", " "), state(each.state), number(each.rows),
    each.expectations ? number(each.expectations.reduce((sum, rule) => sum + (rule.failed || 0), 0)) : "", number(each.dropped), duration(each.seconds), (each.technique || "").toLowerCase().replaceAll("_", " "), cut(each.error, 600)]);
}

const updateRow = (id, each, shown) => [link(["pipeline", id, each.id], time(each.started), each === shown ? { "aria-current": "true" } : {}), state(each.state), duration(each.seconds),
  (each.cause || "").toLowerCase().replaceAll("_", " "), number(Object.values(each.datasets).reduce((sum, result) => sum + (result.rows || 0), 0)), each.id.slice(0, 8)];

function eventTable(events, local) {
  return table(["time", "level", "event", "~message"], events.map(each => local ? [time(each.time), each.level, each.type, cut(each.message, 600)]
    : [time(each.timestamp), each.level, each.event_type, cut(each.message + (each.error ? " " + each.error.exceptions[0].message : ""), 600)]), "No events.");
}

// Expectations over the updates, one chart each; failed records are red.
function quality(updates) {
  const series = new Map();
  for (const update of [...updates].reverse()) for (const [dataset, result] of Object.entries(update.datasets)) for (const rule of result.expectations || []) {
    const key = JSON.stringify([dataset, rule.name]);
    if (!series.has(key)) series.set(key, { dataset, name: rule.name, points: [] });
    series.get(key).points.push({ at: update.started, passed: rule.passed || 0, failed: rule.failed || 0 });
  }
  if (!series.size) return [];
  return [el("h2", {}, "Quality"), table(["expectation", "dataset", "#passed", "#failed", "updates"], [...series.values()].map(({ dataset, name, points }) => {
    const last = points[points.length - 1], top = Math.max(1, ...points.map(each => each.passed + each.failed));
    const bars = points.map(each => el("i", { style: { height: Math.max(2, 40 * (each.passed + each.failed) / top) + "px" }, title: `${time(each.at)}: ${number(each.passed)} passed, ${number(each.failed)} failed` },
      each.failed ? el("b", { style: { height: Math.max(4, 100 * each.failed / (each.passed + each.failed)) + "%" } }) : null));
    const label = `${cutText(name, 80)}: ${number(last.passed)} passed and ${number(last.failed)} failed in the newest of ${points.length} updates`;
    return [cut(name), cut(dataset), number(last.passed), number(last.failed), el("div", { class: "chart", style: { height: "44px" }, role: "img", "aria-label": label }, bars)];
  }))];
}
