"""Measurements: the platform as `up` starts it, a fake model, and people at their browsers.

`python manage.py bench` runs `python -m qanot_site.bench`, which starts everything in a temporary
home. What is measured, and how, stands in docs/benchmarks.md.
"""
