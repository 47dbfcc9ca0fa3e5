"""Start, feed, limit and measure processes."""
