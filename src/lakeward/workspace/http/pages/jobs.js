// Jobs, their runs, and one run with its tasks, logs and notebook output.
import { ask, button, cut, cutText, duration, el, isActive, link, paging, state, stateOf, table, time, took } from "/ui/dom.js";
import { graph } from "/ui/graph.js";
import { taskStreams } from "/ui/streams.js";

const RUN_HEADS = ["run", "state", "started", "by", "#took"];
const runRow = run => [link(["job", run.job_id, "run", run.run_id], cut(run.run_name, 90)), state(stateOf(run)), time(run.start_time),
  (run.trigger || "").toLowerCase().replaceAll("_", " "), took(run.start_time, run.end_time)];

function starts({ schedule, trigger, continuous }) {
  const timer = schedule || trigger || continuous;
  if (!timer) return "";
  const when = schedule ? schedule.quartz_cron_expression + " (" + schedule.timezone_id + ")"
    : trigger ? Object.keys(trigger).filter(name => name !== "pause_status").join(", ").replaceAll("_", " ") : "continuous";
  return when + (timer.pause_status === "PAUSED" ? ", paused" : "");
}

const runNow = id => button("Run now", async () => { const { run_id: run } = await ask("/api/2.2/jobs/run-now", { job_id: Number(id) }); location.hash = `job/${id}/run/${run}`; });

export async function jobs(_, query) {
  const page = query.get("page") || "0";
  const [found, runs] = await Promise.all([ask("/api/2.2/jobs/list?limit=50&page_token=" + page), ask("/api/2.2/jobs/runs/list?limit=25")]);
  const newest = job => runs.runs.filter(run => run.job_id === job.job_id).slice(0, 5).map(run => [link(["job", run.job_id, "run", run.run_id], state(stateOf(run))), " "]);
  return [el("h1", {}, "Jobs"), table(["name", "starts", "newest runs", "owner", "created", "action"], found.jobs.map(job =>
    [link(["job", job.job_id], cut(job.settings.name, 90)), cut(starts(job.settings)), el("span", {}, newest(job)), cut(job.creator_user_name, 60), time(job.created_time), runNow(job.job_id)]),
    "No jobs. Deploy a bundle: `lakeward bundle deploy --local`, or create one with databricks-sdk."), paging("jobs", found, 50)];
}

export async function runs(_, query) {
  const filter = query.get("show") || "all", page = query.get("page") || "0";
  const flag = filter === "active" ? "&active_only=true" : filter === "completed" ? "&completed_only=true" : "";
  const found = await ask("/api/2.2/jobs/runs/list?limit=25&page_token=" + page + flag);
  const choice = name => el("a", { href: "#runs?show=" + name, ...(name === filter ? { "aria-current": "true" } : {}) }, name);
  return [el("h1", {}, "Runs"), el("p", { class: "actions" }, ["all", "active", "completed"].map(choice)), table(RUN_HEADS, found.runs.map(runRow), filter === "all" ? "No runs. Start a job on its page, or with `lakeward bundle run KEY`." : "No " + filter + " runs."),
    paging("runs?show=" + filter, found, 25)];
}

export async function job([id], query) {
  const page = query.get("page") || "0";
  const [one, found] = await Promise.all([ask("/api/2.2/jobs/get?job_id=" + encodeURIComponent(id)), ask(`/api/2.2/jobs/runs/list?limit=25&job_id=${encodeURIComponent(id)}&page_token=${page}`)]);
  const tasks = one.settings.tasks || [], timer = starts(one.settings);
  return [el("h1", {}, cut(one.settings.name, 300)), el("div", { class: "actions" }, runNow(id)),
    timer ? el("p", { class: "dim" }, "Starts: ", cut(timer)) : null,
    graph(tasks.map(task => ({ id: task.task_key, label: task.task_key, inputs: (task.depends_on || []).map(edge => edge.task_key), lines: [kindOf(task)] })), "Tasks of the job"),
    el("h2", {}, "Runs"), durations(found.runs), table(RUN_HEADS, found.runs.map(runRow), "The job has not run."), paging("job/" + id, found, 25),
    el("details", {}, el("summary", {}, "Settings"), el("pre", { tabindex: "0" }, cutText(JSON.stringify(one.settings, null, 2), 100000)))];
}

