"""Tables on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

WIDTH_WITHOUT_TERMINAL = 160  # a file or pipe has no width of its own, and must not cut a table short


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, left: int = 1) -> None:
    """A table on stdout: coloured where that is a terminal, without trailing blanks where it is not.

    Args:
        columns: the headings.
        rows: the cells as text.
        left: how many columns from the first on are aligned left; the others hold numbers.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index < left else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    if sys.stdout.isatty():
        Console(highlight=False, markup=False, emoji=False).print(table)
        return
    console = Console(width=WIDTH_WITHOUT_TERMINAL, highlight=False, markup=False, emoji=False)
    with console.capture() as drawn:  # rich would end the program itself when the reader of a pipe has gone
        console.print(table)
    print("\n".join(line.rstrip() for line in drawn.get().splitlines()))
