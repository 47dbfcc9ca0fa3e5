"""Cases of the strategies over devices."""

from distlab.exercises.exercise import Case


def over(seed, logical, *devices):
    return Case(1, seed, {"logical": logical, "devices": list(devices)})


DEVICES = (
    over(101, 1, "CPU:0"),
    over(102, 4, "/cpu:3", "/cpu:1", "/cpu:2"),
    over(103, 5, "/device:CPU:0", "/device:CPU:1", "/device:CPU:2", "/device:CPU:3"),
)
