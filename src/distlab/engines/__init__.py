"""Start ranks and run a function on them."""
