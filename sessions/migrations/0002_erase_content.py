"""One audited function blanks content, since the application itself may not."""

from typing import ClassVar

from django.db import migrations

CREATE = """
CREATE FUNCTION qanot_erase_content(content bigint, actor text, reason text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    owner_team bigint;
BEGIN
    UPDATE bot_sessions_content SET text = '', erased_at = now()
        WHERE id = content AND erased_at IS NULL
        RETURNING team_id INTO owner_team;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO agents_auditevent (team_id, actor, action, subject, reason, created_at)
        VALUES (owner_team, actor, 'content.erase', 'content:' || content, reason, now());
    RETURN true;
END $$
"""


class Migration(migrations.Migration):
    """Create the function."""

    dependencies: ClassVar = [("bot_sessions", "0001_first_rows"), ("agents", "0001_first_rows")]

    operations: ClassVar = [
        migrations.RunSQL(
            CREATE, "DROP FUNCTION qanot_erase_content(bigint, text, text)"
        ),
    ]
