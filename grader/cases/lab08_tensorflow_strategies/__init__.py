"""Hidden cases of lab 08.

Other devices in another order; every form of Slurm's lists; one replica and four, the same shapes
twice; a worker that is killed, each of the two.
"""
