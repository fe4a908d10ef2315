// @ts-check
// Small figures of a value over time, with the moment that the page shows.

const CHART = { width: 480, height: 110, left: 66, right: 8, top: 8, bottom: 22 };

/**
 * A new element of a drawing.
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 */
function draw(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}

/** Figures that share their time with the page. */
class Charts {
  /**
   * @param {Data} data
   * @param {(position: number) => void} go Shows another moment.
   */
  constructor(data, go) {
    this.data = data;
    this.go = go;
    /** @type {SVGElement[]} */
    this.cursors = [];
  }

  clear() {
    this.cursors = [];
  }

  /** @param {number} position */
  #x(position) {
    const inner = CHART.width - CHART.left - CHART.right;
    return CHART.left + (position / this.data.times.length) * inner;
  }

  /**
   * A figure; a click in it shows that moment.
   * @param {string} title
   * @param {(number | null)[]} values From step `first` on.
   * @param {number} first
   * @param {(value: number) => string} text
   * @param {number} [top] The largest value of the axis.
   * @returns {HTMLElement}
   */
  figure(title, values, first, text, top) {
    const known = values.filter((value) => value !== null);
    const largest = top ?? Math.max(1, ...known.map(Number));
    const bottom = CHART.height - CHART.bottom;
    /** @param {number} value */
    const y = (value) => bottom - (value / largest) * (bottom - CHART.top);
    let d = "";
    let isPen = false;
    for (const [index, value] of values.entries()) {
      if (value === null) {
        isPen = false;
        continue;
      }
      // A value holds for the whole step.
      const [from, to] = [index, index + 1].map((at) => this.#x(first + at).toFixed(1));
      d += `${isPen ? "L" : "M"}${from} ${y(value).toFixed(1)}H${to}`;
      isPen = true;
    }
    const { width, height } = CHART;
    const highest = text(Math.max(0, ...known.map(Number)));
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "chart" });
    svg.setAttribute("aria-label", `${title} over time, at most ${highest}`);
    const { times, step } = this.data;
    const begin = times[0] - step;
    const axes = `M${CHART.left} ${CHART.top}V${bottom}H${width - CHART.right}`;
    svg.append(
      draw("path", { d: axes, class: "axis" }),
      draw("path", { d, class: "curve" }),
      label(text(largest), CHART.left - 5, CHART.top + 9, "end"),
      label("0", CHART.left - 5, bottom, "end"),
      label(timeText(begin), CHART.left, height - 6, "start"),
      label(timeText(times[times.length - 1]), width - CHART.right, height - 6, "end"),
    );
    const cursor = draw("line", { y1: CHART.top, y2: bottom, class: "cursor" });
    svg.append(cursor);
    this.cursors.push(cursor);
    svg.addEventListener("click", (event) => {
      const box = svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * width;
      const part = (x - CHART.left) / (width - CHART.left - CHART.right);
      this.go(part * this.data.times.length);
    });
    const caption = make("figcaption", title);
    const figure = make("figure");
    figure.append(caption, svg);
    return figure;
  }

  /**
   * Moves the line of the moment.
   * @param {number} position
   */
  move(position) {
    const x = this.#x(position).toFixed(1);
    for (const cursor of this.cursors) {
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
    }
  }
}

/**
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {string} anchor
 */
function label(text, x, y, anchor) {
  const made = draw("text", { x, y, "text-anchor": anchor });
  made.textContent = text;
  return made;
}
