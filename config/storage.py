"""Static files under names that carry their digest, so that browsers may keep them for ever; our
own also compressed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFilesStorage(CompressedManifestStaticFilesStorage):
    support_js_module_import_aggregation = True  # imports of our ES modules get the digest too
    max_post_process_passes = 20  # one for each level of imports; ours never go in circles
    url_of: dict[str, str]
    LARGE = ("drf_spectacular_sidecar/", "admin/")
    """Served rarely, and slow to compress well."""

    patterns = tuple(
        (
            extension,
            tuple(
                p for p in patterns if "sourceMappingURL" not in (p if isinstance(p, str) else p[0])
            ),
        )
        for extension, patterns in CompressedManifestStaticFilesStorage.patterns
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.url_of = {}

    def url(self, name: str | None, force: bool = False) -> str:
        """A page names 30 files, whose addresses are the same for as long as the process has its
        manifest: each is worked out once."""
        if name is None or force or name not in self.hashed_files:
            return super().url(name, force)
        if name not in self.url_of:
            self.url_of[name] = super().url(name)
        return self.url_of[name]

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        return super().compress_files([path for path in paths if not path.startswith(self.LARGE)])
