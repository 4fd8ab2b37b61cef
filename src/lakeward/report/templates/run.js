document.title = report.job + ": run report";
at("title").textContent = report.job;
at("summary").append(state(report.state), " after " + seconds(report.seconds) + (report.started ? ", started " + time(report.started) : ""));
at("generated").textContent = "Run " + report.run + ". Report of " + time(report.generated) + " UTC.";
const parameters = Object.entries(report.parameters).map(([name, value]) => name + " = " + value);
if (parameters.length) at("notes").append(make("p", {class: "weak"}, "Parameters: " + short(parameters.join(", "), 1000)));
for (const note of report.notes) at("notes").append(make("p", {class: "error"}, note));

const kind = task => (task.kind || "task").replace(/_task$/, "").replaceAll("_", " ");
const past = new Map((report.before ? report.before.tasks : []).map(task => [task.task_key, task]));

function select(key) {
  const task = report.tasks.find(each => each.task_key === key);
  details(key, make("h3", {}, key), make("p", {}, state(task.state), `, ${kind(task)}` + (task.attempts > 1 ? `, ${task.attempts} attempts` : "") + (task.outcome ? `, outcome ${task.outcome}` : "")),
    task.depends_on.length ? make("p", {}, "after " + task.depends_on.join(", ")) : null,
    task.pipeline ? make("p", {}, "updates the pipeline ", task.link ? make("a", {href: task.link}, task.pipeline) : task.pipeline) : null,
    task.error ? make("pre", {class: "error"}, task.error) : null,
    task.log ? make("h4", {}, task.log_omitted ? `End of the log, ${number(task.log_omitted)} bytes before it are left out` : "Log") : null,
    task.log ? make("pre", {class: "log", tabindex: "0"}, task.log) : null);
}

function tasks() {
  graph(at("graph"), report.tasks.map(task => ({id: task.task_key, label: task.task_key, inputs: task.depends_on, state: task.state,
    lines: [kind(task), task.state.toLowerCase(), [seconds(task.seconds || null), task.attempts > 1 ? task.attempts + " attempts" : ""].filter(Boolean).join(", ")]})), "Graph of tasks", select);
  const whole = Math.max(0.001, report.seconds);
  at("tasks").append(table(["task", "state", "#attempts", "#seconds", "#difference", "when", "message"], report.tasks.map(task => {
    const open = make("button", {class: "name", type: "button"}, task.task_key), old = past.get(task.task_key);
    open.addEventListener("click", () => select(task.task_key));
    const bar = task.began === null || task.began === undefined ? null : make("i", {style: `left:${Math.min(98, 100 * task.began / whole).toFixed(1)}%;width:${Math.min(100, 100 * task.seconds / whole).toFixed(1)}%`});
    const change = old && task.seconds && old.seconds ? task.seconds - old.seconds : null;
    return [open, state(task.state), task.attempts ? number(task.attempts) : "", task.seconds ? task.seconds.toFixed(1) : "", change === null || Math.abs(change) < 0.05 ? "" : (change > 0 ? "+" : "−") + Math.abs(change).toFixed(1),
      bar ? make("span", {class: "time state " + task.state, "aria-hidden": "true"}, bar) : "", short(task.error || "", 300)];
  })));
}

function runs() {
  const ended = [...report.runs].reverse(), longest = Math.max(0.001, ...ended.map(run => run.seconds || 0));
  if (ended.length > 1) at("durations").append(make("div", {class: "chart", role: "img", "aria-label": `Seconds of ${ended.length} runs, the longest ${seconds(longest)}`}, ...ended.map(run => {
    const bar = make("i", {style: `height:${Math.max(2, 54 * (run.seconds || 0) / longest)}px`, title: `${run.started ? time(run.started) : run.run}: ${run.state}, ${seconds(run.seconds)}`});
    if (run.state !== "COMPLETED") bar.append(make("b", {style: "height:100%"}));
    return bar;
  })));
  at("runs").append(table(["started", "state", "#seconds", "#failed tasks", "run"], report.runs.map(run => [run.started ? time(run.started) : "", state(run.state), run.seconds === null ? "" : run.seconds.toFixed(1), number(run.failed), run.run])));
}

tasks(); runs();
