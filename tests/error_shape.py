"""The common format of API errors, for tests that send requests over HTTP without Django."""

MEMBERS = {"type", "title", "status", "detail", "code", "request", "server_time"}
CONTENT_TYPE = "application/problem+json"
