"""Cases of the strategies over devices."""

from distlab.exercises.exercise import Case


def over(seed, logical, *devices):
    return Case(1, seed, {"logical": logical, "devices": list(devices)})


DEVICES = (
    over(101, 1, "CPU:0"),
    over(102, 4, "CPU:3", "CPU:1", "CPU:2"),
    over(103, 5, "CPU:0", "CPU:1", "CPU:2", "CPU:3"),
)
