#!/usr/bin/env python3
"""e2e_chain.py BIDE: two and three sidecars in a chain, as they come, and an origin
that hangs or is killed for 8 s. The layers must not refuse one another's calls once it
is back. All at the same time; the bounds are those of issue 13, for any machine.
scripts/defaults_real.py plays longer ones."""
import asyncio

import tap
from chain import Chain
from parts import run
from sidecar import BIDE

AWAY_S, AFTER_S = 8, 12
MOST_S = 10


async def all_at_once(kinds):
    return await asyncio.gather(*(
        Chain(BIDE, tiers).play(how, 2, AWAY_S, AFTER_S) for tiers, how in kinds))


def chains():
    kinds = [(tiers, how) for tiers in (2, 3) for how in ("stop", "kill")]
    for (tiers, how), got in zip(kinds, asyncio.run(all_at_once(kinds))):
        what = f"{tiers} sidecars, {how}"
        tap.case(f"{what}: all goes well before", got["failed_before"] == 0, got)
        tap.case(f"{what}: nothing is refused long after", got["first_s"] < MOST_S
                 and got["refused_s"] < MOST_S, got)


run(chains)
