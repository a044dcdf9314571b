"""A server for the studio's tests: `layoutdm studio` where it is there, else the least that works.

The stand-in has no canned answers: it loads the real models and calls the real library.
Run as a program: python tests/studio_server.py PORT
"""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
MEDIA = {
    ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml",
    ".png": "image/png", ".json": "application/json",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}  # fmt: skip
POLICY = "default-src 'self'; img-src 'self' data: blob:"


def has_server() -> bool:
    """Whether the package holds its own server."""
    return importlib.util.find_spec("layoutdm.serve") is not None


class Server:
    """A running server; `stop` and `start` again keep its address."""

    def __init__(self, port: int | None = None) -> None:
        self.port = port or _free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Server:
        command = [sys.executable, str(Path(__file__)), str(self.port)]
        if has_server():
            command = [sys.executable, "-m", "layoutdm", "studio", "--port", str(self.port)]
            command += ["--no-open", "--limit", "seconds=300"]  # a busy machine may take long
        environment = {
            "OMP_NUM_THREADS": "1",
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
        }
        self._process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._wait()
        return self

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _wait(self) -> None:
        until = time.monotonic() + 180
        while time.monotonic() < until:
            try:
                with urllib.request.urlopen(f"{self.url}v1/models", timeout=30):
                    return
            except urllib.error.HTTPError as error:
                raise RuntimeError(f"the server answers {error.code}: {error.read()!r}") from None
            except OSError:
                assert self._process is not None
                if self._process.poll() is not None:
                    raise RuntimeError("the server did not start") from None
                time.sleep(0.1)
        raise RuntimeError("the server did not answer within three minutes")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# The stand-in -----------------------------------------------------------------------------------


@cache
def _model(name: str) -> Any:
    import layoutdm

    return layoutdm.load(name)


def _describe(name: str) -> dict[str, Any]:
    model = _model(name)
    aliases = getattr(model, "aliases", {})
    return {
        "name": name,
        "labels": [
            {"name": k, "count": None, "aliases": [a for a, to in aliases.items() if to == k]}
            for k in model.labels
        ],
        "max_elements": model.max_elements,
        "canvas": list(model.canvas),
        "tasks": {},
        "default": name == "rico25",
    }


def _frames(result: Any) -> list[dict[str, Any]]:
    return [
        {
            "level": frame.level,
            "labels": list(frame.labels),
            "boxes": [[None if v != v else float(v) for v in box] for box in frame.boxes],
        }
        for frame in result.trace
    ]


def _generate(body: dict[str, Any]) -> dict[str, Any]:
    began = time.perf_counter()
    trace = bool(body.get("trace"))
    results = _model(body["model"]).generate(
        body["spec"], count=body["count"], seed=body["seed"], trace=trace
    )
    answers = [
        {**result.as_dict(), **({"trace": _frames(result)} if trace else {})} for result in results
    ]
    return {
        "model": body["model"],
        "results": answers,
        "seconds": time.perf_counter() - began,
    }


def _check(body: dict[str, Any]) -> dict[str, Any]:
    from layoutdm.spec import Spec
    from layoutdm.spec.problems import SpecError

    model = _model(body["model"])
    try:
        problems = Spec.parse(body["spec"]).check(model.labels, model.max_elements)
    except SpecError as error:
        problems = list(error.problems)
    return {"problems": [{"path": p.path, "message": p.message} for p in problems]}


def _convert(body: dict[str, Any]) -> tuple[bytes, str]:
    from layoutdm import Layout
    from layoutdm.formats import write

    layouts = [
        Layout.create(
            r["labels"], r["boxes"], id=r["id"], width=r["width"], height=r["height"],
            metadata=r.get("metadata") or {},
        )
        for r in body["layouts"]
    ]  # fmt: skip
    ending = ".json" if body["to"] == "coco" else f".{body['to']}"
    with tempfile.TemporaryDirectory() as folder:
        path = write(layouts, Path(folder) / f"layout{ending}", format=body["to"])
        return path.read_bytes(), MEDIA[ending]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        from layoutdm.spec import Spec
        from layoutdm.studio import FOLDER

        path = self.path.partition("?")[0]
        if path == "/v1/models":
            return self._json({"models": [_describe("rico25"), _describe("publaynet")]})
        if path == "/v1/schema":
            return self._json(Spec.json_schema())
        if path == "/v1/health":
            return self._json({"status": "ok", "version": "stand-in"})
        file = FOLDER / (path.strip("/") or "index.html")
        if not file.resolve().is_relative_to(FOLDER) or not file.is_file():
            return self._json({"error": {"message": "no such page", "problems": []}}, 404)
        return self._send(file.read_bytes(), MEDIA[file.suffix])

    def do_POST(self) -> None:
        from layoutdm.errors import LayoutdmError
        from layoutdm.spec.problems import SpecError

        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            if self.path == "/v1/generate":
                return self._json(_generate(body))
            if self.path == "/v1/check":
                return self._json(_check(body))
            if self.path == "/v1/convert":
                return self._send(*_convert(body))
        except SpecError as error:
            problems = [{"path": p.path, "message": p.message} for p in error.problems]
            return self._json({"error": {"message": str(error), "problems": problems}}, 422)
        except LayoutdmError as error:
            return self._json({"error": {"message": str(error), "problems": []}}, 422)
        return self._json({"error": {"message": "this server cannot", "problems": []}}, 404)

    def _json(self, value: Any, status: int = 200) -> None:
        self._send(json.dumps(value).encode(), MEDIA[".json"], status)

    def _send(self, body: bytes, media: str, status: int = 200) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", media),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", POLICY),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Tests need no log."""


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), _Handler).serve_forever()
