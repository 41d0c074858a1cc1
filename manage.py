#!/usr/bin/env python3
"""Start here: `python3 manage.py up`, `python3 manage.py test`, and every Django command.

This file is read by whichever Python is there, so it uses no new syntax.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - this check is for the Pythons that ruff rules out
    sys.exit(
        "Qanot needs Python 3.11 or newer; this is Python %d.%d. "  # noqa: UP031
        "Install a newer one and start with it, for example: python3.11 manage.py up"
        % sys.version_info[:2]
    )

from qanot_site import bootstrap

if __name__ == "__main__":
    bootstrap.main(sys.argv)
