"""The name under which a release serves its static files.

It stands in their addresses, so browsers may keep a file for good, and after an upgrade a page
never mixes its scripts with those of the release before.
"""

import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import Final

# Packages whose own static files are served.
PACKAGES: Final = ("django", "django-ninja", "django-unfold")


def digest_of(folder: Path) -> str:
    """Return a short name of what a folder's files and the packages hold; other files, other name.

    Standard library only: the settings use it.
    """
    digest = hashlib.sha256()
    for package in PACKAGES:
        digest.update(f"{package}={version(package)}\n".encode())
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            digest.update(f"{file.relative_to(folder)}\n".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