// The newest runs as bars, oldest first; failed ones are red.
function durations(found) {
  const ended = found.filter(run => run.end_time).reverse();
  if (ended.length < 2) return null;
  const longest = Math.max(...ended.map(run => run.end_time - run.start_time), 1);
  return el("div", { class: "chart", role: "img", "aria-label": `Durations of ${ended.length} runs, the longest ${duration(longest / 1000)}` }, ended.map(run => {
    const height = Math.max(3, 56 * (run.end_time - run.start_time) / longest) + "px", bad = stateOf(run) !== "SUCCESS";
    return el("i", { style: { height }, title: `${time(run.start_time)}: ${stateOf(run)}, ${took(run.start_time, run.end_time)}` }, bad ? el("b", { style: { height: "100%" } }) : null);
  }));
}

const KINDS = ["notebook_task", "spark_python_task", "python_wheel_task", "pipeline_task", "sql_task", "run_job_task", "condition_task", "for_each_task", "dbt_task"];
const kindName = task => KINDS.find(kind => task[kind]);
function kindOf(task) {
  const kind = kindName(task), value = task[kind] || {};
  const what = value.notebook_path || value.python_file || value.entry_point || (value.file || {}).path || (kind === "condition_task" ? `${value.left} ${value.op} ${value.right}` : "");
  return [(kind || "task").replace(/_task$/, "").replaceAll("_", " "), String(what || "").split("/").pop()].filter(Boolean).join(": ");
}

export async function run([, , id, taskId]) {
  const one = await ask("/api/2.2/jobs/runs/get?include_history=true&run_id=" + encodeURIComponent(id));
  const first = (...states) => one.tasks.find(task => states.includes(stateOf(task)));
  // Without a choice: the task that people look for.
  const shown = one.tasks.find(task => String(task.run_id) === taskId) || first("FAILED", "TIMEDOUT") || first("RUNNING") || one.tasks[0];
  const to = task => "#" + ["job", one.job_id, "run", one.run_id, task.run_id].join("/");
  const nodes = one.tasks.map(task => ({ id: task.task_key, label: task.task_key, inputs: (task.depends_on || []).map(edge => edge.task_key), state: stateOf(task),
    lines: [kindOf(task), [stateOf(task).toLowerCase().replaceAll("_", " "), took(task.start_time, task.end_time)].filter(Boolean).join(", ")], href: to(task), current: task === shown }));
  const rows = one.tasks.map(task => [el("a", { href: to(task), ...(task === shown ? { "aria-current": "true" } : {}) }, cut(task.task_key)), state(stateOf(task)),
    String((task.attempt_number || 0) + 1), took(task.start_time, task.end_time), timeline(one, task), cut(task.state.state_message, 200)]);
  const failed = !isActive(one) && stateOf(one) !== "SUCCESS";
  const actions = [isActive(one) ? button("Cancel", () => ask("/api/2.2/jobs/runs/cancel", { run_id: one.run_id })) : null,
    failed ? button("Repair: run failed tasks again", () => ask("/api/2.2/jobs/runs/repair", { run_id: one.run_id, rerun_all_failed_tasks: true, latest_repair_id: ((one.repair_history || []).at(-1) || {}).id })) : null,
    !isActive(one) && one.job_id ? runNow(one.job_id) : null];
  const parameters = (one.job_parameters || []).map(each => `${each.name} = ${each.value ?? each.default ?? ""}`).join(", ");
  return [el("h1", {}, one.job_id ? link(["job", one.job_id], cut(one.run_name, 300)) : cut(one.run_name, 300), " ", state(stateOf(one))),
    el("p", { class: "dim" }, `Run ${one.run_id}, ${time(one.start_time)}, ${took(one.start_time, one.end_time)}, by ${one.creator_user_name}`),
    one.state.state_message ? el("p", { class: failed ? "bad" : "dim" }, cut(one.state.state_message, 2000)) : null,
    parameters ? el("p", { class: "dim" }, "Parameters: ", cut(parameters, 400)) : null,
    el("div", { class: "actions" }, actions), graph(nodes, "Tasks of the run"), el("h2", {}, "Tasks"),
    table(["task", "state", "#attempt", "#took", "when", "~message"], rows), ...(shown ? await taskParts(shown) : [])];
}

