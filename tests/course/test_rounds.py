"""What depends on the clock is repeated with longer times before it is called wrong."""

from distlab.course.lab09_when_it_breaks import rounds


def held(*rounds_found):
    """A `hold` that finds these (met, lag) one after the other, and the factors it was given."""
    factors = []
    left = list(rounds_found)

    def hold(factor):
        factors.append(factor)
        met, lag = left.pop(0)
        return len(factors), met, lag

    return hold, factors


def test_what_is_met_at_once_is_not_repeated():
    hold, factors = held((True, 0.0))
    assert rounds.until_met(hold) == 1
    assert factors == [1.0]


def test_what_fails_once_is_repeated_with_longer_times():
    hold, factors = held((False, 0.0), (True, 0.0))
    assert rounds.until_met(hold) == 2
    assert factors == [1.0, rounds.LONGER]


def test_what_fails_twice_on_a_quiet_machine_is_wrong():
    hold, factors = held((False, 0.5), (False, 0.0))
    assert rounds.until_met(hold) == 2
    assert len(factors) == 2


def test_a_round_on_a_busy_machine_proves_nothing():
    hold, factors = held((False, 1.0), (False, 1.0), (True, 1.0))
    assert rounds.until_met(hold) == 3
    assert factors == [1.0, rounds.LONGER, rounds.LONGER**2]


def test_a_machine_that_stays_busy_is_not_waited_for_forever():
    hold, factors = held(*[(False, 1.0)] * rounds.MOST)
    assert rounds.until_met(hold) == rounds.MOST
