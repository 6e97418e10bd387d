"""Every policy has a choice worked by hand on four nodes, and a tie."""

from __future__ import annotations

import test_choices_blind_to_load as blind_to_load
import test_choices_by_data as by_data
import test_choices_by_gain as by_gain
import test_choices_by_probes_and_notices as by_probes_and_notices
import test_choices_by_score_or_class as by_score_or_class
import test_choices_of_batch_systems as of_batch_systems
import test_choices_of_least_load as of_least_load
import test_choices_of_memory_centric_sharing as of_memory_centric_sharing
import test_choices_that_move as that_move
import test_choices_that_wait as that_wait
import test_contract_net as contract_net
import test_low_load as low_load
from four_nodes import without_a_case

from cluster_abm.policies import available

FAMILIES = (
    blind_to_load, of_least_load, by_gain, by_score_or_class, by_data, by_probes_and_notices, that_wait,
    of_batch_systems, that_move, of_memory_centric_sharing, contract_net,
    low_load,
)  # fmt: skip
# Where tests of their own have what is decided, not a case.
BY_TESTS = {"prequal", "pooled", "random"}
# Where there is no tie, and why.
NO_TIE = {
    "none": "every task starts at home",
    "no-ls": "every task starts at home",
    "no-ls-blocking": "a job starts at its home or waits",
}


def test_every_policy_has_a_choice_and_a_tie_worked_by_hand():
    cases = [case for family in FAMILIES for case in family.CASES]
    assert without_a_case(set(available()) - BY_TESTS, cases, NO_TIE) == set()
    assert {*NO_TIE, *BY_TESTS} <= set(available())
