"""``python -m rocelab`` is the ``rocelab`` command."""

from rocelab.cli import main

main()
