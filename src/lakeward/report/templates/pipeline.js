const latest = report.updates[0] || {id: "", state: "UNREADABLE", seconds: null, started: "", cause: "", datasets: {}}, before = report.updates.find((u, i) => i > 0 && u.state === "COMPLETED");
document.title = report.pipeline + ": pipeline report";
at("title").textContent = report.pipeline;
at("summary").append(state(latest.state), " after " + seconds(latest.seconds) + ", started " + time(latest.started) + " (" + (latest.cause || "unknown cause") + ")");
at("generated").textContent = "Update " + latest.id + ". Report of " + time(report.generated) + " UTC.";
for (const note of report.notes) at("notes").append(make("p", {class: "error"}, note));
if (latest.state === "UNFINISHED") at("notes").append(make("p", {class: "error"}, "The latest update has not ended: it is running, or its process was killed."));
if (latest.error) at("notes").append(make("pre", {class: "error"}, latest.error));

function datasetGraph() {
  if (!report.datasets.length) { at("graph").replaceWith(make("p", {class: "weak"}, "No update has defined datasets.")); return; }
  graph(at("graph"), report.datasets.map(d => {
    const result = latest.datasets[d.name] || {};
    const facts = [result.rows === null || result.rows === undefined ? null : number(result.rows) + " rows", seconds(result.seconds) || null].filter(Boolean).join(", ");
    return {id: d.name, label: d.name.split(".").pop(), inputs: d.flows.flatMap(f => f.inputs), state: result.state,
      lines: [d.kind.replace("_", " ") + (result.state ? ", " + result.state.toLowerCase() : d.kind === "view" ? "" : ", not run"), facts, result.technique]};
  }), "Graph of datasets", select);
}

function select(name) {
  const dataset = report.datasets.find(d => d.name === name), result = latest.datasets[name] || {}, parts = [make("h3", {}, name)];
  if (result.state) parts.push(make("p", {}, state(result.state), result.technique ? ", refreshed as " + result.technique : ""));
  if (result.error) parts.push(make("pre", {class: "error"}, result.error));
  if (dataset) {
    if (dataset.tags) parts.push(make("p", {}, "Tags: " + dataset.tags));
    parts.push(make("h4", {}, dataset.schema.length + " columns"));
    parts.push(make("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": "Columns"}, columns(dataset)));
    if (dataset.sample) parts.push(...sample(dataset.sample));
    for (const flow of dataset.flows) {
      parts.push(make("h4", {}, "Flow " + flow.name));
      parts.push(make("p", {}, flow.type.toLowerCase() + (flow.inputs.length ? ", reads " + flow.inputs.join(", ") : "")));
      if (flow.plan) parts.push(make("details", {}, make("summary", {}, "Plan"), make("pre", {}, flow.plan)));
    }
  }
  details(name, ...parts);
}

// The columns that each column is computed from, and those that are computed from it.
function columns(dataset) {
  const sources = d => d.flows.flatMap(({lineage}) => lineage ? Object.entries(lineage.columns).flatMap(([column, from]) => from.map(([table, source]) => ({column, table: lineage.tables[table], source}))) : []);
  const same = (one, other) => one.toLowerCase() === other.toLowerCase(), names = found => [...new Set(found)].join(", ");
  const last = name => name.split(".").pop(), own = sources(dataset), uses = report.datasets.flatMap(d => sources(d).filter(s => same(s.table, dataset.name)).map(s => ({...s, dataset: d.name})));
  const rows = dataset.schema.map(c => [c.name, c.type, names(own.filter(s => same(s.column, c.name)).map(s => last(s.table) + "." + s.source)), names(uses.filter(s => same(s.source, c.name)).map(s => last(s.dataset) + "." + s.column)), c.tags || "", c.comment || ""]);
  return table(["column", "type", "computed from", "used for", "tags", "comment"], rows);
}

function sample({note, columns, rows, hidden}) {
  if (note) return [make("h4", {}, "Sample rows"), make("p", {class: "weak"}, note)];
  const cell = (value, column) => Object.hasOwn(hidden, column) ? make("span", {class: "weak"}, hidden[column]) : value === null ? make("span", {class: "weak"}, "null") : value;
  return [make("h4", {}, rows.length ? "Sample rows" : "The table has no rows"),
    rows.length ? make("div", {class: "scroll", tabindex: "0", role: "group", "aria-label": "Sample rows"}, table(columns, rows.map(row => row.map((value, i) => cell(value, columns[i]))), true)) : null];
}

function difference(now, then) {
  if (then === null || then === undefined || now === null || now === undefined || now === then) return "";
  return (now > then ? "+" : "−") + number(Math.abs(now - then));
}

