from django.apps import AppConfig


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_in

        import annotation.job_registry  # noqa: F401  registers the app's kinds of jobs
        from annotation.selectors.llm_grades import SOURCE
        from annotation.services.campaigns.planned_batches import (
            get_current_labels,
            plan_low_batches,
        )
        from annotation.services.campaigns.pool_changes import (
            apply_decisions_to_campaigns,
            extend_campaigns,
            log_renaming,
            manages_job_campaign,
            release_held_pairs,
            withdraw_pairs,
        )
        from annotation.services.people import sessions
        from annotation.services.webhooks import request_due_messages
        from pooling import hooks

        hooks.before_taking_back.append(withdraw_pairs)
        hooks.on_decided.append(apply_decisions_to_campaigns)
        hooks.on_extended.append(extend_campaigns)
        hooks.on_renamed.append(log_renaming)
        hooks.on_texts.append(release_held_pairs)
        hooks.labels_so_far.append(get_current_labels)
        hooks.upkeep.append(plan_low_batches)
        hooks.upkeep.append(request_due_messages)
        hooks.llm_sources.append(SOURCE)
        hooks.job_readers.append(manages_job_campaign)
        user_logged_in.connect(
            sessions.note_sign_in, dispatch_uid="annotation.services.people.sessions"
        )
