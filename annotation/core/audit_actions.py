"""What the audit trail can tell of: the words that are stored and shown. A new action is one row here."""

from __future__ import annotations

from enum import StrEnum


class AuditAction(StrEnum):
    MADE_THE_CAMPAIGN = "made the campaign"
    CHANGED_SETTINGS = "changed settings"
    WROTE_GUIDELINES = "wrote guidelines"
    OPENED = "opened"
    PAUSED = "paused"
    RESUMED = "resumed"
    CLOSED = "closed"
    MARKED_AS_SIMULATED = "marked as simulated"

    SET_THE_POOL = "set the pool"
    EXTENDED_THE_POOL = "extended the pool"
    REMOVED_TOPICS = "removed topics"
    RESTORED_TOPICS = "restored topics"
    MADE_A_PAIR_NORMAL = "made a pair normal"
    MADE_A_PAIR_EVERYONE = "made a pair everyone"
    MADE_A_PAIR_GOLD = "made a pair gold"
    MADE_A_PAIR_QUALIFICATION = "made a pair qualification"
    ADJUDICATED = "adjudicated"
    WITHDREW_AN_ADJUDICATION = "withdrew an adjudication"

    INVITED = "invited"
    REVOKED_AN_INVITATION = "revoked an invitation"
    MADE_A_RESULTS_LINK = "made a link to the results"
    REVOKED_A_RESULTS_LINK = "revoked a link to the results"
    JOINED = "joined"
    CONSENTED = "consented"
    PASSED_THE_QUALIFICATION = "passed the qualification"
    FAILED_THE_QUALIFICATION = "failed the qualification"
    LET_IN_WITHOUT_QUALIFICATION = "let in without qualification"
    LET_TRY_THE_QUALIFICATION_AGAIN = "let try the qualification again"
    PAUSED_AN_ANNOTATOR = "paused an annotator"
    RESUMED_AN_ANNOTATOR = "resumed an annotator"
    EXCLUDED_AN_ANNOTATOR = "excluded an annotator"
    INCLUDED_AN_ANNOTATOR_AGAIN = "included an annotator again"
    REMOVED_AN_ANNOTATOR = "removed an annotator"
    REMOVED_A_VIEWER = "removed a viewer"
    WROTE_A_MESSAGE = "wrote a message"
    WROTE_A_NOTE = "wrote a note"
    ANSWERED_A_QUESTION = "answered a question"
    REMINDED_AN_ANNOTATOR = "reminded an annotator"

    MADE_A_MACHINE_JUDGE = "made a machine judge"
    FROZE_A_MACHINE_JUDGE = "froze a machine judge"
    DELETED_A_MACHINE_JUDGE = "deleted a machine judge"

    EXPORTED = "exported"
    WROTE_A_RECIPE = "wrote a recipe"
    DELETED_A_RECIPE = "deleted a recipe"
    BUILT_A_RELEASE = "built a release"
    IMPORTED_A_RELEASE = "imported a release"
    BROUGHT_JUDGEMENTS = "brought judgements made elsewhere"
