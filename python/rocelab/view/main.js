// @ts-check
// Joins the parts of the page: time, choices, keys.

/** The data of the page, which it holds compressed. @returns {Promise<Data>} */
async function unpack() {
  const text = byId("data", HTMLScriptElement).textContent ?? "";
  const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  // Named here, as type checkers of 2022 do not know it.
  const browser = /** @type {{ DecompressionStream: new (format: string) => any }} */ (
    /** @type {unknown} */ (window)
  );
  const inflate = new browser.DecompressionStream("deflate");
  const stream = new Blob([bytes]).stream().pipeThrough(inflate);
  return JSON.parse(await new Response(stream).text());
}

/** In playback, milliseconds from one text to the next: nobody reads faster. */
const TEXT_MS = 250;

/** @param {Data} data */
function start(data) {
  /** @type {State} */
  const state = {
    position: 0,
    playing: false,
    port: -1,
    flow: -1,
    colour: "utilisation",
    treeOnly: false,
    collapse: data.collapse,
    open: new Set(),
  };
  const steps = data.times.length;
  const canvas = byId("fabric", HTMLCanvasElement);
  const slider = byId("time", HTMLInputElement);
  const clock = byId("clock", HTMLOutputElement);
  const play = byId("play", HTMLButtonElement);
  const speed = byId("speed", HTMLSelectElement);
  const colour = byId("colour", HTMLSelectElement);
  const only = byId("only", HTMLInputElement);
  const collapse = byId("collapse", HTMLInputElement);
  const find = byId("find", HTMLFormElement);
  const wanted = byId("wanted", HTMLInputElement);
  const found = byId("found", HTMLOutputElement);
  const trees = byId("trees", HTMLElement);
  const detail = byId("detail", HTMLElement);
  const passing = byId("passing", HTMLElement);
  const scale = byId("scale", HTMLElement);

  const fabric = new Fabric(data, state, canvas);
  const charts = new Charts(data, go);
  const panel = new Panel(data, state, charts, choose);
  let written = -1;
  let writtenAt = 0;

  slider.max = String(steps - 1);
  collapse.checked = state.collapse;
  const names = byId("names", HTMLDataListElement);
  for (const port of data.ports.keys()) {
    if (port < 2000) names.append(new Option(panel.portName(port)));
  }

  /** Shows the state; texts only if the step is another one, and in playback not all the time. */
  function show() {
    const step = Math.floor(state.position);
    fabric.draw();
    charts.move(state.position);
    const now = performance.now();
    if (step === written || (state.playing && now < writtenAt + TEXT_MS)) return;
    written = step;
    writtenAt = now;
    const time = timeText(data.times[step]);
    const summary = panel.summary(step);
    slider.value = String(step);
    slider.setAttribute("aria-valuetext", `${time}: ${summary}`);
    clock.value = `${time}, step ${step + 1} of ${steps}`;
    canvas.setAttribute("aria-label", `The network at ${time}: ${summary}`);
    trees.replaceChildren(...panel.trees(step));
    passing.replaceChildren(...panel.passing(step));
  }

  /** @param {number} position */
  function go(position) {
    state.position = Math.min(Math.max(position, 0), steps - 1e-6);
    show();
  }

  /** @param {{ port: number } | { flow: number }} choice */
  function choose(choice) {
    state.port = "port" in choice ? choice.port : -1;
    state.flow = "flow" in choice ? choice.flow : -1;
    detail.replaceChildren(...panel.detail());
    passing.replaceChildren(...panel.passing(Math.floor(state.position)));
    show();
  }

  let before = 0;
  /** @param {number} now Milliseconds. */
  function tick(now) {
    if (!state.playing) return;
    const passed = ((now - before) / 1000 / Number(speed.value)) * steps;
    before = now;
    go(state.position + passed);
    if (state.position >= steps - 1e-3) toggle();
    else requestAnimationFrame(tick);
  }

  function toggle() {
    state.playing = !state.playing;
    play.textContent = state.playing ? "Pause" : "Play";
    if (!state.playing) return show();
    if (state.position >= steps - 1) state.position = 0;
    before = performance.now();
    requestAnimationFrame(tick);
  }

  function redraw() {
    fabric.resize();
    show();
  }

  function writeScale() {
    const most = state.colour === "queue" ? sizeText(fabric.longest) : "100 %";
    scale.textContent = `Links: ${state.colour} from 0 to ${most}`;
  }

  slider.addEventListener("input", () => go(Number(slider.value)));
  play.addEventListener("click", toggle);
  colour.addEventListener("change", () => {
    state.colour = colour.value === "queue" ? "queue" : "utilisation";
    writeScale();
    show();
  });
  only.addEventListener("change", () => {
    state.treeOnly = only.checked;
    show();
  });
  collapse.addEventListener("change", () => {
    state.collapse = collapse.checked;
    state.open.clear();
    redraw();
  });
  find.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = wanted.value.trim();
    const port = [...data.ports.keys()].find((one) => {
      const [node, peer] = data.ports[one];
      const short = `${data.nodes[node].name}:${data.nodes[peer].name}`;
      return text === panel.portName(one) || text === short;
    });
    const number = text.replace(/^flow /, "");
    const flow = data.flows.number.findIndex((one) => String(one) === number);
    found.value = "";
    if (port !== undefined) choose({ port });
    else if (flow >= 0) choose({ flow });
    else found.value = `there is no port or flow ${text}`;
  });
  canvas.addEventListener("click", (event) => {
    const hit = fabric.at(event.offsetX, event.offsetY);
    if (!hit) return;
    if ("port" in hit) return choose(hit);
    state.open.add(hit.pod);
    redraw();
  });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: 10, PageDown: -10 }[event.key];
    if (by) go(Math.floor(state.position) + by);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(steps - 1);
    else if (event.key === " ") toggle();
    else return;
    event.preventDefault();
  });
  window.addEventListener("resize", redraw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  writeScale();
  detail.replaceChildren(...panel.detail());
  // It begins with a deadlock, or when most ports are paused; then when a queue is longest.
  const scores = data.times.map((_, step) => {
    const queue = data.queue.reduce((longest, row) => Math.max(longest, row[step]), 0);
    const isDeadlock = data.moments[step].trees.some((tree) => tree.kind === "deadlock");
    const deadlocked = isDeadlock ? data.ports.length : 0;
    return deadlocked + pausedPorts(data, step) + queue / (fabric.longest + 1);
  });
  go(scores.indexOf(Math.max(...scores)));
  document.body.dataset.ready = "yes";
}

unpack().then(start);
