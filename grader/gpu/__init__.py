"""Everything that a GPU has to show, in one command: `make gpu`, docs/gpu.md.

`runner` starts each step as a process of its own, with a limit; `steps` are what these processes
do; `wheels` brings what a machine without a network lacks; `page` writes what came out. All but the
steps need Python's standard library alone, since they run before anything else is there.
"""
