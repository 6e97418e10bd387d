"""Errors of wrong input: each problem once, several checks at once, and pickling between processes."""

from __future__ import annotations

import pickle

import pytest

from cluster_abm.errors import InputError, PolicyFault, gathered


def test_problems_are_listed_once_in_order():
    problem = InputError(["b: wrong", "a: wrong", "b: wrong"])
    assert problem.problems == ["b: wrong", "a: wrong"]
    assert str(problem) == "b: wrong\na: wrong"
    assert InputError("one text is one problem").problems == ["one text is one problem"]


@pytest.mark.parametrize(("given", "said"), [
    ("x = <a.B object at 0x7f00beEF>: no", "x = <a.B object>: no"),
    ("<f at 0x1> and <g at 0x2>", "<f> and <g>"),
    ("the address 0x10 of a user", "the address 0x10 of a user"),
])  # fmt: skip
def test_addresses_of_objects_are_left_out(given, said):
    assert InputError([given]).problems == [said]


@pytest.mark.parametrize("kind", [InputError, PolicyFault])
def test_an_error_is_pickled_with_all_its_problems(kind):
    there = pickle.loads(pickle.dumps(kind(["a\nb", "c"])))
    assert type(there) is kind
    assert there.problems == ["a\nb", "c"]


def test_problems_of_several_blocks_are_raised_at_once():
    done = []

    def check():
        with gathered() as gather:
            for name in ("a", "b"):
                with gather:
                    raise InputError([f"{name}: wrong", f"{name}: worse"])
            with gather:
                done.append("a block without problems")
            done.append("the statement after the blocks")

    with pytest.raises(InputError) as caught:
        check()
    assert caught.value.problems == ["a: wrong", "a: worse", "b: wrong", "b: worse"]
    assert len(done) == 2


def test_blocks_without_problems_raise_nothing():
    with gathered() as gather, gather:
        pass
    assert gather.problems == []


def test_another_error_is_not_gathered():
    with pytest.raises(ZeroDivisionError), gathered() as gather, gather:
        raise ZeroDivisionError
