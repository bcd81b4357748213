"""Requests to other servers: refused addresses, redirects and answers."""

from __future__ import annotations

import socket

import pytest

from pooling.platform.outgoing import AddressRefused, OutgoingRequest, PublicOnly
from tests.receivers import receiver

PUBLIC = PublicOnly(setting="ASSAY_WEBHOOK_NETWORKS")
LOOPBACK = PublicOnly(["127.0.0.0/8"])


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%eth0",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
    ],
)
def test_addresses_that_are_not_public_are_refused(address):
    with pytest.raises(AddressRefused, match=r"not public.*ASSAY_WEBHOOK_NETWORKS"):
        PUBLIC.check("https", address)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_public_addresses_are_called_with_https_only(address):
    PUBLIC.check("https", address)
    with pytest.raises(AddressRefused, match="must begin with https"):
        PUBLIC.check("http", address)


def test_an_allowed_network_is_called_with_and_without_https():
    inside = PublicOnly(["10.0.0.0/8"])
    inside.check("http", "10.1.2.3")
    inside.check("https", "::ffff:10.1.2.3")
    with pytest.raises(AddressRefused):
        inside.check("https", "192.168.0.1")


def test_the_address_of_a_name_is_checked_when_it_is_called_and_nothing_is_sent(monkeypatch):
    """The name has a public and a loopback address, so that the second would be reached."""
    with receiver() as server:
        port = int(server.url.rsplit(":", 1)[1])
        found = [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in ("93.184.215.14", "127.0.0.1")
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: found)
        called: list[object] = []
        monkeypatch.setattr(
            socket, "create_connection", lambda *args, **kwargs: called.append(args)
        )
        with pytest.raises(AddressRefused, match=r"127\.0\.0\.1"):
            OutgoingRequest(f"https://rebound.example:{port}/", b"x", restriction=PUBLIC).send()
        assert called == []
    assert server.requests == []


def test_the_checked_address_is_the_one_that_is_called(monkeypatch):
    """A name that resolves to another address at the second look-up gains nothing."""
    looked_up: list[str] = []
    look_up = socket.getaddrinfo

    def resolve(host, port, *args, **kwargs):
        looked_up.append(host)
        return look_up("127.0.0.1" if host == "moves.example" else host, port, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    with receiver() as server:
        port = server.url.rsplit(":", 1)[1]
        request = OutgoingRequest(f"http://moves.example:{port}/a?b=c", b"x", restriction=LOOPBACK)
        assert request.send().status == 200
    assert looked_up.count("moves.example") == 1
    assert (server.requests[0].path, server.requests[0].headers["host"]) == (
        "/a?b=c",
        f"moves.example:{port}",
    )


def test_a_redirect_is_an_answer_and_is_not_followed():
    with receiver() as server, receiver() as other:
        server.status, server.headers = 302, {"Location": f"{other.url}/secret"}
        answer = OutgoingRequest(f"{server.url}/", b"x", restriction=LOOPBACK).send()
    assert (answer.status, answer.is_success) == (302, False)
    assert answer.headers["location"] == f"{other.url}/secret"
    assert other.requests == []


def test_method_headers_and_body_arrive_as_they_are():
    with receiver() as server:
        server.status, server.answer = 201, b"made"
        answer = OutgoingRequest(
            f"{server.url}/x", "é".encode(), {"X-Key": "k"}, method="PUT"
        ).send()
    [request] = server.requests
    assert (request.method, request.body, request.headers["x-key"]) == ("PUT", "é".encode(), "k")
    assert (answer.status, answer.body, answer.is_success) == (201, b"made", True)


def test_a_closed_port_and_an_unknown_name_are_errors_of_the_connection(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(ConnectionRefusedError):
        OutgoingRequest(f"http://127.0.0.1:{port}/", b"").send()
    with pytest.raises(OSError, match="host name is invalid"):
        OutgoingRequest(f"http://{'x' * 70}.example/", b"").send()


def test_a_server_without_a_trusted_certificate_gets_nothing():
    with receiver() as server, pytest.raises(OSError):
        OutgoingRequest(
            server.url.replace("http:", "https:"), b"secret", restriction=LOOPBACK, timeout=5
        ).send()
    assert server.requests == []
