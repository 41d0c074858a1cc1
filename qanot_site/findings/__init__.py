"""What is wrong or will be soon, with the fix: read by `manage.py doctor`.

Importing the package registers the checks.
"""

from qanot_site.findings import lengths, models

__all__ = ["lengths", "models"]
