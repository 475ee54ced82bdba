"""Rules and speed: boards, dice and legal plays of long and short nardy."""

from engine.kernel_cache import use_kernel_cache

use_kernel_cache()  # before the first kernel is imported

from engine.movegen import legal_afterstates  # noqa: E402
from engine.rules import RULES, Rules, get_rules  # noqa: E402

__all__ = ["RULES", "Rules", "get_rules", "legal_afterstates"]
