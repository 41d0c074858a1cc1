"""Until now only superusers could add accounts, so those may reach what superusers may."""

from django.db import migrations
from django.db.models import Case, Value, When


def mark(apps, schema_editor):
    accounts = apps.get_model("agents", "ProviderAccount").objects
    accounts.using(schema_editor.connection.alias).update(
        may_reach_private=True,
        preset=Case(
            When(kind="anthropic", base_url="", then=Value("anthropic")),
            When(kind="openai", base_url="", then=Value("openai")),
            default=Value("compatible"),
        ),
    )


class Migration(migrations.Migration):
    dependencies = [("agents", "0002_first_hour")]
    operations = [migrations.RunPython(mark, migrations.RunPython.noop)]
