"""All that is to be shown on a GPU, in one command: `make gpu`, docs/gpu.md.

`runner` starts each step as a process of its own, with a time limit; `steps` holds what these
processes do; `wheels` installs what a machine without a network lacks; `page` writes the results.
All but the steps need only Python's standard library, since they run before anything else is there.
"""
