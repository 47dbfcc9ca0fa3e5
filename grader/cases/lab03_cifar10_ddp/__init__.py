"""Hidden cases of lab 03."""
