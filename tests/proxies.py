"""The proxies of docs/how-to/deploy.md as printed there, on a free port and with a generated
certificate."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.documented import block

NAME = "assay.example.org"


def made_certificate(folder: Path) -> tuple[Path, Path]:
    """Create a self-signed certificate. Returns (certificate, key)."""
    certificate, key = folder / "site.pem", folder / "key.pem"
    make = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        f"/CN={NAME}",
        "-addext",
        f"subjectAltName=DNS:{NAME}",
    ]
    subprocess.run(
        [*make, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True
    )
    return certificate, key


def nginx(folder: Path, port: int, upstream: int, certificate: Path, key: Path) -> list[str]:
    """Return the command that starts a separate nginx with the server block of the
    documentation."""
    text = block("how-to/deploy.md", "# nginx: /etc/nginx/sites-enabled/assay")
    text = text[
        text.index("server {", text.index("return 301")) :
    ]  # the server block for plain HTTP needs port 80
    text = re.sub(r"ssl_certificate .*;", f"ssl_certificate {certificate};", text)
    text = re.sub(r"ssl_certificate_key .*;", f"ssl_certificate_key {key};", text)
    text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl").replace(
        "127.0.0.1:8000", f"127.0.0.1:{upstream}"
    )
    places = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    user = (
        "user root;" if os.geteuid() == 0 else ""
    )  # otherwise it could not write to the test's folder
    head = (
        f"{user} daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\nhttp {{ "
        f"access_log off;\n{places}"
    )
    (folder / "nginx.conf").write_text(f"{head}{text}}}\n")
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]


def caddy(folder: Path, port: int, upstream: int, certificate: Path, key: Path) -> list[str]:
    text = block("how-to/deploy.md", "# Caddy: /etc/caddy/Caddyfile").replace(
        "127.0.0.1:8000", f"127.0.0.1:{upstream}"
    )
    text = text.replace(
        f"{NAME} {{", f"https://{NAME}:{port} {{\n  bind 127.0.0.1\n  tls {certificate} {key}", 1
    )
    (folder / "Caddyfile").write_text(
        f"{{\n  admin off\n  auto_https disable_redirects\n}}\n{text}"
    )
    return ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]


PROXIES: dict[str, Callable[[Path, int, int, Path, Path], list[str]]] = {
    "nginx": nginx,
    "caddy": caddy,
}
