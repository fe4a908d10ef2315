// @ts-check
// Draws the figures of a report with plotly, in the colours of the page.

/** @typedef {{ data: Record<string, any>[], layout: Record<string, any> }} Chart */

(() => {
  const holder = /** @type {HTMLElement} */ (document.getElementById("charts"));
  /** @type {Chart[]} */
  const charts = JSON.parse(holder.textContent ?? "[]");
  const places = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".plot"));
  /** How wide a usual letter of a figure is, and how high a row of a legend. */
  const LETTER_PX = 7.5;
  const ROW_PX = 19;
  /** Rows of a legend for which a figure has room. */
  const FEW_ROWS = 4;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  /**
   * The colour of a variable of the style sheet.
   * @param {string} name
   */
  const colour = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

  /**
   * A text without the middle of what is too long: names often differ at their ends alone.
   * @param {string} text
   * @param {number} letters
   */
  const shortened = (text, letters) => {
    if (text.length <= letters) return text;
    const end = Math.floor((letters - 1) / 2);
    return `${text.slice(0, letters - 1 - end)}…${text.slice(-end)}`;
  };

  /**
   * The title of an axis in two lines, where one would be longer than a figure is high.
   * @param {Record<string, any>} axis
   * @param {boolean} isNarrow
   */
  const broken = (axis, isNarrow) => {
    const words = String(axis?.title?.text ?? "").split(" ");
    const text = words.map((word) => shortened(word, isNarrow ? 18 : 30)).join(" ");
    const near = text.indexOf(" ", text.length / 2 - 4);
    const space = near < 0 ? text.lastIndexOf(" ") : near;
    const isShort = text.length < (isNarrow ? 16 : 40) || space < 0;
    const lines = isShort ? text : `${text.slice(0, space)}<br>${text.slice(space + 1)}`;
    return { ...axis, title: { text: lines } };
  };

  /**
   * An axis of words, with long ones shortened.
   * @param {Record<string, any>} axis
   * @param {Record<string, any>[]} traces
   * @param {boolean} isNarrow
   */
  const named = (axis, traces, isNarrow) => {
    if (axis?.type !== "category") return axis;
    const letters = isNarrow ? 16 : 30;
    const words = [...new Set(traces.flatMap((trace) => trace.x.map(String)))];
    if (words.every((word) => word.length <= letters)) return axis;
    const texts = words.map((word) => shortened(word, letters));
    return { ...axis, tickmode: "array", tickvals: words, ticktext: texts };
  };

  /**
   * An axis with half as many ticks, where the labels of all would run into each other.
   * @param {Record<string, any>} axis
   * @param {boolean} isNarrow
   */
  const thinned = (axis, isNarrow) =>
    isNarrow && axis?.nticks ? { ...axis, nticks: Math.max(3, Math.ceil(axis.nticks / 2)) } : axis;

  /**
   * A layout with the page's colours.
   * @param {Record<string, any>} layout
   * @param {Record<string, any>[]} traces
   * @param {boolean} isNarrow
   */
  const dressed = (layout, traces, isNarrow) => {
    const axis = { gridcolor: colour("--line"), linecolor: colour("--line"), automargin: true };
    return {
      ...layout,
      xaxis: { ...axis, ...named(thinned(layout.xaxis, isNarrow), traces, isNarrow) },
      yaxis: { ...axis, ...broken(layout.yaxis, isNarrow) },
      font: { color: colour("--text"), family: "system-ui, sans-serif", size: 13 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { t: 16, r: 16, b: 48, l: 64 },
      legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom" },
      hovermode: "closest",
      hoverlabel: { namelength: -1 },
      showlegend: true,
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--soft"), activecolor: colour("--text") },
    };
  };

  // Named one by one: the library's own choice has buttons that open other sites.
  const buttons = ["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"];
  const options = { displaylogo: false, responsive: true, modeBarButtons: [buttons] };

  /**
   * How many rows a legend takes, about.
   * @param {Record<string, any>[]} traces
   * @param {number} width
   */
  const rows = (traces, width) => {
    const longest = Math.max(0, ...traces.map((trace) => trace.name?.length ?? 0));
    const columns = Math.max(1, Math.floor(width / (LETTER_PX * (longest + 8))));
    return Math.ceil(traces.length / columns);
  };

  const draw = () => {
    for (const place of places) {
      const chart = charts[Number(place.dataset.chart)];
      const isNarrow = place.clientWidth < 500;
      const letters = Math.floor(place.clientWidth / LETTER_PX) - 8;
      const traces = chart.data.map((trace) =>
        trace.name ? { ...trace, name: shortened(trace.name, letters) } : trace,
      );
      const more = ROW_PX * Math.max(0, rows(traces, place.clientWidth) - FEW_ROWS);
      place.style.height = more ? `calc(var(--plot) + ${more}px)` : "";
      // @ts-ignore Plotly is defined by the library above.
      Plotly.react(place, traces, dressed(chart.layout, traces, isNarrow), options);
    }
  };

  draw();
  dark.addEventListener("change", draw);

  /**
   * Paper is light: text in the colours of a dark page would vanish on it.
   * @param {boolean} isPrinted
   */
  const turn = (isPrinted) => {
    document.documentElement.classList.toggle("paper", isPrinted);
    draw();
  };
  window.addEventListener("beforeprint", () => turn(true));
  window.addEventListener("afterprint", () => turn(false));
})();
