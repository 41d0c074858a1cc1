"""What is wrong or will be soon, with the fix: read by `manage.py doctor` and its page.

Importing the package registers the checks.
"""

from qanot_site.findings import bots, database, files, lengths, machine, models, processes

__all__ = ["bots", "database", "files", "lengths", "machine", "models", "processes"]
