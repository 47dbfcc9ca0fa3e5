# tries: an endless loop in an exercise of lab 02
# lab: 02-toy-model
# exercise: average_gradients
# status: timeout

def average_gradients(*arguments):
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass
