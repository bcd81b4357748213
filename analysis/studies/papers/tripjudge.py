"""A test collection judged by people, beside one made of clicks: the tables and figures of
TripJudge."""

from __future__ import annotations

from analysis.studies.study import Study, StudyPart
from analysis.studies.tripjudge import campaign, groups, systems
from analysis.studies.tripjudge.inputs import KEYS

STUDY = Study(
    name="tripjudge",
    title="A test collection judged by people",
    source="Althammer, Hofstätter, Verberne, Hanbury: TripJudge, CIKM 2022",
    sentence="The campaign, its labels and agreement, and whether judgements rank systems as clicks do.",
    keys=KEYS,
    parts=(
        StudyPart("campaign", "Table 1: the campaign", campaign.campaign_in_numbers),
        StudyPart(
            "labels", "Figure 1: labels and how they were decided", campaign.labels_and_decisions
        ),
        StudyPart(
            "agreement", "Figure 2: agreement of the annotators", campaign.agreement_of_annotators
        ),
        StudyPart("times", "Time of judging", campaign.times),
        StudyPart(
            "systems",
            "Table 2: systems under judgements and under clicks",
            systems.systems_by_labels,
        ),
        StudyPart(
            "rankings",
            "Table 3: do judgements and clicks rank systems alike?",
            systems.rankings_compared,
        ),
        StudyPart("published", "Table 3 as published", systems.published_tau),
        StudyPart(
            "clicks", "Figure 3: judgements against click labels", systems.judgements_against_clicks
        ),
        StudyPart("groups", "By topic group", groups.by_group),
        StudyPart("survey", "What annotators said", groups.survey),
    ),
)
