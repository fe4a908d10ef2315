"""Pictures of results. Each function takes one result or several and returns a Figure.

Several are called by what tells them apart, such as scheme, name or directory; in a dictionary
``{label: result}`` by their labels.

matplotlib is imported when the first picture is drawn. Notebooks show the figure that a cell ends
with; ``%matplotlib inline`` is not needed.
"""

from rocelab.plot.slowdown import fct, tags
from rocelab.plot.timeline import pauses, queue, series, throughput
from rocelab.plot.uplinks import balance
from rocelab.plot.write import save

__all__ = ["balance", "fct", "pauses", "queue", "save", "series", "tags", "throughput"]
