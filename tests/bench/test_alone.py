"""Seconds until a command has printed a line."""

import pytest

from bench.alone import Command


def test_a_line_is_seen_when_it_is_printed_and_a_command_that_ends_without_is_told(tmp_path):
    with Command(tmp_path, "--version") as command:
        assert 0.0 < command.seconds("distlab", ".") < 60.0
        assert command.said[-1].startswith("distlab ")
        with pytest.raises(RuntimeError, match="no line has"):
            command.seconds("points")
