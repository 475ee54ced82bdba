"""`nardy-train run` as a script."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from training.cli import main

sys.exit(main(["run", *sys.argv[1:]]))
