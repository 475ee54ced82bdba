"""`nardy arena` as a script."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agent.cli import main

sys.exit(main(["arena", *sys.argv[1:]]))
