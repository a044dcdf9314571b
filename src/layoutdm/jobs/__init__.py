"""Large jobs: layouts made into a folder, journalled as they come, continued after any end.

    job = Job.of(model, {"elements": [{"label": "Toolbar"}], "more": True}, count=100_000)
    outcome = run(job, Path("out"), make=maker(model, job), resume=True)

A folder belongs to one job. It holds `job.json` (the job as a value), `layouts.jsonl` (the journal;
`layouts.jsonl.part` until the job is done), `files.txt` (every file that the job wrote; no other
file is ever touched) and the formats asked for.
"""

from layoutdm.jobs.job import Job
from layoutdm.jobs.making import Made, line, made, maker
from layoutdm.jobs.outputs import OUTPUTS, Output
from layoutdm.jobs.run import Outcome, Status, run, status
from layoutdm.jobs.tally import Tally

__all__ = [
    "OUTPUTS",
    "Job",
    "Made",
    "Outcome",
    "Output",
    "Status",
    "Tally",
    "line",
    "made",
    "maker",
    "run",
    "status",
]
