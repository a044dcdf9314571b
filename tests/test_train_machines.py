"""Training on two machines: network namespaces with their own addresses, one cut off and back."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from layoutdm.train.reporter import read_metrics
from training_samples import write_dataset

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("ip") is None or os.geteuid() != 0,
        reason="network namespaces need root and the program ip",
    ),
]
STEPS = 10
SMALL = ["--steps", str(STEPS), "--preset", "tiny", "--bins", "uniform", "--threads", "1",
         "--precision", "fp32", "--set", "network.width=32",
         "--set", "budget.checkpoint_minutes=0.02"]  # fmt: skip


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Machines:
    """Two namespaces and the cable between them."""

    def __init__(self) -> None:
        self.names = [f"ldm{os.getpid()}{end}" for end in "ab"]
        self.cables = [f"ld{os.getpid() % 100_000}{end}" for end in "ab"]
        self.port = 20_000 + os.getpid() % 20_000

    def start(self) -> None:
        ip("link", "add", self.cables[0], "type", "veth", "peer", "name", self.cables[1])
        for number, (name, cable) in enumerate(zip(self.names, self.cables, strict=True), 1):
            ip("netns", "add", name)
            ip("link", "set", cable, "netns", name)
            ip("-n", name, "addr", "add", f"10.77.0.{number}/24", "dev", cable)
            ip("-n", name, "link", "set", cable, "up")
            ip("-n", name, "link", "set", "lo", "up")

    def stop(self) -> None:
        self.kill()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
        subprocess.run(["ip", "link", "del", self.cables[0]], capture_output=True, check=False)

    def kill(self) -> None:
        """End every process of both machines, as a power cut does, and wait until they are gone.

        The process group of torchrun is not enough: it starts its workers in sessions of their own,
        and a worker that is left goes on training and holds the lock of the folder.
        """
        for _ in range(1200):
            left = [pid for name in self.names for pid in self.processes(name)]
            if not left:
                return
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)
        raise AssertionError(f"processes that do not end: {left}")

    def processes(self, name: str) -> list[int]:
        found = subprocess.run(["ip", "netns", "pids", name], capture_output=True, check=False)
        return [int(pid) for pid in found.stdout.split()]

    def cable(self, state: str) -> None:
        ip("-n", self.names[1], "link", "set", self.cables[1], state)

    def train(self, data: Path, out: Path, *more: str) -> list[subprocess.Popen[str]]:
        """What docs/cluster.md says, on both machines."""
        self.port += 1  # sockets of a start that was killed may linger
        return [
            subprocess.Popen(
                ["ip", "netns", "exec", name, sys.executable, "-m", "torch.distributed.run",
                 "--nnodes", "2", "--nproc-per-node", "1", "--node-rank", str(rank),
                 "--master-addr", "10.77.0.1", "--master-port", str(self.port),
                 "-m", "layoutdm", "train", str(data), "--out", str(out), *more],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                start_new_session=True,
                env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": cable},
            )
            for rank, (name, cable) in enumerate(zip(self.names, self.cables, strict=True))
        ]  # fmt: skip


@pytest.fixture
def machines() -> Iterator[Machines]:
    found = Machines()
    try:
        found.start()
    except subprocess.CalledProcessError as error:
        found.stop()
        pytest.skip(f"no network namespaces here: {error.stderr}")
    yield found
    found.stop()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_dataset(tmp_path_factory.mktemp("data"), train=64, val=16)


@pytest.fixture(scope="module")
def alone(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("alone") / "model"
    command = [sys.executable, "-m", "layoutdm", "train", str(data), "--out", str(out), *SMALL]
    subprocess.run(command, check=True, capture_output=True)
    return out


def wait_for_checkpoint(out: Path, processes: list[subprocess.Popen[str]]) -> None:
    for _ in range(24_000):  # twenty minutes: the machine may be busy
        if list((out / "run").glob("checkpoint-*.json")):
            return
        assert all(process.poll() is None for process in processes)
        time.sleep(0.05)
    raise AssertionError("no checkpoint came")


def finish(processes: list[subprocess.Popen[str]]) -> None:
    errors = [process.communicate(timeout=1200)[1] for process in processes]
    codes = [process.returncode for process in processes]
    assert codes == [0, 0], "\n".join(error[-4000:] for error in errors)


def same_curves(out: Path, alone: Path) -> None:
    ours, theirs = (read_metrics(path / "run" / "metrics.jsonl") for path in (out, alone))
    last = [[row for row in rows if row["kind"] != "train"][-1] for rows in (ours, theirs)]
    assert last[0]["step"] == last[1]["step"] == STEPS
    assert last[0]["bound"] == pytest.approx(last[1]["bound"], rel=1e-3)


def test_a_machine_that_is_cut_off_for_seconds_goes_on(
    machines: Machines, data: Path, alone: Path, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    processes = machines.train(data, out, *SMALL)
    wait_for_checkpoint(out, processes)
    machines.cable("down")
    time.sleep(3)
    machines.cable("up")
    finish(processes)
    same_curves(out, alone)


def test_a_machine_that_died_is_started_again(
    machines: Machines, data: Path, alone: Path, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    processes = machines.train(data, out, *SMALL)
    wait_for_checkpoint(out, processes)
    machines.cable("down")  # cut off for good: both are ended and started anew
    machines.kill()
    for process in processes:
        process.communicate()
    machines.cable("up")
    finish(machines.train(data, out, "--resume"))
    same_curves(out, alone)