function timeline(one, task) {
  const end = one.end_time || Date.now(), whole = Math.max(1, end - one.start_time);
  if (!task.start_time) return "";
  const left = 100 * Math.max(0, task.start_time - one.start_time) / whole, width = 100 * ((task.end_time || end) - task.start_time) / whole;
  return el("span", { class: "time state " + stateOf(task), "aria-hidden": "true" }, el("i", { style: { left: left.toFixed(1) + "%", width: Math.min(100 - left, width).toFixed(1) + "%" } }));
}

async function taskParts(task) {
  const parts = [el("h2", {}, "Task ", cut(task.task_key))], kind = kindName(task);
  if (kind === "pipeline_task") parts.push(el("p", {}, link(["pipeline", task.pipeline_task.pipeline_id], "Pipeline of this task: graph, quality and events")));
  if (kind === "run_job_task") parts.push(el("p", {}, link(["job", task.run_job_task.job_id], "Job of this task")));
  if (["notebook_task", "spark_python_task", "python_wheel_task", "sql_task"].includes(kind) && task.start_time) parts.push(...await taskStreams(task));
  if (kind === "notebook_task" && !isActive(task)) parts.push(...await notebook(task));
  parts.push(...await log(task.run_id, task.task_key));
  return parts;
}

const pagesOfNotebooks = new Map();
async function notebook(task) {
  if (!pagesOfNotebooks.has(task.run_id)) {
    try { pagesOfNotebooks.set(task.run_id, (await ask("/api/2.2/jobs/runs/export?run_id=" + task.run_id)).views[0]); } catch { return []; }
  }
  const { content, name } = pagesOfNotebooks.get(task.run_id);
  const save = () => { const to = URL.createObjectURL(new Blob([content], { type: "text/html" })); el("a", { href: to, download: name + ".html" }).click(); setTimeout(() => URL.revokeObjectURL(to), 1000); };
  // The frame runs no scripts and has no origin: the notebook's HTML cannot use this page's token.
  return [el("h2", {}, "Output of the notebook"), el("iframe", { id: "notebook" + task.run_id, sandbox: "", title: "Output of the notebook " + name, srcdoc: content }),
    el("div", { class: "actions" }, el("button", { type: "button", onclick: save }, "Download HTML"))];
}

let logText = { id: null };
async function log(id, name) {
  if (logText.id !== id) logText = { id, text: "", offset: 0, active: true, trace: "" };
  const mine = logText;
  for (let more = true; more;) {
    const part = await ask("/api/2.0/lakeward/logs?run_id=" + id + "&offset=" + mine.offset);
    more = part.next_offset > mine.offset;
    mine.text = (mine.text + part.text).slice(-500000); mine.offset = part.next_offset; mine.active = part.active; mine.trace = part.trace;
  }
  return [...(mine.trace ? [el("h2", {}, "Where it failed"), el("pre", { tabindex: "0", "aria-label": "Where it failed" }, mine.trace)] : []),
    el("h2", {}, "Log of ", cut(name)), el("pre", { id: "log", tabindex: "0", "aria-label": "Log" }, mine.text || (mine.active ? "Nothing was printed yet." : "Nothing was printed."))];
}
