// @ts-check
// Draws the network at a moment on a canvas.

const SHADES = 100;

/** The colours of the style sheet. */
class Palette {
  constructor() {
    const style = getComputedStyle(document.body);
    /** @param {string} name */
    const read = (name) => style.getPropertyValue(name).trim();
    this.text = read("--text");
    this.soft = read("--soft");
    this.back = read("--back");
    this.block = read("--block");
    this.line = read("--line");
    this.paused = read("--paused");
    this.root = read("--root");
    this.queue = read("--queue");
    this.select = read("--select");
    const stops = [read("--idle"), read("--half"), read("--busy")].map(channels);
    /** Colours of links from idle to busy. */
    this.shades = Array.from({ length: SHADES + 1 }, (_, at) => mixed(stops, at / SHADES));
  }
}

/**
 * Red, green and blue of a colour such as #08306b.
 * @param {string} colour
 */
function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/**
 * A colour on the way between three.
 * @param {number[][]} stops
 * @param {number} at From 0 to 1.
 */
function mixed(stops, at) {
  const [from, to] = at < 0.5 ? [stops[0], stops[1]] : [stops[1], stops[2]];
  const part = at < 0.5 ? at * 2 : at * 2 - 1;
  return `rgb(${from.map((one, index) => Math.round(one + (to[index] - one) * part)).join(",")})`;
}

/**
 * @typedef {{ nodes: number[], isHosts: boolean, size: number,
 *   label: ((name: string) => string) | null }} Tier
 * The nodes of a tier that are shown, their size in pixels, and what of their names has room.
 */

const NAME_FONT = "11px system-ui, sans-serif";

/** @param {string} name */
const whole = (name) => name;
/**
 * Without the plane or the data centre.
 * @param {string} name
 */
const lastPart = (name) => name.slice(name.lastIndexOf("/") + 1);

/** The canvas with the network. */
class Fabric {
  /**
   * @param {Data} data
   * @param {State} state
   * @param {HTMLCanvasElement} canvas
   */
  constructor(data, state, canvas) {
    this.data = data;
    this.state = state;
    this.canvas = canvas;
    const context = canvas.getContext("2d");
    if (!context) throw new Error("the browser has no canvas");
    this.context = context;
    this.longest = data.queue.reduce((most, row) => Math.max(most, ...row), 1);
    this.palette = new Palette();
    /** @type {Layout} */
    this.layout = { x: [], y: [], shown: [], halves: [], boxes: [] };
    /** @type {Tier[]} */
    this.tiers = [];
    this.drawn = 0;
    this.width = this.height = this.hostRoom = 0;
    this.resize();
  }

  /** Takes new colours and the size of the page. */
  resize() {
    const { canvas, data } = this;
    const hosts = data.nodes.filter((node) => node.tier === 0).length;
    const room = canvas.parentElement?.clientWidth ?? 800;
    const pods = new Set(data.nodes.map((node) => node.pod)).size;
    const least = this.state.collapse ? 76 * (pods - 1) : 2.2 * hosts;
    const width = Math.max(room, Math.min(least, 8000));
    const height = room < 600 ? 320 : 400;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.width = width;
    this.height = height;
    /** Pixels from one host to the next. */
    this.hostRoom = width / hosts;
    this.palette = new Palette();
    /** @param {number} pod */
    const isCollapsed = (pod) => this.state.collapse && !this.state.open.has(pod);
    this.layout = layOut(data, isCollapsed, width, height);
    this.tiers = this.#measureTiers();
  }

