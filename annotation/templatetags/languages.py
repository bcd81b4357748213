"""Template tags for the language of a page."""

from __future__ import annotations

import functools
import json

from django import template
from django.conf import settings
from django.template import Context
from django.templatetags.static import static
from django.utils import translation
from django.utils.html import format_html, json_script
from django.utils.safestring import SafeString

from annotation import languages

register = template.Library()


def _script_words_url() -> str:
    """Return the URL of the scripts' translations, empty for English, which is part of the
    scripts."""
    code = translation.get_language() or settings.LANGUAGE_CODE
    return "" if code == settings.LANGUAGE_CODE else static(f"words/{code}.json")


@register.simple_tag
def page_language() -> SafeString:
    """Return attributes for <html>: language, direction and URL of the scripts' translations."""
    code, words = translation.get_language() or settings.LANGUAGE_CODE, _script_words_url()
    direction = SafeString(' dir="rtl"') if translation.get_language_bidi() else ""
    return format_html(
        ' lang="{}"{}{}', code, direction, format_html(' data-words="{}"', words) if words else ""
    )


@register.simple_tag
def words_ahead() -> SafeString:
    """Return a preload tag for the scripts' translations, so that they are fetched in parallel with
    the scripts."""
    words = _script_words_url()
    return (
        format_html('<link rel="preload" as="fetch" crossorigin href="{}">', words)
        if words
        else SafeString("")
    )


@register.simple_tag
def words_of(modules: tuple[str, ...]) -> SafeString:
    """Return the messages of these scripts for inclusion in the page, so that they need not wait
    for all translations (static/js/words.js)."""
    code = translation.get_language() or settings.LANGUAGE_CODE
    words = {} if code == settings.LANGUAGE_CODE else _module_words(modules, code)
    return json_script(words, "first-words") if words else SafeString("")


@functools.cache
def _module_words(modules: tuple[str, ...], code: str) -> dict[str, str | dict[str, str]]:
    folder = settings.BASE_DIR / "static"
    words = folder / "words" / f"{code}.json"
    if not words.exists():
        return {}
    sources = "\n".join((folder / name).read_text(encoding="utf-8") for name in modules)
    known = json.loads(words.read_text(encoding="utf-8"))
    return {
        text: told
        for text, told in known.items()
        if json.dumps(text, ensure_ascii=False) in sources
    }


@register.simple_tag(takes_context=True)
def language_choice(context: Context) -> list[tuple[str, str, bool]]:
    """Return (code, native name, whether chosen) for each language. Managers' pages are in English
    regardless of the choice."""
    chosen = (
        languages.request_language(context["request"])
        if "request" in context
        else translation.get_language()
    )
    return [(code, name, code == chosen) for code, name in settings.LANGUAGES]


@register.simple_tag(takes_context=True)
def is_translated(context: Context) -> bool:
    """Return whether this page is shown in the chosen language."""
    return "request" not in context or languages.is_annotator_path(context["request"].path)
