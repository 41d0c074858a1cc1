from django.db import migrations, models


class Migration(migrations.Migration):
    # Written beside 0007, which was there first.
    dependencies = [("memory", "0006_deleted_documents_and_proposals")]

    operations = [
        migrations.AddField(
            model_name="indexversion",
            name="filled_to",
            field=models.BigIntegerField(default=0, editable=False),
        ),
    ]
