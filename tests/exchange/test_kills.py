"""The service is killed at moments that nobody has chosen, while a class hands in; and its disk is
full.
"""

import os
import random
import secrets
import shutil
import subprocess
import threading
import time

import pytest
from served import COURSE, LAB, Hub, Service, folder_of

from distlab.exchange import manifest as manifests
from distlab.exchange.client import ExchangeFailed
from distlab.exchange.store import own_files

pytest.importorskip("jupyterhub", reason="the Hub is not installed: pip install jupyterhub")
pytestmark = pytest.mark.slow  # services are started again and again
KILLS, STUDENTS = 8, ("ada", "ben", "cleo")


@pytest.mark.long
def test_at_whatever_moment_the_service_is_killed_all_is_there_or_nothing(tmp_path):
    random.seed(20261123)
    told, problems, over, enough = [], [], threading.Event(), threading.Event()
    with Hub() as hub, Service(hub, tmp_path / "exchange", ["--reserve=0"]) as service:
        lab = folder_of(tmp_path / "lab", a_ipynb="{}")
        with service.client("lecturer") as client:
            client.release(COURSE, LAB, lab, manifests.of_folder(lab))

        def hand_in(who):
            for number in range(1000):
                if over.is_set():
                    return
                folder = tmp_path / f"{who}-{number}"
                folder_of(folder, a_ipynb=f"{who} {number}", b__data=secrets.token_bytes(2_000_000))
                files = manifests.of_folder(folder)
                try:
                    # a start takes long on a busy machine, and the client asks every few seconds
                    with service.client(who, patience=600) as client:
                        made = client.hand_in(COURSE, LAB, folder, files, secrets.token_hex(16))
                    told.append((made["name"], files))
                    if len(told) >= KILLS:
                        enough.set()
                except ExchangeFailed as error:
                    problems.append(str(error))
                    enough.set()
                shutil.rmtree(folder)

        threads = [threading.Thread(target=hand_in, args=[who]) for who in STUDENTS]
        for thread in threads:
            thread.start()
        for _ in range(KILLS):
            time.sleep(random.uniform(0.05, 0.6))  # the moment is what is tried out
            service.kill()
            service.start()
        enough.wait(60)  # on a busy machine few are through between two kills
        over.set()
        for thread in threads:
            thread.join(90)
        inbound = service.root / COURSE / "inbound"
        acknowledged = dict(told)
        assert not problems
        assert len(told) >= KILLS
        assert set(acknowledged) == {path.name for path in inbound.iterdir()}
        for name, files in told:
            assert own_files(manifests.of_folder(inbound / name)) == files
            assert (inbound / name / "timestamp.txt").read_text() == name.split("+")[2]
            assert len((inbound / name / "submission_secret.txt").read_text()) == 128
        assert not list((service.root / ".begun").rglob("new-*"))
        assert "Traceback" not in service.log


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_full_disk_is_one_sentence_and_what_was_handed_in_stays(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)], check=True)
    try:
        with Hub() as hub, Service(hub, disk / "exchange", ["--reserve=0"]) as service:
            lab = folder_of(tmp_path / "lab", a_ipynb="{}")
            large = folder_of(tmp_path / "large", a_ipynb="{}", data=b"x" * 5_000_000)
            files = manifests.of_folder(lab)
            with service.client("lecturer") as client:
                client.release(COURSE, LAB, lab, files)
            with service.client("ada", patience=1) as client:
                made = client.hand_in(COURSE, LAB, lab, files, "1" * 32)
                with pytest.raises(ExchangeFailed, match="disk is full.*tell your instructor"):
                    client.hand_in(COURSE, LAB, large, manifests.of_folder(large), "2" * 32)
                assert [one["name"] for one in client.submissions()] == [made["name"]]
            filler = disk / "filler"
            with pytest.raises(OSError), filler.open("wb") as file:
                file.write(b"x" * 5_000_000)
            with service.client("ben", patience=1) as client, pytest.raises(ExchangeFailed):
                client.hand_in(COURSE, LAB, lab, files, "3" * 32)
            filler.unlink()
            with service.client("ben") as client:
                assert client.hand_in(COURSE, LAB, lab, files, "3" * 32)["student"] == "ben"
            assert "Traceback" not in service.log
    finally:
        subprocess.run(["umount", str(disk)], check=True)
