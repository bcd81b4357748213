"""Storage for static files under names that contain their digest, so that browsers may cache them
forever. The project's own files are also compressed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFilesStorage(CompressedManifestStaticFilesStorage):
    support_js_module_import_aggregation = True  # imports in ES modules get the digest too
    max_post_process_passes = 20  # one pass per level of imports; Assay's have no cycles
    url_of: dict[str, str]
    LARGE = ("drf_spectacular_sidecar/", "admin/")
    """Files that are rarely served and slow to compress well."""

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
        """Return the address of a static file. Each is computed once per process, because a page
        names about 30 files."""
        if name is None or force or name not in self.hashed_files:
            return super().url(name, force)
        if name not in self.url_of:
            self.url_of[name] = super().url(name)
        return self.url_of[name]

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        return super().compress_files([path for path in paths if not path.startswith(self.LARGE)])
