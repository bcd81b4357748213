#!/usr/bin/env python
"""The project's one command line."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        settings.INSTALLED_APPS  # noqa: B018  reads the settings now, where a wrong one can be told in a sentence
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        raise SystemExit(f"assay: {error}") from None
    except KeyboardInterrupt:
        raise SystemExit("assay: stopped") from None


if __name__ == "__main__":
    main()
