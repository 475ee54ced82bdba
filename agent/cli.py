"""The command `nardy`. What it needs loads inside `main`, where Ctrl-C is already watched for."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from agent.interrupts import no_traceback


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `nardy` and give its exit code.

    Args:
        arguments: the command line without the program's name; None takes the process's own.
    """
    with no_traceback(is_last=arguments is None):
        from agent.cli_app import app
        from agent.cli_run import run

        return run(app, "nardy", arguments)


if __name__ == "__main__":
    sys.exit(main())
