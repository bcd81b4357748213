"""API addresses of collections, pools and jobs."""

from django.urls import path

from pooling.api import views

urlpatterns = [
    path("collections/", views.CollectionList.as_view(), name="api-collections"),
    path("collections/<slug:slug>/", views.CollectionDetail.as_view(), name="api-collection"),
    path("collections/<slug:slug>/uploads/", views.UploadList.as_view(), name="api-uploads"),
    path(
        "collections/<slug:slug>/uploads/<int:pk>/", views.UploadDetail.as_view(), name="api-upload"
    ),
    path("collections/<slug:slug>/topics/", views.TopicList.as_view(), name="api-topics"),
    path(
        "collections/<slug:slug>/topics/check", views.TopicCheck.as_view(), name="api-topics-check"
    ),
    path(
        "collections/<slug:slug>/topics/decisions",
        views.TopicDecisions.as_view(),
        name="api-topics-decisions",
    ),
    path(
        "collections/<slug:slug>/documents/",
        views.DocumentFileList.as_view(),
        name="api-document-files",
    ),
    path(
        "collections/<slug:slug>/documents/<int:pk>/",
        views.DocumentFileDetail.as_view(),
        name="api-document-file",
    ),
    path("collections/<slug:slug>/runs/", views.RunList.as_view(), name="api-runs"),
    path("collections/<slug:slug>/runs/<int:pk>/", views.RunDetail.as_view(), name="api-run"),
    path("collections/<slug:slug>/qrels/", views.QrelsList.as_view(), name="api-qrels-list"),
    path("collections/<slug:slug>/qrels/<int:pk>/", views.QrelsDetail.as_view(), name="api-qrels"),
    path("collections/<slug:slug>/pools/", views.PoolList.as_view(), name="api-pools"),
    path(
        "collections/<slug:slug>/pools/preview",
        views.PoolPreview.as_view(),
        name="api-pool-preview",
    ),
    path("collections/<slug:slug>/pools/<int:pk>/", views.PoolDetail.as_view(), name="api-pool"),
    path(
        "collections/<slug:slug>/pools/<int:pk>/extend",
        views.ExtendPool.as_view(),
        name="api-pool-extend",
    ),
    path(
        "collections/<slug:slug>/pools/<int:pk>/batches",
        views.PlanBatch.as_view(),
        name="api-pool-batches",
    ),
    path(
        "collections/<slug:slug>/pools/<int:pk>/stages",
        views.DrawStage.as_view(),
        name="api-pool-stages",
    ),
    path(
        "collections/<slug:slug>/pools/<int:pk>/entries",
        views.EntryList.as_view(),
        name="api-pool-entries",
    ),
    path(
        "collections/<slug:slug>/pools/<int:pk>/pool.tsv",
        views.PoolTable.as_view(),
        name="api-pool-table",
    ),
    path("jobs/", views.JobList.as_view(), name="api-jobs"),
    path("jobs/<int:pk>/", views.JobDetail.as_view(), name="api-job"),
    path("jobs/<int:pk>/cancel", views.CancelJob.as_view(), name="api-job-cancel"),
]
