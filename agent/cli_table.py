"""Tables on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

WIDTH_WITHOUT_TERMINAL = 160  # a file or pipe has no width of its own, and must not cut a table short


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> None:
    """A table on stdout, coloured where stdout is a terminal.

    Args:
        columns: the headings.
        rows: the cells as text.
        left: how many columns from the first on are aligned left; the others hold numbers.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    class PipeConsole(Console):
        def on_broken_pipe(self) -> None:  # rich would end the program here; `cli_run.run` gives its exit code
            raise BrokenPipeError

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index < left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    width = None if sys.stdout.isatty() else WIDTH_WITHOUT_TERMINAL
    PipeConsole(width=width, highlight=False, markup=False, emoji=False).print(table)
