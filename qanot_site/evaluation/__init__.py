"""Figures of what memory finds, measured on files in a database that is thrown away."""
