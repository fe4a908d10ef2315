// @ts-check
// What the page is given, and what its parts share. Python writes it: data.py.

/**
 * @typedef {{ name: string, tier: number, pod: number, place: number }} FabricNode
 * A pod of -1: of no pod, a switch of the top tier. Nodes of a tier are ordered by place.
 *
 * @typedef {[node: number, peer: number, back: number, rateBps: number, number: number]} PortRow
 * Nodes and ports are indices; `back` is the port at the other end.
 *
 * @typedef {{
 *   kind: "root" | "draining" | "stalled" | "deadlock",
 *   root: number[],
 *   paused: number[][],
 *   victims: number[],
 *   count: number,
 * }} Tree
 * Each of `paused` is a port and what it waits for. `count` is that of all victims.
 *
 * @typedef {{ trees: Tree[], unexplained: number[] }} Moment
 *
 * @typedef {{
 *   kind: "down" | "impaired" | "receiver", text: string, begin: number, end: number | null,
 *   ports: number[], node: number,
 * }} Fault
 * A link that is down, or slow or lossy, with its ports, or a host that takes data slowly, with
 * those that send to it; the node is -1 for a link. Without an end it lasts.
 *
 * @typedef {{
 *   tags: string[], number: number[], tag: number[], src: number[], dst: number[], size: number[],
 *   start: (number | null)[], end: (number | null)[], slowdown: (number | null)[], path: number[][],
 * }} Flows
 * Columns; times in microseconds, sizes in bytes. A flow that has not begun has no start.
 *
 * @typedef {{
 *   nodes: FabricNode[], ports: PortRow[], times: number[], step: number,
 *   queue: number[][], utilisation: number[][], paused: number[][],
 *   moments: Moment[], faults: Fault[], flows: Flows,
 *   rates: Record<string, (number | null)[]>, windows: Record<string, (number | null)[]>,
 *   collapse: boolean,
 * }} Data
 * Times are ends of steps. Queues (bytes), utilisation and paused time (per cent) are by port and
 * then step. A list of rates or windows begins with the step of its first value.
 *
 * @typedef {{
 *   position: number, playing: boolean, port: number, flow: number,
 *   colour: "utilisation" | "queue", treeOnly: boolean, collapse: boolean, open: Set<number>,
 * }} State
 * The position is a step and the part of it that has passed; port and flow are indices or -1;
 * `open` has the pods that are drawn whole though pods are collapsed.
 */

/**
 * The faults of any part of a step.
 * @param {Data} data
 * @param {number} step
 */
function faultsIn(data, step) {
  const [begin, end] = [data.times[step] - data.step, data.times[step]];
  return data.faults.filter((one) => one.begin < end && (one.end === null || one.end > begin));
}

/**
 * Whether the link of a port is down in any part of a step.
 * @param {Data} data
 * @param {number} step
 * @param {number} port
 */
function isDown(data, step, port) {
  return faultsIn(data, step).some(({ kind, ports }) => kind === "down" && ports.includes(port));
}

/**
 * An element of the page, which must be there.
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
function byId(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`no element ${id}`);
  return found;
}

/**
 * A new element with text and children.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {(string | Node)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
function make(tag, ...children) {
  const made = document.createElement(tag);
  made.append(...children);
  return made;
}

/**
 * A number with a unit that suits it.
 * @param {number} value
 * @param {[number, string][]} units The largest first.
 */
function scaled(value, units) {
  const last = units[units.length - 1];
  const [factor, unit] = units.find(([least]) => Math.abs(value) >= least) ?? last;
  return `${Number((value / factor).toPrecision(4))} ${unit}`;
}

/** @param {number} bytes */
function sizeText(bytes) {
  return scaled(bytes, [[1e9, "GB"], [1e6, "MB"], [1e3, "KB"], [1, "B"]]);
}

/** @param {number} bps */
function rateText(bps) {
  return scaled(bps, [[1e9, "Gb/s"], [1e6, "Mb/s"], [1e3, "kb/s"], [1, "b/s"]]);
}

/** @param {number} us Microseconds. */
function timeText(us) {
  return scaled(us, [[1e6, "s"], [1e3, "ms"], [1, "µs"]]);
}
