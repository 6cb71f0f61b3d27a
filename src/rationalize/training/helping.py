"""Help another process to train, in a process that a launcher started beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize.interrupts import leave_signals_to_others
from rationalize.processes import join_group

if TYPE_CHECKING:
    from rationalize.training._orders import Done


def help_training() -> Done:
    """Follow process 0 until it is done; return its last order, which has its result or what went wrong.

    Raises:
        TrainingError: If process 0 is gone.
    """
    from rationalize.training._helper import Helper

    group = join_group()
    assert group is not None  # only for processes that were launched with others
    with leave_signals_to_others():  # process 0 decides when a step is saved and all end
        return Helper(group).follow_all()
