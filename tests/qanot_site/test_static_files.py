"""Static files: compressed, kept for good, and never mixed with another release's."""

import gzip
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.test import Client

from qanot_site.static_digest import digest_of

STYLE = f"/{settings.STATIC_URL.strip('/')}/base.css"


def content_of(client: Client, address: str, encoding: str) -> tuple[bytes, dict[str, str]]:
    answer = client.get(address, headers={"Accept-Encoding": encoding})
    assert answer.status_code == 200
    return b"".join(answer), dict(answer.headers)


def test_text_is_compressed_and_the_same(client: Client) -> None:
    plain = Path(str(finders.find("base.css"))).read_bytes()
    small, headers = content_of(client, STYLE, "gzip, br")
    assert headers["Content-Encoding"] == "gzip"
    assert headers["Content-Type"].startswith("text/css")
    assert int(headers["Content-Length"]) == len(small) < len(plain) / 2
    assert gzip.decompress(small) == plain
    assert content_of(client, STYLE, "gzip")[0] == small


def test_who_does_not_ask_for_it_gets_the_file_itself(client: Client) -> None:
    body, headers = content_of(client, STYLE, "")
    assert "Content-Encoding" not in headers
    assert headers["Vary"] == "Accept-Encoding"
    assert body == Path(str(finders.find("base.css"))).read_bytes()


def test_browsers_keep_a_file_for_good(client: Client) -> None:
    _, headers = content_of(client, STYLE, "gzip")
    assert "immutable" in headers["Cache-Control"]
    answer = client.get(STYLE, headers={"If-Modified-Since": headers["Last-Modified"]})
    assert answer.status_code == 304


def test_head_has_no_body(client: Client) -> None:
    answer = client.head(STYLE, headers={"Accept-Encoding": "gzip"})
    assert answer.status_code == 200
    assert b"".join(answer) == b""


@pytest.mark.django_db
def test_pages_with_tokens_are_not_compressed(client: Client) -> None:
    """BREACH: the length of a compressed page tells what stands in it."""
    answer = client.get("/login/", headers={"Accept-Encoding": "gzip"})
    assert b"csrfmiddlewaretoken" in answer.content
    assert "Content-Encoding" not in answer.headers


def test_address_of_another_release_is_not_there(client: Client) -> None:
    assert client.get("/static/0123456789ab/base.css").status_code == 404


def test_any_change_of_a_file_gives_another_address(tmp_path: Path) -> None:
    (tmp_path / "one.js").write_text("1")
    before = digest_of(tmp_path)
    assert digest_of(tmp_path) == before
    (tmp_path / "one.js").write_text("2")
    changed = digest_of(tmp_path)
    (tmp_path / "one.js").rename(tmp_path / "two.js")
    assert len({before, changed, digest_of(tmp_path)}) == 3
