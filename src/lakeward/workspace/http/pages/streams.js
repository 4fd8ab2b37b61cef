// Streaming queries: the last micro-batch of each, and the durations of those before.
import { ask, button, bytes, cut, duration, el, number, plain, state, table, time } from "/ui/dom.js";

const shortName = name => name.split(".").pop();
const rate = value => value === null || value === undefined ? "" : Number(value).toLocaleString("en", { maximumFractionDigits: value < 10 ? 1 : 0 });
const NOTHING = { batch: null, rows: null, input_rate: null, processing_rate: null, backlog_files: null, backlog_bytes: null, state_rows: null, late_rows: null, watermark: null, watermark_lag: null, seconds: null };

function figures(batches) {
  const last = batches[batches.length - 1] || NOTHING, top = Math.max(0.001, ...batches.map(batch => batch.seconds || 0));
  const bars = batches.slice(-20).map(batch => el("i", { style: { height: Math.max(2, 40 * (batch.seconds || 0) / top) + "px" }, title: `Batch ${batch.batch}: ${number(batch.rows)} rows in ${duration(batch.seconds)}` }));
  const chart = batches.length ? el("div", { class: "chart small", style: { height: "44px" }, role: "img", "aria-label": `Durations of ${batches.length} micro-batches, the last ${duration(last.seconds)}` }, bars) : "";
  return [chart, number(last.batch), number(last.rows), rate(last.input_rate), rate(last.processing_rate), [last.backlog_files === null ? null : number(last.backlog_files) + " files", last.backlog_bytes === null ? null : bytes(last.backlog_bytes)].filter(Boolean).join(", "),
    number(last.state_rows), last.late_rows ? number(last.late_rows) : last.state_rows === null ? "" : "0", last.watermark ? time(last.watermark) : "", last.watermark_lag === null ? "" : duration(last.watermark_lag)];
}
const HEADS = ["batch durations", "#batch", "#rows", "#input/s", "#processed/s", "#backlog", "#state rows", "#late rows", "watermark", "#lag"];
const EXPLANATION = "The last micro-batch of each query: rows a second, backlog of the source, rows of state, and how far the watermark is behind. Bars are the durations of the batches.";

export function streamTable(found) {
  if (!found.length) return [];
  return [el("h2", {}, "Streaming queries"), plain(EXPLANATION), table(["flow", ...HEADS], found.map(each => [cut(shortName(each.flow)), ...figures(each.batches)]))];
}

// The queries that a task has started, `display` of streams included, with actions while it runs.
export async function taskStreams(task) {
  const { active, streams } = await ask("/api/2.0/lakeward/streams?run_id=" + task.run_id);
  if (!streams.length) return [];
  const change = (query, action) => () => ask("/api/2.0/lakeward/streams", { run_id: String(task.run_id), query, action });
  const actions = (each, i) => {
    const again = each.state === "RUNNING" ? "Restart" : "Start again";
    return el("span", { style: { whiteSpace: "nowrap" } }, each.state === "RUNNING" ? [button("Stop", change(i, "stop"), { "aria-label": "Stop " + each.name }), " "] : null,
      button(again, change(i, "restart"), { "aria-label": again + " " + each.name }));
  };
  return [el("h2", {}, "Streaming queries"), plain(EXPLANATION),
    table(["query", "state", ...(active ? ["action"] : []), ...HEADS], streams.map((each, i) => [cut(each.name), state(active || each.state !== "RUNNING" ? each.state : "STOPPED"), ...(active ? [actions(each, i)] : []), ...figures(each.batches)])),
    ...streams.filter(each => each.error).map(each => el("pre", { class: "bad", tabindex: "0", "aria-label": "Error of " + each.name }, each.error))];
}
