"""What nbgrader is given in place of its own parts."""
