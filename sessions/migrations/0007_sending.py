"""Which worker sends a row, and the message in which a running turn shows its answer."""

from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """Add the columns and the index of a chat's unsent rows."""

    dependencies: ClassVar = [("bot_sessions", "0006_receiving")]

    operations: ClassVar = [
        migrations.AddField(
            "outgoing",
            "sent_by",
            models.BigIntegerField(null=True, editable=False),
        ),
        migrations.AddField(
            "turn",
            "shown_in",
            models.CharField(max_length=64, blank=True, default="", db_default="", editable=False),
        ),
        migrations.AddIndex(
            "outgoing",
            models.Index(
                fields=["account", "peer", "id"],
                name="outgoing_unsent_of_chat",
                condition=models.Q(state__in=["queued", "sending"]),
            ),
        ),
    ]
