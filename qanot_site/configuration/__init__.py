"""A team's set-up in one file that people review: read, compared, applied, exported."""
