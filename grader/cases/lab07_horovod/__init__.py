"""Hidden cases of lab 07."""
