"""What can go wrong with a backup; each text is for the person who runs the command."""


class BackupError(Exception):
    """A backup cannot be made or restored; the text says why and what to do."""


class NoPrograms(BackupError):
    """There is no pg_dump, pg_restore and psql for this server's version."""


class NotEmpty(BackupError):
    """The database to restore into has rows."""


class InUse(BackupError):
    """The platform runs on the database to restore into."""


class NotABackup(BackupError):
    """The file is no archive of ours, is damaged, or is of a newer Qanot."""


class Differs(BackupError):
    """The restored rows or files are not those of the backup."""
