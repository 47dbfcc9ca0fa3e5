# tries: os._exit while the cell runs
# status: crashed

os._exit(0)
