"""What is done with agents, teams and people: one module a subject."""
