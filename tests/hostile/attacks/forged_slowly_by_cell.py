# tries: an answer of which a byte arrives every now and then, from a cell
# status: timeout

judge = judges_socket()
os.write(judge, (1000).to_bytes(8, "little"))
for _ in range(600):
    os.write(judge, b"x")
    time.sleep(0.5)
