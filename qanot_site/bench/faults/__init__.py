"""`bench faults`: end processes at named points, take Redis away, and look what became of messages.

A kill hangs on the log lines that the product writes anyway. On sight of the line the processes
are frozen, the log is read to its end, and only if that line is the last thing they did are they
killed; else the run is a miss and is repeated.
"""
