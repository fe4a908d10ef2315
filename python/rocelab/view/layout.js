// @ts-check
// Where nodes and links are drawn.

/**
 * Half of a link: what the node at its beginning sends. Of a collapsed pod it stands for several.
 * `mark` is the share of its length at which its queue and its root are drawn.
 * @typedef {{
 *   x: number, y: number, toX: number, toY: number, ports: number[], mark: number,
 * }} Half
 *
 * @typedef {{
 *   pod: number, x: number, y: number, width: number, height: number, hosts: number,
 *   ports: number[],
 * }} Box
 * A pod that is drawn as one, with its number of hosts and all ports of its nodes.
 *
 * @typedef {{ x: number[], y: number[], shown: boolean[], halves: Half[], boxes: Box[] }} Layout
 * `x`, `y` and `shown` are by node.
 */

const MARGIN = 26;
/** The width of a collapsed pod, in nodes of a tier beside each other. */
const BOX_UNITS = 4;
/** How far a link across the whole picture rises above the nodes of its tier that it passes. */
const RISE = 90;
/** The least distance from a collapsed pod's top to the picture's bottom: its text has room. */
const MIN_BOX = 125;

/** The share of a half's length where its queue is drawn, if there is room. */
const MARK = 0.35;
/** How much farther the next one is where they lie close. */
const MARK_STEP = 0.18;
/** At how many distances they may lie. */
const MARK_ROWS = 4;
/** Pixels that a queue with the mark of a root takes. */
const MARK_ROOM = 16;

/**
 * Puts tiers above each other and pods beside each other.
 * @param {Data} data
 * @param {(pod: number) => boolean} isCollapsed
 * @param {number} width
 * @param {number} height
 * @param {number} rise How far links may rise above the top tier.
 * @returns {Layout}
 */
function layOut(data, isCollapsed, width, height, rise = 0) {
  const { nodes } = data;
  const top = Math.max(...nodes.map((node) => node.tier));
  const room = height - 2 * MARGIN - rise;
  const y = nodes.map((node) => height - MARGIN - (node.tier / (top || 1)) * room);
  const x = nodes.map(() => 0);
  const shown = nodes.map((node) => node.pod < 0 || !isCollapsed(node.pod));
  const pods = groupBy(nodes.keys(), (node) => nodes[node].pod);
  spread(nodes, pods.get(-1) ?? [], 0, width, x);
  pods.delete(-1);
  const units = [...pods].map(([pod, members]) =>
    isCollapsed(pod) ? BOX_UNITS : widest(nodes, members),
  );
  const unit = width / (units.reduce((sum, one) => sum + one + 1, 0) || 1);
  /** @type {Box[]} */
  const boxes = [];
  let left = 0;
  for (const [index, [pod, members]] of [...pods].entries()) {
    const span = (units[index] + 1) * unit;
    if (isCollapsed(pod)) {
      const top = Math.min(...members.map((node) => y[node] - 8), height - MIN_BOX);
      const size = { width: span - unit, height: height - MARGIN + 16 - top };
      const hosts = members.filter((node) => nodes[node].tier === 0).length;
      const ports = [...data.ports.keys()].filter((port) => nodes[data.ports[port][0]].pod === pod);
      boxes.push({ pod, x: left + unit / 2, y: top, ...size, hosts, ports });
      for (const node of members) {
        x[node] = left + span / 2;
        y[node] = top;
      }
    } else {
      for (const tier of groupBy(members, (node) => nodes[node].tier).values()) {
        spread(nodes, tier, left + unit / 2, span - unit, x);
      }
    }
    left += span;
  }
  if (!rise && data.ports.some(([from, to]) => passes(x, y, from, to))) {
    return layOut(data, isCollapsed, width, height, RISE);
  }
  return { x, y, shown, boxes, halves: halvesOf(data, x, y, isCollapsed, rise / width) };
}

/**
 * Whether a straight link between two nodes would go through another one beside them.
 * @param {number[]} x
 * @param {number[]} y
 * @param {number} from
 * @param {number} to
 */
function passes(x, y, from, to) {
  if (y[from] !== y[to]) return false;
  return x.some((at, node) => y[node] === y[from] && (at - x[from]) * (at - x[to]) < 0);
}

/**
 * The values of each key, in their order; keys in the order in which they come first.
 * @template K, V
 * @param {Iterable<V>} values
 * @param {(value: V) => K} key
 * @returns {Map<K, V[]>}
 */
function groupBy(values, key) {
  const groups = new Map();
  for (const value of values) {
    const group = groups.get(key(value));
    if (group) group.push(value);
    else groups.set(key(value), [value]);
  }
  return groups;
}

