"""Hosts that share journals in PostgreSQL, faults, and an audit: see Scripts/many-machines."""
