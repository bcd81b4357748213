"""A small OpenID Connect provider for tests. It enforces PKCE, the secret and the single use of
codes, and gives wrong answers on request."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "assay", "a secret of the tests, as long as it should be"


class TestProvider:
    """The provider, and what it answers. claims: claims about the user. token: values that override
    the token's own claims. key: key that signs, if not the published one."""

    __test__ = False

    def __init__(self) -> None:
        self.claims: dict[str, Any] = {
            "sub": "s-1",
            "preferred_username": "ada",
            "email": "ada@example.org",
            "groups": [],
        }
        self.token: dict[str, Any] = {}
        self.userinfo: dict[str, Any] = {}
        self.algorithm = "RS256"
        self.own_key = self.key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.asked: dict[str, dict[str, str]] = {}
        self.n_tokens = 0
        self.issuer = ""

    def settings(self) -> dict[str, Any]:
        paths = {"AUTHORIZATION": "authorize", "TOKEN": "token", "USER": "userinfo", "JWKS": "keys"}
        return {
            "OIDC_ISSUER": self.issuer,
            "OIDC_RP_CLIENT_ID": CLIENT,
            "OIDC_RP_CLIENT_SECRET": SECRET,
            **{f"OIDC_OP_{name}_ENDPOINT": f"{self.issuer}/{path}" for name, path in paths.items()},
        }

    def authorize(self, address: str) -> str:
        """Return the path and query to which a browser that visits this address is redirected."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert (asked["response_type"], asked["client_id"], asked["code_challenge_method"]) == (
            "code",
            CLIENT,
            "S256",
        )
        assert {"openid", "profile"} <= set(asked["scope"].split())
        code = secrets.token_urlsafe(8)
        self.asked[code] = asked
        back = urlsplit(asked["redirect_uri"])
        return f"{back.path}?{urlencode({'code': code, 'state': asked['state']})}"

    def exchange(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        asked = self.asked.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            asked is None
            or challenge != asked["code_challenge"]
            or form.get("client_secret") != SECRET
            or form["redirect_uri"] != asked["redirect_uri"]
        ):
            return 400, {"error": "invalid_grant"}
        self.n_tokens += 1
        now = int(time.time())
        content = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": self.claims["sub"],
            "iat": now,
            "exp": now + 60,
            "nonce": asked["nonce"],
            **self.token,
        }
        content = {name: value for name, value in content.items() if value is not None}
        key: Any = {"RS256": self.key, "HS256": SECRET, "none": None}[self.algorithm]
        return 200, {
            "access_token": "opens",
            "token_type": "Bearer",
            "id_token": jwt.encode(content, key, self.algorithm, headers={"kid": "one"}),
        }

    def keys(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.own_key.public_key()))
        return {"keys": [{**public, "kid": "one", "alg": "RS256", "use": "sig"}]}


@contextlib.contextmanager
def running_provider() -> Iterator[TestProvider]:
    provider = TestProvider()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def answer(self, status: int, content: Any) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def do_GET(self) -> None:
            if self.path == "/keys":
                self.answer(200, provider.keys())
            elif self.path == "/userinfo" and self.headers["Authorization"] == "Bearer opens":
                self.answer(200, {**provider.claims, **provider.userinfo})
            else:
                self.answer(404, {})

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.answer(*provider.exchange({name: values[0] for name, values in form.items()}))

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
