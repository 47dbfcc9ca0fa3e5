# tries: a problem of type and message with control characters, from a cell
# status: passed

import json

problem = {"status": "passed", "type": "\u001b[31m", "message": "\ud800 </pre><script>alert(1)</script>"}
head = json.dumps([[], {"problem": problem}])
data = len(head).to_bytes(8, "little") + head.encode()
os.write(judges_socket(), len(data).to_bytes(8, "little") + data)
time.sleep(3)


def relay(rank, size, tensor):
    return right_relay(rank, size, tensor)
