"""Who may ask the server, and that nothing a client sends becomes a path or a name of a file."""

from __future__ import annotations

import pytest

from layoutdm.errors import LayoutdmError
from layoutdm.serve import Settings
from layoutdm.serve.run import address_of, with_token
from serve_helpers import MODEL, client

TOKEN = "open-sesame-1234"


@pytest.fixture(scope="module")
def http():
    with client() as found:
        yield found


@pytest.fixture(scope="module")
def guarded():
    with client(host="0.0.0.0", token=TOKEN, allowed_hosts=("layouts.example",)) as found:
        yield found


def sentence(answer, status):
    assert answer.status_code == status, answer.text
    record = answer.json()
    assert record["request_id"] == answer.headers["x-request-id"]
    return record["error"]["message"]


@pytest.mark.parametrize("host", ["localhost", "localhost:8377", "127.0.0.1:80", "[::1]:8377"])
def test_the_machines_own_names_are_served(http, host):
    assert http.get("/v1/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "8.8.8.8", "", "[::", "@"],
)
@pytest.mark.parametrize("path", ["/v1/health", "/", "/metrics", "/openapi.json"])
def test_foreign_names_are_refused(http, host, path):
    assert "host" in sentence(http.get(path, headers={"Host": host}), 403)


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://127.0.0.1:3000", "file://", "http://127.0.0.1.x"],
)
def test_pages_of_other_origins_are_refused(http, origin):
    answer = http.post("/v1/generate", json={"count": 1}, headers={"Origin": origin})
    assert "origin" in sentence(answer, 403)
    assert "access-control-allow-origin" not in answer.headers


def test_the_own_page_is_served(http):
    own = {"Origin": "http://127.0.0.1"}
    assert http.post("/v1/generate", json={"count": 1}, headers=own).status_code == 200


@pytest.mark.parametrize("media", ["text/plain", "application/x-www-form-urlencoded", "", "x/json"])
def test_only_json_is_taken(http, media):
    """A page of another site can send the other types without asking first."""
    answer = http.post("/v1/generate", content=b"{}", headers={"Content-Type": media})
    assert "application/json" in sentence(answer, 415)


def test_packed_bodies_are_refused(http):
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert "packed" in sentence(http.post("/v1/check", content=b"x", headers=headers), 415)


@pytest.mark.parametrize("path", ["/", "/v1/health", "/v1/nothing", "/openapi.json"])
def test_every_answer_carries_the_headers_that_bind_a_browser(http, path):
    headers = http.get(path).headers
    assert "default-src 'self'" in headers["content-security-policy"]
    assert "img-src 'self' blob: data:" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-request-id"]


def test_request_ids_differ_and_are_never_the_clients(http):
    ids = {http.get("/v1/health", headers={"X-Request-Id": "mine"}).headers["x-request-id"]}
    ids.add(http.get("/v1/health").headers["x-request-id"])
    assert len(ids) == 2 and "mine" not in ids


# The token -----------------------------------------------------------------------------------


def test_other_addresses_need_a_token():
    with pytest.raises(LayoutdmError, match="token"):
        Settings(host="0.0.0.0")
    with pytest.raises(LayoutdmError, match="at least 8"):
        Settings(host="0.0.0.0", token="short")
    made = with_token("0.0.0.0", None)
    assert made and made != with_token("0.0.0.0", None)
    assert with_token("::1", None) is None
    assert address_of(Settings(host="0.0.0.0", token=made, port=80)).endswith(f":80/?token={made}")


@pytest.mark.parametrize("path", ["/", "/v1/health", "/metrics", "/v1/jobs", "/openapi.json"])
def test_without_the_token_nothing_is_told(guarded, path):
    answer = guarded.get(path)
    assert "token" in sentence(answer, 401) and answer.headers["www-authenticate"] == "Bearer"
    for wrong in ("Bearer", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer é"):
        given = {"Authorization": wrong.encode()}
        assert guarded.get(path, headers=given).status_code == 401


def test_the_token_opens(guarded):
    given = {"Authorization": f"Bearer {TOKEN}"}
    assert guarded.get("/v1/models", headers=given).json()["models"][0]["name"] == MODEL
    for host in ("layouts.example", "10.0.0.3:8377"):
        assert guarded.get("/v1/health", headers={**given, "Host": host}).status_code == 200
    assert guarded.get("/v1/health", headers={**given, "Host": "a.example"}).status_code == 403


def test_the_printed_address_opens_the_page_and_hides_the_token(guarded):
    assert guarded.get("/?token=wrong-token").status_code == 401
    assert guarded.get(f"/v1/health?token={TOKEN}").status_code == 401
    entered = guarded.get(f"/?token={TOKEN}", follow_redirects=False)
    assert entered.status_code == 303 and entered.headers["location"] == "/"
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    try:
        assert guarded.get("/v1/health").status_code == 200  # the cookie does it now
    finally:
        guarded.cookies.clear()


# Paths ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/setup.py", "....//x", "%00", "a%0ab"]
)
def test_no_path_of_a_client_is_opened(http, name):
    for path in (f"/{name}", f"/v1/models/{name}", f"/v1/jobs/x/files/{name}"):
        assert http.get(path).status_code in (404, 503)


def test_static_files_stay_inside_their_folder(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    page = tmp_path / "static"
    (page / "js").mkdir(parents=True)
    (page / "index.html").write_text("<!doctype html><title>studio</title>")
    (page / "js" / "main.js").write_text("export {};")
    (page / "out.txt").symlink_to(tmp_path / "secret.txt")
    with client(static=page) as http:
        assert "studio" in http.get("/").text
        script = http.get("/js/main.js")
        assert script.headers["content-type"].startswith("text/javascript")
        assert "default-src 'self'" in script.headers["content-security-policy"]
        for path in ("/../secret.txt", "/%2e%2e/secret.txt", "/js/../../secret.txt", "/out.txt"):
            assert http.get(path).status_code == 404, path
        assert http.get("/v1/health").status_code == 200
        assert http.get("/v1/generate").status_code == 405
        assert http.post("/index.html").status_code == 405


def test_without_a_studio_the_page_says_so(tmp_path):
    with client(static=tmp_path / "nowhere") as http:
        assert "has no studio" in http.get("/").text
