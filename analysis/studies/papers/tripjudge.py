"""The study that compares judgements with clicks: tables and figures of TripJudge (Althammer et al.
2022)."""

from __future__ import annotations

from analysis.studies.study import Study, StudyPart
from analysis.studies.tripjudge import campaign, groups, systems
from analysis.studies.tripjudge.inputs import SETTING_KEYS

STUDY = Study(
    name="tripjudge",
    group="trust",
    title="A test collection judged by people",
    source="Althammer, Hofstätter, Verberne, Hanbury: TripJudge, CIKM 2022",
    sentence="The campaign, its labels and agreement, and whether judgements and clicks rank systems alike.",
    keys=SETTING_KEYS,
    parts=(
        StudyPart("campaign", "Table 1: the campaign", campaign.make_campaign_numbers),
        StudyPart(
            "labels",
            "Figure 1: labels by decision",
            campaign.make_labels_and_decisions,
        ),
        StudyPart("agreement", "Figure 2: agreement of annotators", campaign.make_agreement),
        StudyPart("times", "Time of judging", campaign.make_times),
        StudyPart(
            "systems",
            "Table 2: systems by judgements and by clicks",
            systems.make_systems_by_labels,
        ),
        StudyPart(
            "rankings",
            "Table 3: do judgements and clicks rank systems alike?",
            systems.make_ranking_comparison,
        ),
        StudyPart("published", "Table 3 as published", systems.make_published_tau),
        StudyPart(
            "clicks", "Figure 3: judgements against click labels", systems.make_click_comparison
        ),
        StudyPart("reusability", "Reusability of the pool", systems.make_reusability),
        StudyPart("groups", "By topic group", groups.make_groups),
        StudyPart("survey", "Survey answers", groups.make_survey),
    ),
)
