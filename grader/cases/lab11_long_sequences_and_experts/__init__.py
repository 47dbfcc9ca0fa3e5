"""Hidden cases of lab 11.

Every world size, three beside two (a ring that turns the wrong way is right with two), rows without
keys, scores whose exponentials overflow, blocks of megabytes, ranks without tokens, experts that
nobody chose, and the same shapes twice in a row.
"""