/**
 * The most nodes of a tier.
 * @param {FabricNode[]} nodes
 * @param {number[]} members
 */
function widest(nodes, members) {
  const tiers = groupBy(members, (node) => nodes[node].tier);
  return Math.max(...[...tiers.values()].map((tier) => tier.length));
}

/**
 * Puts nodes beside each other.
 * @param {FabricNode[]} nodes
 * @param {number[]} members
 * @param {number} left
 * @param {number} width
 * @param {number[]} x
 */
function spread(nodes, members, left, width, x) {
  const sorted = [...members].sort((a, b) => nodes[a].place - nodes[b].place || a - b);
  for (const [index, node] of sorted.entries()) {
    x[node] = left + ((index + 0.5) * width) / sorted.length;
  }
}

/**
 * The halves of all links, from the places of the nodes; none within a collapsed pod.
 * @param {Data} data
 * @param {number[]} x
 * @param {number[]} y
 * @param {(pod: number) => boolean} isCollapsed
 * @param {number} slope How far a link that passes nodes rises, for each pixel of its length.
 * @returns {Half[]}
 */
function halvesOf(data, x, y, isCollapsed, slope) {
  const { nodes, ports } = data;
  /** @param {number} node */
  const drawnAs = (node) => {
    const { pod } = nodes[node];
    return pod >= 0 && isCollapsed(pod) ? -1 - pod : node;
  };
  const between = groupBy(ports.keys(), (port) => {
    const [a, b] = [drawnAs(ports[port][0]), drawnAs(ports[port][1])];
    return `${a} ${b}`;
  });
  /** @type {Half[]} */
  const halves = [];
  for (const group of between.values()) {
    const [from, to] = ports[group[0]];
    const [a, b] = [drawnAs(from), drawnAs(to)];
    if (a === b) continue;
    // Links of a collapsed pod are drawn as one, others beside each other.
    const lines = a < 0 || b < 0 ? [group] : group.map((port) => [port]);
    const [dx, dy] = [x[to] - x[from], y[to] - y[from]];
    const length = Math.hypot(dx, dy) || 1;
    const up = passes(x, y, from, to) ? slope * length : 0;
    for (const [index, line] of lines.entries()) {
      // Links between the same nodes are shifted aside, and both halves of a link to the same side.
      const shift = (index - (lines.length - 1) / 2) * 5 * (from < to ? 1 : -1);
      const [sx, sy] = [(-dy / length) * shift, (dx / length) * shift];
      halves.push({
        x: x[from] + sx,
        y: y[from] + sy,
        toX: x[from] + dx / 2 + sx,
        toY: y[from] + dy / 2 + sy - up,
        ports: line,
        mark: MARK,
      });
    }
  }
  /** @param {Half} half */
  const fanOf = (half) => `${drawnAs(ports[half.ports[0]][0])} ${half.toY > half.y}`;
  const fans = groupBy(halves, fanOf);
  for (const fan of fans.values()) placeMarks(fan);
  return halves;
}

/**
 * Moves the marks of halves that begin at one node apart, where they would cover each other.
 * @param {Half[]} fan
 */
function placeMarks(fan) {
  const sorted = [...fan].sort((a, b) => a.toX - b.toX);
  const gaps = sorted.slice(1).map((half, before) => {
    const [[x, y], [otherX, otherY]] = [markOf(half), markOf(sorted[before])];
    return Math.hypot(x - otherX, y - otherY);
  });
  const least = Math.max(1, Math.min(MARK_ROOM, ...gaps));
  const rows = Math.min(MARK_ROWS, Math.ceil(MARK_ROOM / least));
  for (const [index, half] of sorted.entries()) half.mark = MARK + (index % rows) * MARK_STEP;
}

/**
 * Where the queue of a half is drawn.
 * @param {Half} half
 * @returns {[x: number, y: number]}
 */
function markOf({ x, y, toX, toY, mark }) {
  return [x + (toX - x) * mark, y + (toY - y) * mark];
}

/**
 * The half of a link that is next to a point, and no farther than 9 pixels.
 * @param {Layout} layout
 * @param {number} x
 * @param {number} y
 * @returns {Half | undefined}
 */
function halfAt(layout, x, y) {
  let best;
  let least = 9;
  for (const half of layout.halves) {
    const [dx, dy] = [half.toX - half.x, half.toY - half.y];
    const along = ((x - half.x) * dx + (y - half.y) * dy) / (dx * dx + dy * dy || 1);
    const at = Math.min(Math.max(along, 0), 1);
    const distance = Math.hypot(x - half.x - at * dx, y - half.y - at * dy);
    if (distance < least) {
      least = distance;
      best = half;
    }
  }
  return best;
}
