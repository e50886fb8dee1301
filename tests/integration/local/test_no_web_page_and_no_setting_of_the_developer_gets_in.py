"""A page that is open in a browser must not run code here, and a developer's own settings must lead nowhere else."""

import http.client
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from local.aws.clients import Clients
from local.aws.server import EmbeddedAws

PAGE = "https://evil.example"


def _answer(aws: EmbeddedAws, method: str, path: str, headers: Mapping[str, str]) -> tuple[int, Mapping[str, str]]:
    address = urlsplit(aws.endpoint)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=10)
    try:
        connection.request(method, path, b"{}" if method == "POST" else b"", dict(headers))
        answer = connection.getresponse()
        answer.read()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("POST", "/_relight/pending_faults", {"Origin": PAGE, "Content-Type": "text/plain"}),
        ("POST", "/2015-03-31/functions", {"Origin": "null"}),
        ("OPTIONS", "/2015-03-31/functions", {"Origin": PAGE, "Access-Control-Request-Method": "POST"}),
        ("GET", "/some-bucket/key", {"Sec-Fetch-Site": "cross-site"}),
        ("POST", "/_relight/pending_faults", {"Host": "rebound.evil.example:80"}),
    ],
)
def test_a_web_page_is_refused_whatever_it_asks(
    aws: EmbeddedAws, method: str, path: str, headers: Mapping[str, str]
) -> None:
    status, answered = _answer(aws, method, path, headers)
    assert status == 403
    assert not [name for name in answered if name.startswith("access-control")]


def test_a_program_is_answered(aws: EmbeddedAws) -> None:
    assert _answer(aws, "POST", "/_relight/pending_faults", {})[0] == 200


def test_neither_profile_nor_proxy_nor_files_of_the_developer_count(
    aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = tmp_path / "config"
    files.write_text("[default]\nendpoint_url = http://127.0.0.1:9\ns3 =\n  addressing_style = virtual\n")
    for name, value in {
        "AWS_PROFILE": "not-there",
        "AWS_CONFIG_FILE": str(files),
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "http_proxy": "http://127.0.0.1:9",
        "HTTP_PROXY": "http://127.0.0.1:9",
    }.items():
        monkeypatch.setenv(name, value)
    clients = Clients(aws.endpoint, aws.region)
    try:
        assert clients.get("sqs", "operator").list_queues()["ResponseMetadata"]["HTTPStatusCode"] == 200
        assert aws.control("pending_faults") == []
    finally:
        clients.close()
