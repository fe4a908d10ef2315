"""``rocelab compare``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from rocelab.cli.reproduce import cached_runs
from rocelab.errors import ConfigError, ResultError


def compare(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCHEME...", help="Schemes or presets; default: all schemes."),
    ] = None,
    network: Annotated[
        list[str] | None, typer.Option("--network", help="A network alone; repeatable.")
    ] = None,
    rate: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Gb/s of the hosts' links; repeatable; default: 40 and 100."),
    ] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE.csv", help="Write it as CSV.")] = None,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE.md", help="Write it as a Markdown page.")
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where results are kept; default: rocelab in the user's cache."
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Runs at a time; default: one for each processor.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A list of rows, as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar.")] = False,
) -> None:
    """Compare schemes in five small networks: shares, queues, pauses, time to settle."""
    from rocelab import behaviour
    from rocelab.papers.runner import default_cache
    from rocelab.store import check_file

    known = {one.id: one for one in behaviour.NETWORKS}
    for name in network or []:
        if name not in known:
            raise ConfigError(f"no network {name!r}", hint=f"networks: {', '.join(known)}")
    if csv and csv.suffix != ".csv":
        raise ResultError(f"--csv {csv}: must end in .csv")
    if page and page.suffix != ".md":
        raise ResultError(f"--page {page}: must end in .md")
    chosen = behaviour.presets(names or [])
    for path in (csv, page):
        if path:
            if not path.parent.exists():
                raise ResultError(f"{path}: there is no directory {path.parent}")
            check_file(path, in_place=True)
    with cached_runs():
        rows = behaviour.compare(
            chosen,
            cache=cache or default_cache(),
            networks=[known[name] for name in dict.fromkeys(network or known)],
            rates_gbps=list(dict.fromkeys(rate or behaviour.RATES_GBPS)),
            jobs=jobs,
            progress=not quiet,
        )
    options = [f" --network {name}" for name in network or []]
    options += [f" --rate {gbps}" for gbps in rate or []]
    command = " ".join(["rocelab compare", *(names or [])]) + "".join(options)
    if csv:
        _write(csv, behaviour.to_csv(rows))
    if page:
        _write(page, behaviour.page(rows, command))
    if as_json:
        print(json.dumps(behaviour.as_data(rows), indent=2))
    else:
        print(behaviour.table(rows))


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ResultError(f"{path}: cannot write: {error.strerror or error}") from None
