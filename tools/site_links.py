"""Hooks of mkdocs: pages from the root of the repository, and links to files that are no pages.

The pages link to files of the repository, as they are read there, too. On the site, links to
pages of the root lead to those pages, and links to other files become the name of the file.
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]

ROOT_PAGES = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
}
"""Pages of the root, and what they are called on the site."""

ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):(?=<code>)")
"""Roles of docstrings, which Markdown does not know."""

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:  # noqa: ANN401
    """Adds the pages of the root."""
    for name, page in ROOT_PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:  # noqa: ANN401
    """Rewrites links so that they lead to pages of the site, or are none."""
    docs = Path(config["docs_dir"])
    is_root = page.file.src_uri in ROOT_PAGES.values()
    folder = ROOT if is_root else (docs / page.file.src_uri).parent

    def rewrite(link: re.Match[str]) -> str:
        text, target, anchor = link[1], link[2], link[3] or ""
        if "://" in target:
            return link[0]
        path = (folder / target).resolve()
        if not path.is_relative_to(ROOT):
            return link[0]
        if path.is_relative_to(docs):
            inside = path.relative_to(docs).as_posix()
            known = files.get_file_from_path(inside) is not None
        else:
            inside = ROOT_PAGES.get(path.relative_to(ROOT).as_posix(), "")
            known = bool(inside)
        if not known:
            return text if text.startswith("`") else f"{text} (`{path.relative_to(ROOT)}`)"
        up = "../" * page.file.src_uri.count("/")
        return f"[{text}]({up}{inside}{anchor})"

    return LINK.sub(rewrite, markdown)


def on_page_content(html: str, **_: object) -> str:
    """Leaves out the roles of docstrings."""
    return ROLE.sub("", html)
