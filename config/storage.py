"""Static files under names that carry their digest, so that browsers may keep them for ever; our own also compressed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from whitenoise.storage import CompressedManifestStaticFilesStorage


class StaticFiles(CompressedManifestStaticFilesStorage):
    support_js_module_import_aggregation = True  # imports of our ES modules get the digest too
    LARGE = ("drf_spectacular_sidecar/", "admin/")
    """Served rarely, and slow to compress well."""

    patterns = tuple(
        (extension, tuple(p for p in patterns if "sourceMappingURL" not in (p if isinstance(p, str) else p[0])))
        for extension, patterns in CompressedManifestStaticFilesStorage.patterns
    )

    def compress_files(self, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
        return super().compress_files([path for path in paths if not path.startswith(self.LARGE)])
