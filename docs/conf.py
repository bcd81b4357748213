"""Configuration of the documentation site: `make docs` builds it into var/site."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from assay.version import program_version  # noqa: E402

project = "Assay"
author = "The Assay maintainers"
copyright = f"2026, {author}"
version = release = program_version()

extensions = ["myst_parser", "sphinx.ext.autodoc", "reference_pages"]
exclude_patterns = ["tutorial/studies/sample/**", "evidence/*/**"]
nitpicky = False
default_role = "code"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = f"Assay {version}"
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {"navigation_with_keys": False, "top_of_page_buttons": []}
pygments_style = "default"
highlight_language = "text"
