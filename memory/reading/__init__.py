"""Reading uploaded files: texts with their places, made by a process that can do nothing else."""
