"""`overadmission`: the proof that a limit holds while workers are killed and leases run out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bench.overadmission.settings import LEASE_MS, LIMIT
from bench.overadmission.trial import Trial, prove
from bench.report import Report, Verdict

if TYPE_CHECKING:
    from bench.report import Row
    from bench.stage import Stage

TITLE = f"over-admission: limit {LIMIT}, leases of {LEASE_MS} ms, a worker killed each second"


def overadmission(stage: Stage) -> Report:
    """Put every server to the proof, one after the other."""
    trials: list[Trial] = []
    for engine in stage.engines:
        with stage.console.status(f"{stage.pairs:,} pairs on {engine.name}"):
            trials.append(asyncio.run(prove(engine, stage.pairs)))
    verdicts = [verdict for trial in trials for verdict in _verdicts(trial, stage.pairs)]
    notes = [note for trial in trials for note in trial.notes]
    return Report(TITLE, [_row(trial) for trial in trials], verdicts, notes)


def _row(trial: Trial) -> Row:
    ledger, watched = trial.ledger, trial.watched
    return {
        "engine": f"{trial.engine.name} {trial.engine.version}",
        "pairs": ledger.pairs,
        "seconds": trial.seconds,
        "pairs/s": ledger.pairs / trial.seconds,
        "bodies longer than a lease": ledger.long,
        "refusals": ledger.refused,
        "workers killed": trial.kills,
        "slots they held inside": len(ledger.orphans),
        "of these held a lease after the end": len(trial.stuck),
        "samples of the live holders": watched.samples,
        "samples at the limit, %": 100 * watched.full / watched.samples,
        "max live holders": watched.peak,
        "max inside the provider": ledger.peak,
        "over-admissions": len(ledger.unexplained),
        "over the limit by a reported loss": len(ledger.excesses) - len(ledger.unexplained),
        "losses reported": len(ledger.lost),
        "workers crashed": trial.crashes,
        "slots missing at the end": trial.missing,
    }


def _verdicts(trial: Trial, pairs: int) -> list[Verdict]:
    name, ledger = trial.engine.name, trial.ledger
    return [
        Verdict(f"{name}: over-admissions", len(ledger.unexplained), 0),
        Verdict(f"{name}: max live holders", trial.watched.peak, LIMIT),
        Verdict(f"{name}: pairs short of {pairs:,}", max(0, pairs - ledger.pairs), 0),
        Verdict(f"{name}: slots stuck or missing", len(trial.stuck) + trial.missing, 0),
        Verdict(f"{name}: workers crashed", trial.crashes, 0),
    ]
