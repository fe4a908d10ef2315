// @ts-check
// The texts of the page: the congestion trees of a moment, and what is known of a port or flow.

const MAX_TREES = 12;
const MAX_LISTED = 40;

const KINDS = {
  root: "Root",
  draining: "Draining",
  stalled: "Stalled receiver",
  deadlock: "Deadlock",
};

/** Writes texts with buttons that choose ports and flows. */
class Panel {
  /**
   * @param {Data} data
   * @param {State} state
   * @param {Charts} charts
   * @param {(choice: { port: number } | { flow: number }) => void} choose
   */
  constructor(data, state, charts, choose) {
    this.data = data;
    this.state = state;
    this.charts = charts;
    this.choose = choose;
    const links = groupBy(data.ports, ([node, peer]) => `${node} ${peer}`);
    /** Pairs of nodes with more than one link. */
    this.several = new Set([...links].flatMap(([pair, { length }]) => (length > 1 ? [pair] : [])));
    this.flowOf = new Map(data.flows.number.map((number, at) => [number, at]));
  }

  /** @param {number} port */
  portName(port) {
    const [node, peer, , , number] = this.data.ports[port];
    const { nodes } = this.data;
    const more = this.several.has(`${node} ${peer}`) ? ` (port ${number})` : "";
    return `${nodes[node].name} → ${nodes[peer].name}${more}`;
  }

  /** @param {number} flow */
  flowName(flow) {
    const { flows, nodes } = this.data;
    const ends = `${nodes[flows.src[flow]].name} → ${nodes[flows.dst[flow]].name}`;
    return `${flows.tags[flows.tag[flow]]} ${flows.number[flow]}: ${ends}`;
  }

