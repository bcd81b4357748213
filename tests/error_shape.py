"""The one shape in which the API tells errors, for whoever asks over HTTP and has no Django."""

MEMBERS = {"type", "title", "status", "detail", "code", "request", "server_time"}
CONTENT_TYPE = "application/problem+json"