function datasets() {
  const longest = Math.max(0.001, ...Object.values(latest.datasets).map(r => r.seconds || 0));
  const rows = Object.entries(latest.datasets).map(([name, r]) => {
    const open = make("button", {class: "name", type: "button"}, name);
    open.addEventListener("click", () => select(name));
    const old = before && before.datasets[name] || {};
    const failed = (r.expectations || []).reduce((sum, e) => sum + (e.failed || 0), 0);
    const bar = r.seconds ? make("span", {class: "bar", style: `width:${Math.max(2, 60 * r.seconds / longest)}px`, "aria-hidden": "true"}) : null;
    return [open, state(r.state), number(r.rows), difference(r.rows, old.rows), r.expectations ? number(failed) : "", number(r.dropped), make("span", {}, seconds(r.seconds) + " ", bar), r.technique || ""];
  });
  at("datasets").append(rows.length ? table(["dataset", "state", "#rows written", "#difference", "#failed records", "#dropped", "time", "refresh"], rows) : make("p", {class: "weak"}, "No dataset was refreshed."));
}

function quality() {
  if (!report.quality.length) { at("quality-section").hidden = true; return; }
  for (const {dataset, name, points: found} of report.quality) {
    const points = found.map(([index, passed, failed]) => ({time: report.updates[index].started, passed, failed}));
    const top = Math.max(1, ...points.map(p => p.passed + p.failed)), last = points[points.length - 1];
    const text = `${number(last.passed)} passed, ${number(last.failed)} failed in the latest update that checked it`;
    const chart = make("div", {class: "chart", role: "img", "aria-label": `${name} of ${dataset}: ${text}`},
      ...points.map(p => make("i", {style: `height:${Math.max(2, 54 * (p.passed + p.failed) / top)}px`, title: `${time(p.time)}: ${number(p.passed)} passed, ${number(p.failed)} failed`},
        p.failed ? make("b", {style: `height:${Math.max(3, 100 * p.failed / (p.passed + p.failed))}%`}) : null)));
    at("quality").append(make("p", {}, make("strong", {}, name), " of " + dataset + ": ", make("span", {class: "weak"}, text)), chart);
  }
}

function operators() {
  if (!(report.operators || []).length) { at("operators-section").hidden = true; return; }
  const longest = report.operators[0].milliseconds;
  at("operators").append(table(["dataset", "operators", "task time", "#queries", "#rows", "#read", "#shuffled", "#spilled"], report.operators.map(o =>
    [o.dataset.split(".").pop(), o.operator, make("span", {}, seconds(o.milliseconds / 1000) + " ", make("span", {class: "bar", style: `width:${Math.max(2, 60 * o.milliseconds / longest)}px`, "aria-hidden": "true"})), number(o.queries), number(o.rows), bytes(o.read_bytes), bytes(o.shuffled_bytes), bytes(o.spilled_bytes)])));
}

function streams() {
  if (!(report.streams || []).length) { at("streams-section").hidden = true; return; }
  const rate = value => value === null ? "" : number(Math.round(value * 10) / 10);
  at("streams").append(table(["flow", "#batches", "#rows", "#seconds", "#longest", "#input rows/s", "#processed rows/s", "#backlog files", "#state rows", "#late rows", "watermark"], report.streams.map(s => {
    const last = s.batches[s.batches.length - 1], sum = name => s.batches.reduce((total, b) => total + (b[name] || 0), 0);
    return [s.flow.split(".").pop(), number(s.batches.length), number(sum("rows")), sum("seconds").toFixed(1), Math.max(...s.batches.map(b => b.seconds || 0)).toFixed(1), rate(last.input_rate), rate(last.processing_rate),
      number(last.backlog_files), number(last.state_rows), last.late_rows === null ? "" : number(sum("late_rows")), last.watermark ? time(last.watermark) + (last.watermark_lag === null ? "" : ", " + seconds(last.watermark_lag) + " behind") : ""];
  })));
}

function updates() {
  at("updates").append(table(["started", "state", "#seconds", "cause", "#rows written", "#failed datasets", "update"], report.updates.map(u =>
    [time(u.started), state(u.state), u.seconds === null ? "" : u.seconds.toFixed(1), u.cause, number(u.rows), number(u.failed), u.id.slice(0, 8)])));
}

function events() {
  at("events-count").textContent = number(report.events.length + report.omitted_events) + " events" + (report.omitted_events ? `, the first ${number(report.events.length)} are shown` : "");
  const begun = Date.parse(report.events[0] && report.events[0].time);
  at("events").append(table(["#second", "level", "type", "message"], report.events.map(e => [((Date.parse(e.time) - begun) / 1000).toFixed(1), e.level, e.type, e.message])));
}

datasetGraph(); datasets(); operators(); streams(); quality(); updates(); events();
// An address that ends with # and the name of a dataset shows that dataset.
try { const wanted = decodeURIComponent(location.hash.slice(1)); if (report.datasets.some(d => d.name === wanted)) select(wanted); } catch { /* no name */ }
