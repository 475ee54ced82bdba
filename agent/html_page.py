"""The frame of a page that a command writes: one HTML file without outside parts, in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from engine.errors import ConfigError

_STYLE = """
:root { color-scheme: light dark; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th { font-weight: 600; } th.text, td.text { text-align: left; }
figure { margin: 1rem 0; background: #fff; color: #222; border-radius: 6px; padding: .5rem; }
figure svg { width: 100%; height: auto; }
"""


def check_page(path: str | Path) -> None:
    """Refuse a file that a page cannot be written to, before the work that it would show.

    Raises:
        ConfigError: its folder does not exist, or it is a folder.
    """
    if not Path(path).parent.is_dir():
        raise ConfigError(f"the folder of the report {path} does not exist")
    if Path(path).is_dir():
        raise ConfigError(f"the report {path} is a folder; name a file")


def html_page(title: str, parts: Sequence[str], *, style: str, lang: str = "en") -> str:
    """A whole page.

    Args:
        title: of the page, as plain text.
        parts: what its body holds, as HTML.
        style: rules of its own, which come after those of all pages.
        lang: language of its words, `en` or `ru`.
    """
    return (
        f'<!DOCTYPE html>\n<html lang="{lang}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}{style}</style></head>\n<body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )
