# tries: an exception with a line of infinity, no frames and a text of lone surrogates
# status: crashed

import json


def forged(tree):
    head = json.dumps([[0], tree]).encode()
    data = len(head).to_bytes(8, "little") + head
    os.write(judges_socket(), len(data).to_bytes(8, "little") + data)
    time.sleep(10)


def relay(rank, size, tensor):
    frame = {"function": "\ud800<b>", "line": float("inf"), "file": "f", "text": "\udfff"}
    error = {"type": "X\ud800", "message": "\ud800 \u001b[31m <script>", "frames": [frame]}
    forged({"status": "raised", "error": error, "seconds": 1e400, "overwritten": 0})
