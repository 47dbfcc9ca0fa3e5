# tries: a cell that never ends
# status: timeout

while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
