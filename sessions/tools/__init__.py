"""Tools about the conversation and about who talks in it.

Importing the package offers them; Django does so at its start (`autodiscover_modules("tools")`).
"""

from sessions.tools import files, persona, rag, recalled, status

__all__ = ["files", "persona", "rag", "recalled", "status"]
