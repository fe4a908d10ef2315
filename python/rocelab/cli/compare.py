"""``rocelab compare``."""

from __future__ import annotations

from typing import Annotated

import typer

from rocelab._text import json_text
from rocelab.cli.options import (
    Cache,
    CsvFile,
    Jobs,
    MarkdownFile,
    NoBar,
    Strict,
    check_text_file,
    renamed,
    write_text,
)
from rocelab.cli.output import check_doubts, print_warnings, report_kept_runs, show, show_caveats
from rocelab.compare.networks import NETWORKS
from rocelab.errors import ConfigError


def compare(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="SCHEME", help="Schemes or presets; default: all schemes."),
    ] = None,
    network: Annotated[
        list[str] | None,
        typer.Option(
            "--network",
            metavar="NAME",
            help=f"Only this network, of {', '.join(one.id for one in NETWORKS)}; repeatable; "
            "default: all.",
        ),
    ] = None,
    rate: Annotated[
        list[int] | None,
        typer.Option(
            "--rate-gbps",
            metavar="GBPS",
            min=1,
            help="Rate of the hosts' links; repeatable; default: 40 and 100.",
        ),
    ] = None,
    csv: CsvFile = None,
    markdown: MarkdownFile = None,
    cache: Cache = None,
    jobs: Jobs = None,
    strict: Strict = False,
    as_json: Annotated[bool, typer.Option("--json", help="A list of rows, as JSON.")] = False,
    quiet: NoBar = False,
    old_page: Annotated[str | None, renamed("--page", "--markdown")] = None,
    old_rate: Annotated[str | None, renamed("--rate", "--rate-gbps")] = None,
) -> None:
    """Compare schemes in five small networks.

    They are compared by shares, queues, pauses and the time to settle.
    """
    del old_page, old_rate
    from rocelab import catalogue
    from rocelab.compare import page as pages
    from rocelab.compare.measure import presets, run_networks
    from rocelab.compare.networks import NETWORKS, RATES_GBPS
    from rocelab.sweeps.cache import default_cache

    known = {one.id: one for one in NETWORKS}
    for name in network or []:
        if name not in known:
            raise ConfigError(f"no network {name!r}", hint=f"networks: {', '.join(known)}")
    chosen = presets(names or [])
    check_text_file("--csv", csv, ".csv")
    check_text_file("--markdown", markdown, ".md")
    with report_kept_runs("the cache"):
        rows, doubts = run_networks(
            chosen,
            cache=cache or default_cache(),
            networks=[known[name] for name in dict.fromkeys(network or known)],
            rates_gbps=list(dict.fromkeys(rate or RATES_GBPS)),
            jobs=jobs,
            progress=not quiet,
        )
    print_warnings(doubts)
    options = [f" --network {name}" for name in network or []]
    options += [f" --rate-gbps {gbps}" for gbps in rate or []]
    command = " ".join(["rocelab compare", *(names or [])]) + "".join(options)
    if csv:
        write_text(csv, pages.to_csv(rows))
    if markdown:
        write_text(markdown, pages.page(rows, command))
    if as_json:
        show(json_text(pages.as_data(rows)))
    else:
        show(pages.table(rows))
        show_caveats(catalogue.caveats_of((row.scheme, row.preset) for row in rows))
    check_doubts(doubts, strict=strict, told=True)
