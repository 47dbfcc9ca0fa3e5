"""Ranks and programs as jobs of a Slurm cluster."""
