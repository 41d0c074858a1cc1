"""Where login sessions are kept: Django's table, with the list of log-ins following each key.

Django gives a session another key not only where our pages change a password: its admin does so
too, and every session gets one at its first request after the secret key was replaced.
"""

from django.contrib.sessions.backends import db

from agents.services import logins


class SessionStore(db.SessionStore):
    """A session whose log-in stays listed, and can be ended, under whichever key.

    Attributes:
        keeps_key: Set by who only looks at the session and has no answer to send its browser.
    """

    keeps_key = False

    def cycle_key(self) -> None:
        """Give the session another key; what it holds stays."""
        if self.keeps_key:
            return
        before = self.session_key
        super().cycle_key()
        if before is not None:
            logins.moved(before, str(self.session_key))
