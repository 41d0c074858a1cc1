"""Plain Python: what a turn is made of, with no Django, Celery or Channels in sight."""
