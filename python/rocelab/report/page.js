// @ts-check
// Draws the figures of a report with plotly, in the colours of the page.

/** @typedef {{ data: object[], layout: Record<string, any> }} Chart */

(() => {
  const holder = /** @type {HTMLElement} */ (document.getElementById("charts"));
  /** @type {Chart[]} */
  const charts = JSON.parse(holder.textContent ?? "[]");
  const places = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".plot"));
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  /**
   * The colour of a variable of the style sheet.
   * @param {string} name
   */
  const colour = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();

  /**
   * The title of an axis in two lines, where one would be longer than a narrow figure is high.
   * @param {Record<string, any>} axis
   * @param {boolean} isNarrow
   */
  const broken = (axis, isNarrow) => {
    const text = String(axis?.title?.text ?? "");
    const space = text.indexOf(" ", text.length / 2 - 4);
    if (!isNarrow || text.length < 16 || space < 0) return axis;
    return { ...axis, title: { text: `${text.slice(0, space)}<br>${text.slice(space + 1)}` } };
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
   * @param {boolean} isNarrow
   */
  const dressed = (layout, isNarrow) => {
    const axis = { gridcolor: colour("--line"), linecolor: colour("--line"), automargin: true };
    return {
      ...layout,
      xaxis: { ...axis, ...thinned(layout.xaxis, isNarrow) },
      yaxis: { ...axis, ...broken(layout.yaxis, isNarrow) },
      font: { color: colour("--text"), family: "system-ui, sans-serif", size: 13 },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { t: 16, r: 16, b: 48, l: 64 },
      legend: { orientation: "h", yref: "container", y: 0, yanchor: "bottom" },
      hovermode: "closest",
      showlegend: true,
      modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--soft"), activecolor: colour("--text") },
    };
  };

  // Named one by one: the library's own choice has buttons that open other sites.
  const buttons = ["toImage", "zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d"];
  const options = { displaylogo: false, responsive: true, modeBarButtons: [buttons] };

  const draw = () => {
    for (const place of places) {
      const chart = charts[Number(place.dataset.chart)];
      // @ts-ignore Plotly is defined by the library above.
      Plotly.react(place, chart.data, dressed(chart.layout, place.clientWidth < 500), options);
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
