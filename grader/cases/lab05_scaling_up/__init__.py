"""Hidden cases of lab 05."""
