"""The command `nardy-train`, where torch may be missing: then one line says which extra brings it.

What it needs loads inside `main`, where Ctrl-C is already watched for.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from agent.interrupts import no_traceback


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `nardy-train` and give its exit code.

    Args:
        arguments: the command line without the program's name; None takes the process's own.
    """
    with no_traceback(is_last=arguments is None):
        from agent.cli_run import EXIT_BAD_INPUT, error_line

        try:
            from training.cli import main as run
        except ModuleNotFoundError as error:
            text = error_line(error)
            if text is None:
                raise
            print(f"nardy-train: {text}", file=sys.stderr)
            return EXIT_BAD_INPUT
        return run(arguments)
