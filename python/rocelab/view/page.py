"""The HTML file of a view. All that is drawn is drawn by the scripts beside this file."""

from __future__ import annotations

import base64
import json
import zlib
from importlib.resources import files

from rocelab._html import definitions, document, text, texts
from rocelab.view.data import View

_SCRIPTS = ("types.js", "layout.js", "fabric.js", "series.js", "panel.js", "main.js")
"""In this order they are one module."""

_BODY = """\
<div class="bar" role="group" aria-label="Time">
<button type="button" id="play">Play</button>
<label class="wide">Time <input type="range" id="time" min="0" max="0" value="0" step="1"></label>
<output id="clock"></output>
<label>Whole run in <select id="speed"><option value="10">10 s</option>
<option value="30" selected>30 s</option><option value="120">2 min</option></select></label>
</div>
<div class="bar" role="group" aria-label="What is drawn">
<label>Colour of links <select id="colour"><option value="utilisation">utilisation</option>
<option value="queue">queue length</option></select></label>
<label><input type="checkbox" id="only"> only congestion trees</label>
<label><input type="checkbox" id="collapse"> pods as boxes</label>
<form id="find"><label>Port or flow <input id="wanted" list="names" autocomplete="off"
placeholder="tor0:h3 or flow 7"></label> <button>Show</button>
<datalist id="names"></datalist><output id="found"></output></form>
</div>
<div class="scroll"><canvas id="fabric" tabindex="0" role="img" aria-label="The network"
aria-describedby="keys"></canvas></div>
<ul class="legend" aria-label="Legend">
<li><span id="scale"></span> <i class="ramp"></i></li>
<li><i class="mark paused"></i> paused by its peer: dashes and two bars</li>
<li><i class="mark disc"></i> queue: the larger the disc, the longer</li>
<li><i class="mark root"></i> root of a congestion tree, or a deadlock in the colour of pauses</li>
<li><i class="mark ring"></i> port that is draining: its queue is going</li>
<li><i class="mark down"></i> link that is down: dots and a cross</li>
<li><i class="mark slow"></i> host that takes data slowly, or not at all</li>
<li>The half of a link at a node is what that node sends.</li>
</ul>
<p class="note" id="keys">Click a link or a pod. With the picture in focus: arrow keys go a step,
Page Up and Page Down ten, Home and End to the ends, space plays.</p>
<div class="columns">
<section aria-label="Congestion"><h2>Congestion</h2><div id="trees"></div></section>
<section aria-label="Port or flow"><h2>Port or flow</h2><div id="detail"></div>
<div id="passing"></div></section>
</div>
<noscript><p>This page is drawn by its script, which the browser does not run.</p></noscript>
"""


def page(view: View) -> str:
    """The whole file. All text of ``view`` is escaped, or compressed data."""
    data = json.dumps(view.data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    packed = base64.b64encode(zlib.compress(data.encode(), 9)).decode("ascii")
    script = "".join(_resource(name) for name in _SCRIPTS)
    warnings = ""
    if view.warnings:
        warnings = (
            f"<details><summary>Warnings ({len(view.warnings)})</summary>{texts(view.warnings)}"
            "</details>"
        )
    body = (
        f"<header><h1>{text(view.title)}</h1>{definitions(view.facts)}{warnings}</header>"
        f"<main>{_BODY}</main>"
        "<footer>Drawn by rocelab's own scripts: no library of others is in this page.</footer>"
        f'<script type="text/plain" id="data">{packed}</script>'
        f'<script type="module">{script}</script>'
    )
    return document(view.title, _resource("page.css"), body)


def _resource(name: str) -> str:
    return files("rocelab.view").joinpath(name).read_text(encoding="utf-8")
