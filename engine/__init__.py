"""Rules and speed: boards, dice and legal plays of long and short nardy."""

from engine.movegen import legal_afterstates
from engine.rules import RULES, Rules, get_rules

__all__ = ["RULES", "Rules", "get_rules", "legal_afterstates"]
