"""Hidden cases of lab 02."""
