"""How fast a contact writes, whether they left, and a way to let go of what was overheard."""

from typing import ClassVar

import django.contrib.postgres.fields
from django.db import migrations, models

# The application may not delete contents; those of overheard messages live for a day only, and
# belong to nothing else.
CREATE = """
CREATE FUNCTION qanot_forget_overheard(
    of_account bigint, of_chat bigint, since timestamptz, keep integer
) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    texts bigint[];
BEGIN
    WITH gone AS (
        DELETE FROM bot_sessions_overheardmessage o
        WHERE o.id IN (
            SELECT ranked.id FROM (
                SELECT id, said_at, row_number() OVER (
                    PARTITION BY account_id, chat_id ORDER BY said_at DESC, id DESC) AS place
                FROM bot_sessions_overheardmessage
                WHERE (of_account IS NULL OR account_id = of_account)
                  AND (of_chat IS NULL OR chat_id = of_chat)
            ) ranked WHERE ranked.said_at <= since OR ranked.place > keep)
        RETURNING o.content_id
    )
    SELECT coalesce(array_agg(content_id), '{}') INTO texts FROM gone;
    DELETE FROM bot_sessions_content WHERE id = ANY(texts);
    RETURN cardinality(texts);
END $$
"""


class Migration(migrations.Migration):
    """Add the columns and the function."""

    dependencies: ClassVar = [("bot_sessions", "0005_accounts_of_sends")]

    operations: ClassVar = [
        migrations.AddField(
            "channelcontact",
            "recent_at",
            django.contrib.postgres.fields.ArrayField(
                models.DateTimeField(), default=list, editable=False
            ),
        ),
        migrations.AddField(
            "channelcontact",
            "left_at",
            models.DateTimeField("left at", null=True, editable=False),
        ),
        migrations.RunSQL(
            CREATE,
            "DROP FUNCTION qanot_forget_overheard(bigint, bigint, timestamptz, integer)",
        ),
    ]
