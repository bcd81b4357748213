from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_in

        import annotation.kinds  # noqa: F401  registers the app's kinds of jobs
        from annotation.selectors.machine_grades import SOURCE
        from annotation.services.campaigns.planned_batches import labels_so_far, plan_what_runs_low
        from annotation.services.campaigns.pool_changes import (
            follow_decisions,
            follow_pool,
            follow_texts,
            give_back_pairs,
            manages_campaign_of,
            note_name,
        )
        from annotation.services.people import sessions
        from pooling import hooks

        hooks.before_taking_back.append(give_back_pairs)
        hooks.on_decided.append(follow_decisions)
        hooks.on_extended.append(follow_pool)
        hooks.on_renamed.append(note_name)
        hooks.on_texts.append(follow_texts)
        hooks.labels_so_far.append(labels_so_far)
        hooks.upkeep.append(plan_what_runs_low)
        hooks.machine_sources.append(SOURCE)
        hooks.job_readers.append(manages_campaign_of)
        user_logged_in.connect(
            sessions.note_sign_in, dispatch_uid="annotation.services.people.sessions"
        )
