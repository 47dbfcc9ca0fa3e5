"""Makers of pages that take too much, for the process that makes pages."""

import os


def fine(said="", why=""):
    return f"<p>{said} {why}</p>"


def without_end(why=""):
    while True:
        pass


def slow_in_colours(why=""):
    return why or without_end()


def large(size=0, why=""):
    return "x" * size


def hungry(why=""):
    return str(len(bytearray(1 << 40)))


def failing(why=""):
    raise KeyError("why")


def ending(why=""):
    os._exit(3)
