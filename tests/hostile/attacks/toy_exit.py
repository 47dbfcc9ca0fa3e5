# tries: os._exit in an exercise of lab 02
# lab: 02-toy-model
# exercise: demo_basic
# status: crashed

def demo_basic(*arguments):
    os._exit(0)