  /** @param {number} port */
  #port(port) {
    return this.#button(this.portName(port), { port });
  }

  /** @param {number} flow */
  #flow(flow) {
    return this.#button(this.flowName(flow), { flow });
  }

  /**
   * @param {string} text
   * @param {{ port: number } | { flow: number }} choice
   */
  #button(text, choice) {
    const button = make("button", text);
    button.type = "button";
    button.className = "choice";
    button.addEventListener("click", () => this.choose(choice));
    return button;
  }

  /**
   * A list that ends with the number of what is left out.
   * @template T
   * @param {T[]} items
   * @param {(item: T) => (string | Node)[]} row
   * @param {number} [all]
   */
  #list(items, row, all = items.length) {
    const list = make("ul");
    for (const item of items.slice(0, MAX_LISTED)) list.append(make("li", ...row(item)));
    const left = all - Math.min(items.length, MAX_LISTED);
    if (left > 0) list.append(make("li", `and ${left} more`));
    return list;
  }

  /**
   * The trees of a step in one sentence.
   * @param {number} step
   */
  summary(step) {
    const trees = this.data.moments[step].trees.filter(isWaitedFor);
    const count = pausedPorts(this.data, step);
    const victims = new Set(trees.flatMap((tree) => tree.victims)).size;
    const kinds = groupBy(faultsIn(this.data, step), ({ kind }) => kind);
    /** @type {[Fault["kind"], string, string][]} */
    const nouns = [
      ["down", "link is down", "links are down"],
      ["impaired", "slow or lossy link", "slow or lossy links"],
      ["receiver", "slow host", "slow hosts"],
    ];
    const faults = nouns.flatMap(([kind, one, several]) => {
      const number = kinds.get(kind)?.length ?? 0;
      return number ? [`${number} ${number === 1 ? one : several}`] : [];
    });
    const said = count
      ? `${plural(trees.length, "congestion tree")}, ${plural(count, "paused port")}, ` +
        `${plural(victims, "victim flow")}`
      : "no port is paused";
    return [said, ...faults].join(", ");
  }

  /**
   * The links that are down, slow or lossy in a step, and the hosts that take data slowly.
   * @param {number} step
   * @returns {Node[]}
   */
  faults(step) {
    const faults = faultsIn(this.data, step);
    if (!faults.length) return [];
    const parts = [
      make("h3", "Faults of links and hosts"),
      this.#list(faults, ({ text, ports }) => [
        `${text}: `,
        ...ports.flatMap((port, index) => [index ? ", " : "", this.#port(port)]),
      ]),
    ];
    if (faults.some(({ kind }) => kind === "down")) {
      parts.push(
        make("p", "Flows take other ways meanwhile. Paths and trees are those of a network in ",
          "which no link is down."),
      );
    }
    return parts;
  }

  /**
   * What the section of trees has.
   * @param {number} step
   * @returns {Node[]}
   */
  trees(step) {
    const { queue, paused, moments } = this.data;
    const moment = moments[step];
    const said = this.summary(step);
    /** @type {Node[]} */
    const parts = [
      make("p", `${said[0].toUpperCase()}${said.slice(1)}.`),
      ...this.faults(step),
    ];
    const withPauses = moment.trees.filter(isWaitedFor);
    for (const tree of withPauses.slice(0, MAX_TREES)) {
      const head = make("h3", `${KINDS[tree.kind]}: `);
      for (const [index, port] of tree.root.entries()) {
        head.append(index ? " waits for " : "", this.#port(port));
      }
      if (tree.kind === "deadlock") head.append(", which waits for the first");
      else if (tree.kind === "stalled") {
        const [port] = tree.root;
        head.append(`, paused by the host ${paused[port][step]} % of the time`);
      } else head.append(`, queue ${sizeText(queue[tree.root[0]][step])}`);
      parts.push(head);
      if (tree.paused.length) {
        parts.push(
          make("h4", `${plural(tree.paused.length, "port")} paused because of it`),
          this.#list(tree.paused, ([port, ...because]) => [
            this.#port(port),
            ` ${paused[port][step]} % of the time, waits for `,
            ...because.flatMap((one, index) => [index ? ", " : "", this.portName(one)]),
          ]),
        );
      }
      if (tree.count) {
        const known = tree.victims.filter((flow) => this.flowOf.has(flow));
        parts.push(
          make("h4", `${plural(tree.count, "victim flow")}`),
          this.#list(known, (flow) => [this.#flow(this.flowOf.get(flow) ?? 0)], tree.count),
        );
      }
    }
    if (withPauses.length > MAX_TREES) {
      parts.push(make("p", `and ${plural(withPauses.length - MAX_TREES, "smaller tree")}`));
    }
    if (moment.unexplained.length) {
      parts.push(
        make("h3", "Paused, with no root at this moment"),
        this.#list(moment.unexplained, (port) => [this.#port(port)]),
      );
    }
    const idle = moment.trees.filter((tree) => !tree.paused.length && tree.kind === "root");
    if (idle.length) {
      parts.push(
        make("h3", "Congested, and nobody is paused because of it"),
        this.#list(idle, ({ root: [port] }) => [
          this.#port(port),
          ` queue ${sizeText(queue[port][step])}`,
        ]),
      );
    }
    return parts;
  }

  /** What the section of the chosen port or flow has. @returns {Node[]} */
  detail() {
    this.charts.clear();
    if (this.state.flow >= 0) return this.#flowDetail(this.state.flow);
    if (this.state.port >= 0) return this.#portDetail(this.state.port);
    return [
      make("p", "Click a link in the picture, choose a port or flow in the list of congestion ",
        "trees, or find it by name."),
    ];
  }

  /** @param {number} port */
  #portDetail(port) {
    const { data } = this;
    const [, , back, rate] = data.ports[port];
    return [
      make("h3", `Port ${this.portName(port)}`),
      make("p", `${rateText(rate)}. The other direction is `, this.#port(back), "."),
      ...data.faults
        .filter(({ ports }) => ports.includes(port))
        .map(({ text }) => make("p", `${text}.`)),
      this.charts.figure("Queue", data.queue[port], 0, sizeText),
      this.charts.figure("Utilisation", data.utilisation[port], 0, percent, 100),
      this.charts.figure("Paused share of the time", data.paused[port], 0, percent, 100),
    ];
  }

  /**
   * The flows that pass the chosen port in a step.
   * @param {number} step
   * @returns {Node[]}
   */
  passing(step) {
    const { data, state } = this;
    if (state.port < 0) return [];
    const { flows } = data;
    const begin = data.times[step] - data.step;
    if (isDown(data, step, state.port)) {
      return [make("p", "The link is down at this moment: its flows take other ways.")];
    }
    const found = [...flows.path.keys()].filter((flow) => {
      const [start, end] = [flows.start[flow], flows.end[flow]];
      if (start === null) return false;
      const isUnderWay = start < data.times[step] && (end === null || end > begin);
      return isUnderWay && flows.path[flow].includes(state.port);
    });
    return [
      make("h4", `${plural(found.length, "flow")} through it at this moment`),
      this.#list(found, (flow) => [this.#flow(flow), ` ${this.#span(flow)}`]),
    ];
  }

  /** @param {number} flow */
  #span(flow) {
    const { flows } = this.data;
    const [start, end] = [flows.start[flow], flows.end[flow]];
    if (start === null) return "not begun";
    const to = end === null ? "on, not finished" : `to ${timeText(end)}`;
    return `from ${timeText(start)} ${to}`;
  }

  /** @param {number} flow */
  #flowDetail(flow) {
    const { data } = this;
    const { flows } = data;
    const slowdown = flows.slowdown[flow];
    const facts = `${sizeText(flows.size[flow])}, ${this.#span(flow)}` +
      (slowdown === null ? "" : `, slowdown ${slowdown}`);
    const failing = data.faults.some(({ kind }) => kind === "down");
    /** @type {Node[]} */
    const parts = [
      make("h3", `Flow ${this.flowName(flow)}`),
      make("p", `${facts}.`),
      make("h4", failing ? "Path while no link is down" : "Path"),
      this.#list(flows.path[flow], (port) => [this.#port(port)]),
    ];
    const number = String(flows.number[flow]);
    for (const [title, series, text] of /** @type {const} */ ([
      ["Rate", data.rates, rateText],
      ["Window", data.windows, sizeText],
    ])) {
      const [first, ...values] = series[number] ?? [];
      if (typeof first === "number") parts.push(this.charts.figure(title, values, first, text));
      else parts.push(make("p", `${title}: the scheme tells none of this flow.`));
    }
    return parts;
  }
}

/**
 * Whether somebody waits for the root of a tree.
 * @param {Tree} tree
 */
function isWaitedFor(tree) {
  return tree.paused.length > 0 || tree.kind === "deadlock" || tree.kind === "stalled";
}

/**
 * The number of ports that are paused in a step.
 * @param {Data} data
 * @param {number} step
 */
function pausedPorts(data, step) {
  return data.paused.reduce((sum, row) => sum + (row[step] > 0 ? 1 : 0), 0);
}

/** @param {number} value */
function percent(value) {
  return `${value} %`;
}

/**
 * @param {number} count
 * @param {string} noun
 */
function plural(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
