"""The plain tools of every agent, and the registry in which all apps offer theirs.

Importing the package offers them; Django does so at its start (`autodiscover_modules("tools")`).
"""

from agents.tools import clock

__all__ = ["clock"]
