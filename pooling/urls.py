"""Addresses of the pages of collections, pools and jobs."""

from django.urls import path

from pooling.views import collections, files, jobs, pools, topics, uploads

urlpatterns = [
    path("collections/", collections.index, name="collections"),
    path("collections/new", collections.new, name="collection-new"),
    path("collections/<slug:slug>/", collections.overview, name="collection"),
    path("collections/<slug:slug>/settings", collections.edit, name="collection-edit"),
    path("collections/<slug:slug>/remove", collections.removal_page, name="collection-removal"),
    path("collections/<slug:slug>/delete", collections.delete, name="collection-delete"),
    path("collections/<slug:slug>/uploads", uploads.upload, name="collection-upload"),
    path("collections/<slug:slug>/uploads/all", uploads.decide_all, name="upload-decide-all"),
    path("collections/<slug:slug>/uploads/refused", uploads.dismiss, name="upload-dismiss"),
    path("collections/<slug:slug>/uploads/<int:pk>", uploads.decide, name="upload-decide"),
    path("collections/<slug:slug>/topics/", topics.index, name="collection-topics"),
    path("collections/<slug:slug>/topics/change", topics.change, name="collection-topics-change"),
    path("collections/<slug:slug>/topics/check", topics.check, name="collection-check"),
    path(
        "collections/<slug:slug>/topics/kept.tsv",
        topics.export,
        {"which": "kept"},
        name="topics-kept",
    ),
    path(
        "collections/<slug:slug>/topics/removed.tsv",
        topics.export,
        {"which": "removed"},
        name="topics-removed",
    ),
    path("collections/<slug:slug>/runs/", files.runs, name="collection-runs"),
    path("collections/<slug:slug>/runs/<int:pk>/", files.run, name="run"),
    path("collections/<slug:slug>/qrels/", files.qrels, name="collection-qrels"),
    path("collections/<slug:slug>/qrels/<int:pk>/delete", files.drop_qrels, name="qrels-delete"),
    path("collections/<slug:slug>/documents/", files.documents, name="collection-documents"),
    path("collections/<slug:slug>/documents/<int:pk>/", files.document, name="document"),
    path(
        "collections/<slug:slug>/documents/files/<int:pk>/delete",
        files.drop_document_file,
        name="document-file-delete",
    ),
    path("collections/<slug:slug>/pools/", pools.index, name="collection-pools"),
    path("collections/<slug:slug>/pools/new", pools.new, name="collection-pool-new"),
    path("collections/<slug:slug>/pools/previews/<int:pk>", pools.preview, name="pool-preview"),
    path("collections/<slug:slug>/pools/<int:pk>/", pools.pool, name="pool"),
    path("collections/<slug:slug>/pools/<int:pk>/change", pools.change, name="pool-change"),
    path(
        "collections/<slug:slug>/pools/<int:pk>/extensions/<int:job_pk>",
        pools.extension,
        name="pool-extension",
    ),
    path("collections/<slug:slug>/pools/<int:pk>/pool.tsv", pools.table, name="pool-table"),
    path("jobs/", jobs.index, name="jobs"),
    path("jobs/<int:pk>/", jobs.job, name="job"),
    path("jobs/<int:pk>/part", jobs.fragment, name="job-fragment"),
    path("jobs/<int:pk>/cancel", jobs.cancel, name="job-cancel"),
    path("jobs/<int:pk>/problems.tsv", jobs.problems, name="job-problems"),
]
