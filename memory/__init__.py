"""What an agent keeps: facts before every answer, daily notes, MEMORY.md, search."""
