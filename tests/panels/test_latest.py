"""Work that only matters in its newest form: who does it, and that the last request is always done."""

import threading

from expandlab.panels.latest import Latest


def test_quick_work_is_done_by_whoever_asks_and_other_work_is_not():
    done = []
    quick = Latest(lambda: done.append(threading.current_thread()), inline=60.0)
    quick.ask()
    assert quick.wait(10) and done[0] is not threading.current_thread(), "how long it takes is not known yet"
    quick.ask()
    assert done[1] is threading.current_thread()
    quick.ask(apart=True)
    assert quick.wait(10) and done[2] is not threading.current_thread()
    done.clear()
    slow = Latest(lambda: done.append(threading.current_thread()))
    for _ in range(2):
        slow.ask()
        assert slow.wait(10)
    assert threading.current_thread() not in done


def test_what_is_asked_for_during_a_run_is_done_after_it():
    seen, state = [], [0]

    def work():
        seen.append(state[0])
        if len(seen) == 2:
            state[0] = 7
            latest.ask()

    latest = Latest(work, inline=60.0)
    for _ in range(2):
        latest.ask()
        assert latest.wait(10)
    assert seen == [0, 0, 7]


def test_a_failing_run_leaves_the_next_one_possible():
    seen = []

    def work():
        seen.append(1)
        if len(seen) == 2:
            raise RuntimeError("no picture")

    latest = Latest(work, inline=60.0)
    latest.ask()
    assert latest.wait(10)
    try:
        latest.ask()
    except RuntimeError as error:
        assert str(error) == "no picture"
    latest.ask()
    assert latest.wait(10) and len(seen) == 3
