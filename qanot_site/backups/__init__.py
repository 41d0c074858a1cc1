"""Backups: one archive with the database, the files and, where asked for, the secret key.

`making` writes an archive, `restoring` puts one back, `before_migrating` keeps a plain dump of a
database that is about to change. Each table's row count and content hash are taken in the dump's
own snapshot, and taken again after a restore.
"""
