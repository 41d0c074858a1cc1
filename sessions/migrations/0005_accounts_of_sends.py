"""Every row leaves by an account; those from before left by their session's."""

from typing import ClassVar

from django.db import migrations

FILL = """
    UPDATE bot_sessions_outgoing o SET account_id = s.account_id
    FROM bot_sessions_chatsession s WHERE s.id = o.session_id AND o.account_id IS NULL
"""


class Migration(migrations.Migration):
    """Name the account of each row."""

    dependencies: ClassVar = [("bot_sessions", "0004_telegram")]

    operations: ClassVar = [migrations.RunSQL(FILL, migrations.RunSQL.noop)]
