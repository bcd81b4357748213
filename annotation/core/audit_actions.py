"""Actions of the audit log, with the codes that are stored and the words that are shown. Each
action is one row here."""

from __future__ import annotations

from enum import StrEnum


class AuditAction(StrEnum):
    CREATED_THE_CAMPAIGN = "created the campaign"
    CHANGED_SETTINGS = "changed settings"
    WROTE_GUIDELINES = "wrote guidelines"
    OPENED = "opened"
    PAUSED = "paused"
    RESUMED = "resumed"
    CLOSED = "closed"
    MARKED_AS_SIMULATED = "marked as simulated"

    CHOSE_THE_POOL = "chose the pool"
    EXTENDED_THE_POOL = "extended the pool"
    CHANGED_THE_DEPTH = "changed the depth"
    RENAMED_THE_POOL = "renamed the pool"
    RENAMED_A_RUN = "renamed a run"
    REMOVED_TOPICS = "removed topics"
    RESTORED_TOPICS = "restored topics"
    MADE_A_PAIR_NORMAL = "made a pair ordinary"
    MADE_A_PAIR_EVERYONE = "made a pair a calibration pair"
    MADE_A_PAIR_GOLD = "made a pair a gold question"
    MADE_A_PAIR_QUALIFICATION = "made a pair a qualification question"
    ADJUDICATED = "adjudicated"
    WITHDREW_AN_ADJUDICATION = "withdrew an adjudication"
    REQUESTED_A_JUDGEMENT = "requested an additional judgement"
    CANCELLED_A_JUDGEMENT = "cancelled an additional judgement"

    INVITED = "invited"
    WITHDREW_AN_INVITATION = "withdrew an invitation"
    CREATED_A_RESULTS_LINK = "created a results link"
    REVOKED_A_RESULTS_LINK = "revoked a results link"
    CHANGED_THE_PANEL = "changed the panel"
    JOINED = "joined"
    CONSENTED = "consented"
    PASSED_THE_QUALIFICATION = "passed the qualification test"
    FAILED_THE_QUALIFICATION = "failed the qualification test"
    ADMITTED_AN_ANNOTATOR = "admitted an annotator without a passed test"
    ALLOWED_ANOTHER_ATTEMPT = "allowed another qualification attempt"
    PAUSED_AN_ANNOTATOR = "paused an annotator"
    RESUMED_AN_ANNOTATOR = "resumed an annotator"
    EXCLUDED_AN_ANNOTATOR = "excluded an annotator"
    INCLUDED_AN_ANNOTATOR_AGAIN = "included an annotator again"
    REMOVED_AN_ANNOTATOR = "removed an annotator"
    REMOVED_A_VIEWER = "removed a viewer"
    SENT_A_MESSAGE = "sent a message"
    WROTE_A_NOTE = "wrote a note"
    ANSWERED_A_QUESTION = "answered a question"
    REMINDED_AN_ANNOTATOR = "reminded an annotator"

    CREATED_AN_LLM_JUDGE = "created an LLM judge"
    FROZE_AN_LLM_JUDGE = "froze an LLM judge"
    DELETED_AN_LLM_JUDGE = "deleted an LLM judge"

    CREATED_A_WEBHOOK = "created a webhook"
    DELETED_A_WEBHOOK = "deleted a webhook"

    EXPORTED = "exported"
    SAVED_A_RECIPE = "saved a recipe"
    DELETED_A_RECIPE = "deleted a recipe"
    BUILT_A_RELEASE = "built a release"
    IMPORTED_A_RELEASE = "imported a release"
    IMPORTED_JUDGEMENTS = "imported judgements made elsewhere"
