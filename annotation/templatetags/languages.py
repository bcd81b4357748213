"""The language of a page, for its frame."""

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
    """Address of the scripts' words; empty in English, which stands in the scripts."""
    code = translation.get_language() or settings.LANGUAGE_CODE
    return "" if code == settings.LANGUAGE_CODE else static(f"words/{code}.json")


@register.simple_tag
def page_language() -> SafeString:
    """Attributes of <html>: language, direction, and where the scripts' words are."""
    code, words = translation.get_language() or settings.LANGUAGE_CODE, _script_words_url()
    direction = SafeString(' dir="rtl"') if translation.get_language_bidi() else ""
    return format_html(
        ' lang="{}"{}{}', code, direction, format_html(' data-words="{}"', words) if words else ""
    )


@register.simple_tag
def words_ahead() -> SafeString:
    """The scripts' words are fetched beside the scripts, not after them."""
    words = _script_words_url()
    return (
        format_html('<link rel="preload" as="fetch" crossorigin href="{}">', words)
        if words
        else SafeString("")
    )


@register.simple_tag
def words_of(modules: tuple[str, ...]) -> SafeString:
    """What these scripts say, in the page itself: they need not wait for all words
    (static/js/words.js)."""
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
    """(code, own name, whether the person has chosen it) of each language. Managers' pages are
    English whatever the choice."""
    chosen = (
        languages.request_language(context["request"])
        if "request" in context
        else translation.get_language()
    )
    return [(code, name, code == chosen) for code, name in settings.LANGUAGES]


@register.simple_tag(takes_context=True)
def is_translated(context: Context) -> bool:
    """Whether this page follows the chosen language."""
    return "request" not in context or languages.is_annotator_path(context["request"].path)
