"""`from distlab import submit` in a notebook's kernel: live state and log, and the stop button."""

#: run a cell in a kernel, press stop once it shows the given words, and print all that it showed
KERNEL = """
import queue, sys
from jupyter_client.manager import start_new_kernel

source, stop_at = sys.argv[1], sys.argv[2]
manager, client = start_new_kernel()
asked = client.execute(source)
try:
    while True:
        message = client.get_iopub_msg(timeout=200)
        content = message["content"]
        if message["parent_header"].get("msg_id") != asked:
            continue
        if message["msg_type"] == "status" and content["execution_state"] == "idle":
            break
        text = content.get("data", {}).get("text/plain") or content.get("text") or ""
        print(message["msg_type"], repr(text or content.get("evalue", "")), flush=True)
        if stop_at and stop_at in text:
            stop_at = ""
            manager.interrupt_kernel()
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
"""


def shown(desk, source, stop_at=""):
    desk.write("kernel.py", KERNEL)
    done = desk.run("python", "kernel.py", source, stop_at)
    assert done.returncode == 0, done.stderr
    kinds = ("display_data", "update_display_data", "execute_result", "error")
    return [line for line in done.stdout.splitlines() if line.startswith(kinds)]


def test_a_cell_shows_the_state_and_the_log_of_its_job_in_one_output(desk):
    desk.write("x.sbatch", "#!/bin/bash\necho first line\n")
    lines = shown(desk, "from distlab import submit\njob = submit('x.sbatch')\njob.ok")
    assert [line.split(" ")[0] for line in lines[:2]] == ["display_data", "update_display_data"]
    updates = [line for line in lines if line.startswith("update")]
    assert "is done after" in updates[-1] and "first line" in updates[-1]
    assert lines[-1] == "execute_result 'True'"


def test_the_stop_button_cancels_the_job(desk):
    desk.write("x.sbatch", "#!/bin/bash\necho it has begun\nsrun tail -f /dev/null\n")
    lines = shown(desk, "from distlab import submit\nsubmit('x.sbatch')", "it has begun")
    assert "was cancelled" in lines[-1] and "execute_result" in lines[-1]
    assert desk.run("squeue", "-h", "-t", "PENDING,RUNNING").stdout == ""
