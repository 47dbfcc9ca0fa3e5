"""What the processes of `make gpu` do. Each writes its result as JSON where its last word says.

`settings` tells what they share: the device, and whether all is small because there is no GPU.
"""
