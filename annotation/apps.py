from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation.services.following import follow_pool, follow_texts, manages_campaign_of
        from pooling.permissions import job_readers
        from pooling.services.pools import on_extended, on_texts

        on_extended.append(follow_pool)
        on_texts.append(follow_texts)
        job_readers.append(manages_campaign_of)
