"""What a user's program makes of answers that nobody expects."""

import hashlib

import httpx
import pytest
from served import COURSE, LAB

from distlab.exchange.client import Client, ExchangeFailed
from distlab.exchange.manifest import File, Manifest


def client(answer):
    """A client whose requests `answer` answers."""
    return Client("http://hub/services/exchange", "token", 0.0, None, httpx.MockTransport(answer))


@pytest.mark.parametrize("content", [{}, [], None, 3, "labs", {"labs": None}, {"labs": {}}])
@pytest.mark.parametrize("ask", ["labs", "submissions", "own_inputs", "second_looks", "lab"])
def test_json_that_is_no_exchanges_answer_is_one_sentence(ask, content):
    """The address leads to something else."""
    about = {"lab": [COURSE, LAB], "own_inputs": [COURSE], "second_looks": [COURSE]}.get(ask, [])
    asked = client(lambda request: httpx.Response(200, json=content))
    with asked, pytest.raises(ExchangeFailed):
        getattr(asked, ask)(*about)


def test_a_file_that_is_cut_while_it_is_sent_is_not_waited_for(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"0123456789")
    digest = hashlib.sha256(b"0123456789").hexdigest()
    pieces = []

    def answer(request):
        if request.method != "PATCH":
            return httpx.Response(202, json={"missing": {digest: 0}})
        pieces.append(request.content)
        path.write_bytes(b"01")
        return httpx.Response(200, json={"offset": 4})

    files = Manifest((File("a", 10, digest),))
    with client(answer) as asked, pytest.raises(ExchangeFailed, match="change while they are sent"):
        asked.hand_in(COURSE, LAB, tmp_path, files, "ab" * 16)
    assert b"" not in pieces


def test_a_download_that_is_cut_off_again_and_again_goes_on(tmp_path):
    """Patience is for failures in a row: all of a large file may take longer."""
    content = b"0123456789"

    def two_bytes(begin):
        yield content[begin : begin + 2]
        raise httpx.ReadError("cut off")

    def answer(request):
        begin = int(request.headers["Range"].removeprefix("bytes=").removesuffix("-"))
        return httpx.Response(206, content=two_bytes(begin))

    with client(answer) as asked:
        digest = hashlib.sha256(content).hexdigest()
        asked.fetch(("labs", COURSE, LAB), digest, 10, tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == content


def test_a_download_of_which_nothing_comes_is_given_up(tmp_path):
    asked = client(lambda _: httpx.Response(206, content=iter(())))
    with asked, pytest.raises(ExchangeFailed):
        asked.fetch(("labs", COURSE, LAB), "ab" * 32, 10, tmp_path / "a")
