"""Every policy has a choice worked by hand on four nodes, and a tie."""

from __future__ import annotations

import test_choices_by_hand_1 as some
import test_choices_by_hand_2 as others
from four_nodes import without_a_case
from test_choices_by_hand_1_waiting import BY_TESTS

from cluster_abm.policies import available


def test_every_policy_has_a_choice_and_a_tie_worked_by_hand():
    policies, no_tie = set(available()), {**some.NO_TIE, **others.NO_TIE}
    assert without_a_case(policies - BY_TESTS, [*some.CASES, *others.CASES], no_tie) == set()
    assert set(no_tie) <= policies