  /** @returns {Tier[]} */
  #measureTiers() {
    const { context, data, layout } = this;
    context.font = NAME_FONT;
    const tiers = groupBy(data.nodes.keys(), (node) => data.nodes[node].tier);
    return [...tiers].map(([tier, all]) => {
      const isHosts = tier === 0;
      const nodes = all.filter((node) => layout.shown[node]);
      const room = this.width / (nodes.length || 1);
      const size = isHosts ? Math.min(6, Math.max(2, room * 0.6)) : Math.min(10, room * 0.6);
      const places = nodes.map((node) => layout.x[node]).sort((a, b) => a - b);
      const gaps = places.slice(1).map((x, before) => x - places[before]);
      const gap = Math.min(this.width, ...gaps);
      /** @param {(name: string) => string} label */
      const fits = (label) => {
        const widest = most(nodes, (node) => context.measureText(label(data.nodes[node].name)).width);
        return gap >= widest + 4;
      };
      return { nodes, isHosts, size, label: [whole, lastPart].find(fits) ?? null };
    });
  }

  /** Draws the moment of the state. */
  draw() {
    const { context, data, layout, state } = this;
    const step = Math.floor(state.position);
    const marks = treeMarks(data.moments[step]);
    const faults = faultsIn(data, step);
    const down = new Set(faults.flatMap(({ kind, ports }) => (kind === "down" ? ports : [])));
    const slow = new Set(faults.map(({ node }) => node));
    const chosen = this.#chosen(step);
    context.clearRect(0, 0, this.width, this.height);
    for (const box of layout.boxes) this.#box(box, step, marks, faults);
    for (const half of layout.halves) {
      if (half.ports.some((port) => chosen.has(port))) this.#halo(half);
    }
    const kinds = groupBy(layout.halves, ({ ports }) => {
      if (ports.every((port) => down.has(port))) return "down";
      if (ports.some((port) => data.paused[port][step] > 0)) return "paused";
      return ports.some((port) => marks.has(port)) ? "tree" : "other";
    });
    context.globalAlpha = state.treeOnly ? 0.15 : 1;
    this.#plain(kinds.get("other") ?? [], step);
    context.globalAlpha = 1;
    this.#plain(kinds.get("tree") ?? [], step);
    this.#paused(kinds.get("paused") ?? []);
    this.#down(kinds.get("down") ?? []);
    for (const half of layout.halves) this.#queue(half, step, marks);
    this.#nodes(slow);
    this.drawn += 1;
    this.canvas.dataset.drawn = String(this.drawn);
  }

  /**
   * The ports of the chosen flow, or the chosen port, and of a root all that waits for it.
   * @param {number} step
   */
  #chosen(step) {
    const { flow, port } = this.state;
    if (flow >= 0) return new Set(this.data.flows.path[flow]);
    const found = new Set([port]);
    for (const tree of this.data.moments[step].trees) {
      if (!tree.root.includes(port)) continue;
      for (const [paused] of tree.paused) found.add(paused);
      for (const other of tree.root) found.add(other);
    }
    return found;
  }

  /** @param {Half} half */
  #halo(half) {
    const { context } = this;
    context.strokeStyle = this.palette.select;
    context.lineWidth = 9;
    context.lineCap = "round";
    context.beginPath();
    context.moveTo(half.x, half.y);
    context.lineTo(half.toX, half.toY);
    context.stroke();
  }

  /**
   * Halves that are not paused, those of a shade at once.
   * @param {Half[]} halves
   * @param {number} step
   */
  #plain(halves, step) {
    const { context, data, palette, state } = this;
    const share = (/** @type {number} */ port) =>
      state.colour === "queue"
        ? (SHADES * data.queue[port][step]) / this.longest
        : data.utilisation[port][step];
    const shades = groupBy(halves, (half) => Math.round(most(half.ports, share) / 4) * 4);
    for (const [shade, group] of [...shades].sort(([a], [b]) => a - b)) {
      context.strokeStyle = palette.shades[shade];
      context.lineWidth = 1 + shade / 50;
      this.#lines(group);
    }
  }

  /** @param {Half[]} halves */
  #paused(halves) {
    const { context } = this;
    context.strokeStyle = this.palette.paused;
    context.lineWidth = 3;
    context.setLineDash([4, 3]);
    this.#lines(halves);
    context.setLineDash([]);
    context.lineWidth = 2;
    for (const half of halves) this.#bars(half);
  }

  /**
   * Halves of links that are down: dots, and a cross where the halves meet.
   * @param {Half[]} halves
   */
  #down(halves) {
    const { context } = this;
    context.strokeStyle = this.palette.text;
    context.lineWidth = 1.5;
    context.setLineDash([1.5, 4]);
    this.#lines(halves);
    context.setLineDash([]);
    context.lineWidth = 2.5;
    context.beginPath();
    for (const { toX, toY } of halves) {
      for (const across of [-5, 5]) {
        context.moveTo(toX - across, toY - 5);
        context.lineTo(toX + across, toY + 5);
      }
    }
    context.stroke();
  }

  /** @param {Half[]} halves */
  #lines(halves) {
    const { context } = this;
    context.lineCap = "butt";
    context.beginPath();
    for (const half of halves) {
      context.moveTo(half.x, half.y);
      context.lineTo(half.toX, half.toY);
    }
    context.stroke();
  }

  /**
   * Two bars across a half, the sign of a pause.
   * @param {Half} half
   */
  #bars(half) {
    const { context, data } = this;
    const [dx, dy] = [half.toX - half.x, half.toY - half.y];
    const length = Math.hypot(dx, dy) || 1;
    const [ux, uy] = [dx / length, dy / length];
    const isHost = data.nodes[data.ports[half.ports[0]][0]].tier === 0;
    const across = isHost ? Math.min(5, Math.max(1.5, this.hostRoom / 2)) : 5;
    context.beginPath();
    for (const along of [-2.5, 2.5]) {
      const [x, y] = [half.x + dx * 0.7 + ux * along, half.y + dy * 0.7 + uy * along];
      context.moveTo(x - uy * across, y + ux * across);
      context.lineTo(x + uy * across, y - ux * across);
    }
    context.stroke();
  }

  /**
   * The queue of a half as a disc at its sender, and the mark of a root.
   * @param {Half} half
   * @param {number} step
   * @param {Map<number, string>} marks
   */
  #queue(half, step, marks) {
    const { context, data, palette, state } = this;
    const queue = most(half.ports, (port) => data.queue[port][step]);
    const kinds = half.ports.map((port) => marks.get(port));
    const kind = kinds.find((mark) => mark && mark !== "paused");
    if (!kind && (queue < this.longest / 100 || state.treeOnly)) return;
    const [x, y] = markOf(half);
    const radius = 1.5 + 7 * Math.sqrt(queue / this.longest);
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fillStyle = palette.queue;
    context.fill();
    if (!kind) return;
    // A triangle around the disc of a root, a ring around that of other ends of trees.
    const size = radius + 5;
    context.beginPath();
    if (kind === "draining") context.arc(x, y, size - 1, 0, 2 * Math.PI);
    else {
      context.moveTo(x, y - size * 1.3);
      context.lineTo(x + size * 1.15, y + size * 0.7);
      context.lineTo(x - size * 1.15, y + size * 0.7);
      context.closePath();
    }
    context.strokeStyle = kind === "deadlock" ? palette.paused : palette.root;
    context.lineWidth = 2.5;
    context.stroke();
  }

  /** @param {Set<number>} slow Hosts that take data slowly. */
  #nodes(slow) {
    const { context, data, layout, palette } = this;
    context.fillStyle = palette.text;
    context.font = NAME_FONT;
    context.textAlign = "center";
    for (const { nodes, isHosts, size, label } of this.tiers) {
      for (const node of nodes) {
        const [x, y] = [layout.x[node], layout.y[node]];
        context.fillRect(x - size / 2, y - size / 2, size, size);
        if (slow.has(node)) this.#ring(x, y, size);
      }
      if (!label) continue;
      context.strokeStyle = palette.back;
      context.lineWidth = 4;
      context.lineJoin = "round";
      for (const node of nodes) {
        const [x, y] = [layout.x[node], layout.y[node] + (isHosts ? 16 : -9)];
        const name = label(data.nodes[node].name);
        context.strokeText(name, x, y);
        context.fillText(name, x, y);
      }
    }
  }

  /**
   * The mark of a host that takes data slowly.
   * @param {number} x
   * @param {number} y
   * @param {number} size Of its square.
   */
  #ring(x, y, size) {
    const { context, palette } = this;
    context.strokeStyle = palette.paused;
    context.lineWidth = 2.5;
    context.beginPath();
    context.arc(x, y, size / 2 + 4, 0, 2 * Math.PI);
    context.stroke();
  }

  /**
   * @param {Box} box
   * @param {number} step
   * @param {Map<number, string>} marks
   * @param {Fault[]} faults
   */
  #box(box, step, marks, faults) {
    const { context, data, palette } = this;
    const queue = most(box.ports, (port) => data.queue[port][step]);
    const paused = box.ports.filter((port) => data.paused[port][step] > 0).length;
    context.fillStyle = palette.block;
    context.strokeStyle = paused ? palette.paused : palette.soft;
    context.lineWidth = paused ? 3 : 1;
    context.setLineDash(paused ? [4, 3] : []);
    context.fillRect(box.x, box.y, box.width, box.height);
    context.strokeRect(box.x, box.y, box.width, box.height);
    context.setLineDash([]);
    const roots = box.ports.filter((port) => (marks.get(port) ?? "paused") !== "paused").length;
    const lines = [`pod ${box.pod}`, `${box.hosts} hosts`, "queue", sizeText(queue)];
    if (paused) lines.push(`${paused} paused`);
    if (roots) lines.push(plural(roots, "root"));
    const here = faults.filter(({ ports, node }) =>
      node >= 0 ? data.nodes[node].pod === box.pod : ports.some((port) => box.ports.includes(port)),
    );
    if (here.length) lines.push(plural(here.length, "fault"));
    context.fillStyle = palette.text;
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "center";
    for (const [index, line] of lines.entries()) {
      context.fillText(line, box.x + box.width / 2, box.y + 20 + 16 * index, box.width - 4);
    }
  }

  /**
   * The port at a point of the canvas, or the pod, or neither.
   * @param {number} x
   * @param {number} y
   * @returns {{ port: number } | { pod: number } | undefined}
   */
  at(x, y) {
    const { data, layout, state } = this;
    const box = layout.boxes.find(
      (one) => x >= one.x && x <= one.x + one.width && y >= one.y && y <= one.y + one.height,
    );
    if (box) return { pod: box.pod };
    const half = halfAt(layout, x, y);
    if (!half) return undefined;
    const step = Math.floor(state.position);
    const longest = most(half.ports, (port) => data.queue[port][step]);
    return { port: half.ports.find((port) => data.queue[port][step] === longest) ?? half.ports[0] };
  }
}

/**
 * The largest value of a list, or 0.
 * @param {number[]} list
 * @param {(one: number) => number} value
 */
function most(list, value) {
  let found = 0;
  for (const one of list) found = Math.max(found, value(one));
  return found;
}

/**
 * What a port is in the trees of a moment: a kind of root, or paused.
 * @param {Moment} moment
 * @returns {Map<number, string>}
 */
function treeMarks(moment) {
  const marks = new Map();
  for (const tree of moment.trees) {
    if (!isWaitedFor(tree)) continue;
    for (const [port] of tree.paused) if (!marks.has(port)) marks.set(port, "paused");
    for (const port of tree.root) marks.set(port, tree.kind);
  }
  return marks;
}
