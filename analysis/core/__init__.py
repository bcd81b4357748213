"""Pure numeric code of analysis: arrays in, arrays or dataclasses out; no Django, Celery, settings,
clock or global randomness."""
