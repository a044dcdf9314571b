"""A model hub on 127.0.0.1 that keeps what is uploaded: the few addresses that models need."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

COMMIT = "a" * 40


class Hub(ThreadingHTTPServer):
    """Files by their path in the repository; `asked` are the requests so far."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.objects: dict[str, bytes] = {}
        self.asked: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self._body()
        path = self.path.partition("?")[0]
        self.server.asked.append(f"POST {path}")
        if path == "/api/repos/create":
            record = json.loads(body)
            name = f"{record.get('organization')}/{record['name']}"
            self._json({"url": f"{self.server.address}/{name}", "id": name})
        elif path == "/api/validate-yaml":  # the header of the model card
            self._json({"errors": [], "warnings": []})
        elif "/preupload/" in path:
            files = json.loads(body)["files"]
            self._json(
                {
                    "files": [
                        {
                            "path": file["path"],
                            "shouldIgnore": False,
                            "uploadMode": "lfs" if file["path"].endswith(".onnx") else "regular",
                        }
                        for file in files
                    ]
                }
            )
        elif path.endswith("/info/lfs/objects/batch"):
            objects = json.loads(body)["objects"]
            self._json({"transfer": "basic", "objects": [self._place(item) for item in objects]})
        elif "/commit/" in path:
            for line in body.decode().splitlines():
                self._commit(json.loads(line))
            url = f"{self.server.address}/anna/posters/commit/{COMMIT}"
            self._json({"commitOid": COMMIT, "commitUrl": url, "success": True})
        else:
            self._json({"error": f"unknown {path}"}, 404)

    def do_PUT(self) -> None:
        body = self._body()
        self.server.objects[hashlib.sha256(body).hexdigest()] = body
        self._json({})

    def do_GET(self) -> None:
        self._read(send_body=True)

    def do_HEAD(self) -> None:
        self._read(send_body=False)

    def _read(self, *, send_body: bool) -> None:
        path = self.path.partition("?")[0]
        self.server.asked.append(f"{self.command} {path}")
        if path.startswith("/api/models/anna/posters"):
            siblings = [{"rfilename": name} for name in self.server.files]
            record = {"id": "anna/posters", "modelId": "anna/posters", "sha": COMMIT,
                      "private": False, "tags": [], "siblings": siblings}  # fmt: skip
            if "/tree/" in path:
                tree: list[Any] = [
                    {"type": "file", "path": name, "size": len(data), "oid": _hash(data)}
                    for name, data in self.server.files.items()
                ]
                self._json(tree)
            else:
                self._json(record)
            return
        name = path.rpartition("/")[2]
        if "/resolve/" not in path or name not in self.server.files:
            self._json({"error": "Repository not found"}, 404)
            return
        data = self.server.files[name]
        headers = {"ETag": f'"{_hash(data)}"', "X-Repo-Commit": COMMIT}
        self._send(data if send_body else b"", 200, headers, length=len(data))

    def _place(self, item: dict[str, Any]) -> dict[str, Any]:
        upload = {"href": f"{self.server.address}/object/{item['oid']}", "header": {}}
        return {**item, "actions": {"upload": upload}}

    def _commit(self, line: dict[str, Any]) -> None:
        value = line["value"]
        if line["key"] == "file":
            self.server.files[value["path"]] = base64.b64decode(value["content"])
        elif line["key"] == "lfsFile":
            self.server.files[value["path"]] = self.server.objects[value["oid"]]

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") == "chunked":
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _json(self, value: object, status: int = 200) -> None:
        self._send(json.dumps(value).encode(), status, {"Content-Type": "application/json"})

    def _send(
        self, data: bytes, status: int, headers: dict[str, str], length: int | None = None
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data) if length is None else length))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *arguments: object) -> None:
        pass


def _hash(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


@contextmanager
def running() -> Iterator[Hub]:
    """A hub that answers until the block ends."""
    hub = Hub()
    thread = Thread(target=hub.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        hub.server_close()
        thread.join()
