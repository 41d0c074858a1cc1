from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('agents', '0005_login_links_made_by'),
    ]

    operations = [
        migrations.AddField(
            model_name='agent',
            name='managed_mark',
            field=models.JSONField(blank=True, editable=False, null=True, verbose_name='as the file was applied'),
        ),
        migrations.AddField(
            model_name='provideraccount',
            name='managed_mark',
            field=models.JSONField(blank=True, editable=False, null=True, verbose_name='as the file was applied'),
        ),
    ]
