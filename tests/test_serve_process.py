"""The server as a real process: many clients, those that leave, jobs, stops and kills."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import layoutdm
from layoutdm.jobs import journal
from serve_helpers import ENVIRONMENT, MODEL, running
from tiny_models import folder

PATIENCE = 900


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(tmp_path_factory.mktemp("server")) as found:
        yield found


def until(question, patience=PATIENCE):
    end = time.monotonic() + patience
    while time.monotonic() < end:
        answer = question()
        if answer:
            return answer
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


def metric(http, name):
    for line in http.get("/metrics").text.splitlines():
        if line.startswith(name + " "):
            return float(line.rsplit(" ", 1)[1])
    return 0.0


# Starting and stopping -------------------------------------------------------------------------


def run(*arguments):
    line = [sys.executable, "-m", "layoutdm", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, env=ENVIRONMENT, timeout=PATIENCE)


def test_it_says_where_it_is_and_logs_every_request(server):
    assert server.address.startswith("http://127.0.0.1:")
    with server.http() as http:
        id = http.get("/v1/health").headers["x-request-id"]
        http.get("/v1/a%0Aforged%20line")
    until(lambda: "forged" in server.log.read_text())
    text = server.log.read_text()
    assert f"{id} GET /v1/health 200" in text and "\nforged" not in text


@pytest.mark.slow
def test_what_cannot_be_started_is_told_in_a_sentence(server, tmp_path):
    port = server.url.rpartition(":")[2]
    for arguments, words in (
        (["--port", port], "another --port"),
        (["--model", tmp_path], "config.json"),
        (["--limit", "cuont=3"], "did you mean 'count'"),
        (["--limit", "count=many"], "NAME=NUMBER"),
        (["--limit", "count=0"], "from 1"),
        (["--host", "0.0.0.0", "--token", "x"], "token must have"),
    ):
        done = run("serve", "--port", "0", *arguments)
        assert done.returncode == 1 and words in done.stderr, done.stderr
        assert "Traceback" not in done.stderr


def test_without_the_extra_it_says_what_to_install():
    script = (
        "import sys; sys.modules['fastapi'] = None; sys.argv = ['layoutdm', 'serve', '--port', '0']"
        "; from layoutdm.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=ENVIRONMENT
    )
    assert done.returncode == 1 and "layoutdm[serve]" in done.stderr, done.stderr


def test_another_address_prints_a_token_and_needs_it(tmp_path):
    with running(tmp_path, "--host", "0.0.0.0") as found:
        token = found.address.partition("?token=")[2]
        port = found.url.rpartition(":")[2]
        assert len(token) >= 32
        with found.http() as http:
            http.base_url = f"http://127.0.0.1:{port}"
            assert http.get("/v1/health").status_code == 401
            assert http.get("/v1/health", headers={"Authorization": f"Bearer {token}"}).is_success
            assert http.get(f"/?token={token}", follow_redirects=True).status_code == 200
        until(lambda: "GET / 303" in found.log.read_text())
        assert token not in found.log.read_text()


def test_the_studio_is_the_same_process(tmp_path):
    with running(tmp_path, "--no-open", command="studio") as found, found.http() as http:
        assert http.get("/").headers["content-type"].startswith("text/html")
        assert http.get("/v1/health").json()["status"] == "ok"


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_lets_those_at_work_end(tmp_path, how):
    with running(tmp_path) as found, found.http() as http:
        body = {"count": 64, "options": {"steps": 100}}
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(http.post, "/v1/generate", json=body)
            until(lambda: metric(http, "layoutdm_drawing_layouts") > 0)
            code = found.stop(how)
            answer = asked.result(PATIENCE)
        assert answer.status_code == 200 and len(answer.json()["results"]) == 64
        assert code == 0 and "Traceback" not in found.log.read_text()


# Clients -----------------------------------------------------------------------------------------


def test_many_clients_each_get_their_own(server):
    model = layoutdm.load(folder())
    spec = {"elements": [{"label": "Text"}, {"label": "Icon"}], "more": True}

    def ask(seed):
        with server.http() as http:
            body = {"spec": spec, "count": 1 + seed % 3, "seed": seed}
            return http.post("/v1/generate", json=body).json()["results"]

    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(ask, range(48)))
    for seed, results in enumerate(answers):
        alone = model.generate(spec, count=1 + seed % 3, seed=seed)
        assert results == json.loads(json.dumps([result.as_dict() for result in alone]))
    with server.http() as http:
        text = http.get("/metrics").text
    numbers = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    batches = float(numbers[f'layoutdm_batch_layouts_count{{model="{MODEL}"}}'])
    layouts = float(numbers[f'layoutdm_batch_layouts_sum{{model="{MODEL}"}}'])
    assert layouts / batches > 2  # they were drawn together


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
def test_clients_that_leave_free_their_places(tmp_path, accept):
    limits = ["--limit", "waiting=600", "--limit", "count=600", "--limit", "batch=2"]
    with running(tmp_path, *limits) as found, found.http() as http:
        body = json.dumps({"count": 600, "options": {"steps": 100}}).encode()
        port = int(found.url.rpartition(":")[2])
        gone = socket.create_connection(("127.0.0.1", port))
        head = (
            f"POST /v1/generate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Accept: {accept}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        gone.sendall(head.encode() + body)
        until(lambda: metric(http, "layoutdm_queue_layouts") > 300)
        full = http.post("/v1/generate", json={"count": 600})
        assert full.status_code == 429 and 1 <= int(full.headers["retry-after"]) <= 60
        gone.close()
        until(lambda: metric(http, "layoutdm_queue_layouts") == 0)
        assert http.post("/v1/generate", json={"count": 2}).status_code == 200


def test_a_slow_body_is_not_waited_for(tmp_path):
    with running(tmp_path, "--limit", "body_seconds=1") as found:
        port = int(found.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as slow:
            slow.sendall(
                b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
            )
            slow.settimeout(PATIENCE)
            assert b" 408 " in slow.recv(4096)


def received(connection):
    """All that comes until the server closes; a server that never does fails after a minute."""
    parts = []
    while part := connection.recv(4096):
        parts.append(part)
    return b"".join(parts)


def dripped(connection, byte):
    """One byte after another until the server has closed the connection."""
    connection.settimeout(0.1)
    end = time.monotonic() + PATIENCE
    got = b""
    while time.monotonic() < end:
        try:
            connection.sendall(byte)
            part = connection.recv(4096)
            if not part:
                return got
            got += part
        except TimeoutError:
            continue
        except OSError:
            return got  # closed while a byte was under way
    raise AssertionError("the server goes on waiting")


def test_slow_headers_are_not_waited_for(tmp_path):
    """Half a header, one that drips, none at all, and a body that nobody reads."""
    with running(tmp_path, "--limit", "header_seconds=1") as found:
        port = int(found.url.rpartition(":")[2])

        def connected():
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)

        with connected() as half, connected() as silent:
            half.sendall(b"GET /v1/health HTTP/1.1\r\nHost: local")
            answer = received(half)
            assert answer.startswith(b"HTTP/1.1 408 ") and b"within 1 seconds" in answer
            assert received(silent) == b""
        with connected() as slow:
            slow.sendall(b"GET /v1/health HTTP/1.1\r\nX-Slow: ")
            dripped(slow, b"a")  # every byte comes in time, the header never
        with connected() as unread:
            head = (
                b"POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
            )
            unread.sendall(head)
            assert b" 404 " in dripped(unread, b"a")


def test_limits_of_time_are_stated(server):
    with server.http() as http:
        limits = http.get("/v1/health").json()["limits"]
        assert limits["header_seconds"] == 15 and limits["body_seconds"] == 15


def test_too_many_at_once_and_too_slow_drawing_are_told(tmp_path):
    limits = ["--limit", "seconds=1", "--limit", "batch=1", "--limit", "count=4096"]
    with running(tmp_path, *limits, "--limit", "connections=3") as found, found.http() as http:
        answer = http.post("/v1/generate", json={"count": 4096, "options": {"steps": 100}})
        assert answer.status_code == 503 and "within 1 seconds" in answer.text
        assert int(answer.headers["retry-after"]) >= 1
        lines = http.post(
            "/v1/generate",
            json={"count": 4096, "options": {"steps": 100}},
            headers={"Accept": "application/x-ndjson"},
        ).text.splitlines()
        assert "within 1 seconds" in json.loads(lines[-1])["error"]["message"]
        assert all("boxes" in json.loads(line) for line in lines[:-1])
        body = {"count": 4096, "options": {"steps": 100}}
        with ThreadPoolExecutor(8) as pool:
            codes = list(
                pool.map(lambda _: http.post("/v1/generate", json=body).status_code, range(8))
            )
        assert 429 in codes and set(codes) <= {429, 503}


# Jobs --------------------------------------------------------------------------------------------


def order(http, **body):
    answer = http.post("/v1/jobs", json=body)
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/v1/jobs/{answer.json()['id']}"
    return answer.json()["id"]


def ended(http, id):
    def look():
        view = http.get(f"/v1/jobs/{id}").json()
        return view if view["state"] in ("finished", "failed", "cancelled") else None

    return until(look)


def test_a_job_writes_what_the_command_line_writes(server, tmp_path):
    spec = {"elements": [{"label": "Text", "x": 0.5}], "more": True}
    with server.http() as http:
        id = order(http, spec=spec, count=20, seed=4, formats=["jsonl", "coco", "svg"])
        view = ended(http, id)
        assert view["state"] == "finished" and view["done"] == view["count"] == 20
        assert {"layouts.jsonl", "coco.json", "svg/4-0.svg"} <= set(view["files"])
        out = tmp_path / "out"
        (tmp_path / "spec.json").write_text(json.dumps(spec))
        done = run(
            "generate", "--model", folder(), "--spec", tmp_path / "spec.json", "--count", 20,
            "--seed", 4, "--out", out, "--format", "jsonl,coco,svg",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        for name in ("layouts.jsonl", "coco.json", "svg/4-7.svg"):
            file = http.get(f"/v1/jobs/{id}/files/{name}")
            assert file.content == (out / name).read_bytes(), name
            assert "attachment" in file.headers["content-disposition"]
        for name in ("../order.json", "job.json", "nothing", "..%2forder.json", "svg"):
            assert http.get(f"/v1/jobs/{id}/files/{name}").status_code == 404, name
        assert id in [job["id"] for job in http.get("/v1/jobs").json()["jobs"]]
        assert http.delete(f"/v1/jobs/{id}").json()["state"] == "deleted"
        assert http.get(f"/v1/jobs/{id}").status_code == 404


def test_progress_comes_as_events(server):
    with server.http() as http:
        id = order(http, count=150, options={"steps": 20})
        events = []
        with http.stream("GET", f"/v1/jobs/{id}/events") as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            name = None
            for line in stream.iter_lines():
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data: "):
                    events.append((name, json.loads(line[6:])))
        assert [name for name, _ in events[:-1]] == ["progress"] * (len(events) - 1)
        assert events[-1][0] == "end" and events[-1][1]["state"] == "finished"
        done = [view["done"] for _, view in events]
        assert done == sorted(done) and done[-1] == 150


def test_jobs_can_be_cancelled_and_wrong_ones_are_refused(server):
    with server.http() as http:
        first = order(http, count=100_000, options={"steps": 100})
        second = order(http, count=100_000)
        until(lambda: http.get(f"/v1/jobs/{first}").json()["done"] > 0)
        assert http.get(f"/v1/jobs/{first}/files/layouts.jsonl").status_code == 409
        # Clients are served while a job runs.
        assert http.post("/v1/generate", json={"count": 2}).status_code == 200
        for id in (second, first):
            assert http.delete(f"/v1/jobs/{id}").json()["state"] == "cancelled"
            assert http.get(f"/v1/jobs/{id}").json()["state"] == "cancelled"
        answer = http.post("/v1/jobs", json={"count": 10**9, "formats": ["jsonl", "exe"]})
        assert answer.status_code == 422 and "count" in answer.text
        answer = http.post("/v1/jobs", json={"count": 1, "formats": ["jsonl", "exe"]})
        assert answer.json()["error"]["problems"][0]["path"] == "formats[1]"
        for path in ("/v1/jobs/0123456789abcdef", "/v1/jobs/..", "/v1/jobs/x/events"):
            assert http.get(path).status_code == 404
        until(lambda: metric(http, "layoutdm_jobs_unfinished") == 0)
        for id in (first, second):  # one that is just ending is forgotten a little later
            until(lambda id=id: http.delete(f"/v1/jobs/{id}").status_code == 404)
            assert not (server.log.parent / "jobs" / id).exists()


@pytest.mark.slow
def test_a_killed_server_goes_on_with_its_jobs_and_does_nothing_twice(tmp_path):
    body = {"count": 300, "seed": 3, "formats": ["jsonl", "coco"], "options": {"steps": 20}}
    kills = 0
    with running(tmp_path) as found, found.http() as http:
        first, second = order(http, **body), order(http, **{**body, "seed": 4, "count": 10})
        part = tmp_path / "jobs" / first / "files" / "layouts.jsonl.part"
        until(lambda: journal.count(part) >= 20)
        found.stop(signal.SIGKILL)
        kills += not (tmp_path / "jobs" / first / "files" / "layouts.jsonl").exists()
    before = part.read_bytes()
    with part.open("ab") as file:
        file.write(b'{"id":"3-')  # as a machine that stops may leave it
    with running(tmp_path) as found, found.http() as http:
        until(lambda: journal.count(part) >= 150 or not part.exists())
        found.stop(signal.SIGTERM)
    with running(tmp_path) as found, found.http() as http:
        views = [ended(http, first), ended(http, second)]
        assert [view["state"] for view in views] == ["finished", "finished"]
        whole = http.get(f"/v1/jobs/{first}/files/layouts.jsonl").content
        coco = http.get(f"/v1/jobs/{first}/files/coco.json").content
    assert kills == 1 and whole.startswith(before.rpartition(b"\n")[0])
    ids = [json.loads(line)["id"] for line in whole.splitlines()]
    assert ids == [f"3-{index}" for index in range(300)]
    out = tmp_path / "out"
    done = run(
        "generate", "--model", folder(), "--count", 300, "--seed", 3, "--steps", 20, "--out", out,
        "--format", "jsonl,coco",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert whole == (out / "layouts.jsonl").read_bytes()
    assert coco == (out / "coco.json").read_bytes()


def test_two_servers_do_not_share_a_folder_of_jobs(server):
    where = server.log.parent
    with running(where, "--limit", "count=9") as found, found.http() as http:
        answer = http.get("/v1/jobs")
        assert answer.status_code == 503 and "in use" in answer.text
        assert http.post("/v1/generate", json={"count": 1}).status_code == 200
