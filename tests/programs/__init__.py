"""Programs for ranks to run: ones that hang, and ones that are right and only slow."""
