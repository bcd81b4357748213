from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from annotation.services.following import follow_pool, manages_campaign_of
        from pooling.permissions import job_readers
        from pooling.services.pools import on_extended

        on_extended.append(follow_pool)
        job_readers.append(manages_campaign_of)
