"""One audited function takes a person out of tables that the application may only add to.

It empties the versions of their USER.md, and in the audit log the names of those whom a row speaks
of; who did what and when stays. The tables are those of the app below, and so is their owner.
"""

from typing import ClassVar

from django.db import migrations

CREATE = """
CREATE FUNCTION qanot_erase_person(
    people bigint[], subjects text[], names text[], actor text, reason text
) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    touched bigint;
    versions bigint;
BEGIN
    UPDATE agents_agentdocumentversion SET text = '', reason = ''
        WHERE document_id IN (
            SELECT id FROM agents_agentdocument WHERE name = 'USER.md' AND person_id = ANY(people)
        ) AND (text <> '' OR agents_agentdocumentversion.reason <> '');
    GET DIAGNOSTICS versions = ROW_COUNT;
    UPDATE agents_auditevent e SET changes = NULL, reason = ''
        WHERE (e.subject = ANY(subjects)
            AND e.action NOT IN ('person.erased', 'person.records_erased', 'content.erase')
            AND split_part(e.subject, ':', 1) NOT IN ('agent', 'team', 'account', 'user')
            AND (e.changes IS NOT NULL OR e.reason <> ''))
        OR EXISTS (SELECT FROM unnest(people) AS p(id)
            WHERE e.changes::text LIKE '%(person:' || p.id || ')%');
    UPDATE agents_auditevent e SET actor = 'person:' || people[1]
        WHERE e.actor = ANY(names) AND e.actor ~ '^[0-9]+$';
    SELECT versions INTO touched;
    INSERT INTO agents_auditevent (team_id, actor, action, subject, reason, created_at)
        SELECT team_id, qanot_erase_person.actor, 'person.records_erased', 'person:' || id,
            qanot_erase_person.reason, now()
        FROM agents_person WHERE id = people[1];
    RETURN touched;
END $$
"""


class Migration(migrations.Migration):
    """Create the function."""

    dependencies: ClassVar = [
        ("memory", "0008_documents"),
        ("agents", "0008_pictures"),
    ]

    operations: ClassVar = [
        migrations.RunSQL(
            CREATE, "DROP FUNCTION qanot_erase_person(bigint[], text[], text[], text, text)"
        ),
    ]
