"""The light helpers: candidates, clusters, their labels and numbers; and nothing in between."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openai_server import vector_of

from toolmd_litreview.clusters import compute_metrics, recluster, sort_in
from toolmd_litreview.kmeans import groups_for, part
from toolmd_litreview.labels import labels_of
from toolmd_litreview.library import Library
from toolmd_litreview.paper import LONGEST_TEXT, Paper
from toolmd_litreview.vectors import DIMENSIONS, normal, to_bytes

HEARTS = [f"Statins and heart failure {number}" for number in range(30)]
LUNGS = [f"Steroids in asthma of children {number}" for number in range(30)]


def fill(shelf, titles, first=1, embedder="m"):
    papers = [Paper(first + place, title, "") for place, title in enumerate(titles)]
    shelf.add_papers(papers)
    shelf.set_vectors(embedder, {p.pmid: to_bytes(vector_of(p.title)) for p in papers})
    return papers


def themes(shelf):
    return [sorted(p.pmid for p in shelf.papers(c.cluster_id)) for c in shelf.clusters()]


def test_papers_of_two_themes_part_into_two_clusters_with_labels(library):
    shelf = library.of("ana")
    fill(shelf, HEARTS)
    fill(shelf, LUNGS, 101)
    recluster(shelf, "m")
    assert sorted(themes(shelf)) == [list(range(1, 31)), list(range(101, 131))]
    assert [c.label for c in shelf.clusters()] == [
        "asthma children steroids",
        "failure heart statins",
    ]


def test_the_same_papers_give_the_same_clusters(library):
    shelf = library.of("ana")
    fill(shelf, HEARTS + LUNGS)
    recluster(shelf, "m")
    first = shelf.clusters()
    recluster(shelf, "m")
    assert shelf.clusters() == first
    other = library.of("ben")
    fill(other, HEARTS + LUNGS)
    recluster(other, "m")
    assert {c.cluster_id for c in other.clusters()}.isdisjoint(c.cluster_id for c in first)


def test_a_few_new_papers_join_the_clusters_that_stand(library):
    shelf = library.of("ana")
    fill(shelf, HEARTS + LUNGS)
    sort_in(shelf, "m")
    before = shelf.clusters()
    fill(shelf, ["Statins and heart failure again"], 500)
    sort_in(shelf, "m")
    assert shelf.clusters() == before
    assert [theme for theme in themes(shelf) if 500 in theme] == [[*range(1, 31), 500]]


def test_many_new_papers_recompute_the_clusters(library):
    shelf = library.of("ana")
    fill(shelf, HEARTS)
    sort_in(shelf, "m")
    before = shelf.clusters()
    fill(shelf, LUNGS, 101)
    sort_in(shelf, "m")
    assert len(before) == 1
    assert len(shelf.clusters()) == 2


def test_another_model_recomputes_the_clusters(library):
    shelf = library.of("ana")
    fill(shelf, HEARTS)
    sort_in(shelf, "m")
    fill(shelf, HEARTS, embedder="n")
    sort_in(shelf, "n")
    assert {c.embedder for c in shelf.clusters()} == {"n"}
    assert shelf.without_vector("n") == []
    assert len(shelf.without_vector("m")) == 30


def test_a_paper_that_changed_leaves_its_cluster(library):
    shelf = library.of("ana")
    fill(shelf, HEARTS)
    sort_in(shelf, "m")
    assert shelf.add_papers([Paper(1, "Another title", "")]) == 0
    assert [p.pmid for p in shelf.without_vector("m")] == [1]
    assert 1 not in themes(shelf)[0]


def test_a_paper_of_a_removed_cluster_is_left_out(library):
    shelf = library.of("ana")
    fill(shelf, HEARTS)
    sort_in(shelf, "m")
    shelf.place({1: "cl-of-yesterday"})
    assert 1 not in themes(shelf)[0]


def test_clusters_are_counted(library):
    shelf = library.of("ana")
    fill(shelf, HEARTS)
    recluster(shelf, "m")
    (metrics,) = compute_metrics(shelf)
    assert (metrics.papers, metrics.label) == (30, "failure heart statins")
    assert 0.8 < metrics.cohesion < 1
    assert str(metrics).startswith("failure heart statins: 30 papers, cohesion 0.")


def test_no_papers_make_no_clusters(library):
    shelf = library.of("ana")
    sort_in(shelf, "m")
    recluster(shelf, "m")
    assert (shelf.clusters(), compute_metrics(shelf)) == ([], [])


def test_a_label_has_words_that_set_titles_apart():
    same = ["A randomised trial of x", "12 34", "", "the of and"]
    assert labels_of([same]) == ["papers"]
    assert labels_of([["Beta-blockers, beta-blockers!"], ["Über Äpfel"]]) == [
        "beta-blockers",
        "äpfel über",
    ]


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 99))
def test_each_vector_is_in_the_group_with_the_nearest_centre(count, groups, seed):
    chance = np.random.default_rng(seed)
    rows = normal(chance.standard_normal((count, DIMENSIONS)).astype(np.float32))
    belongs, centres = part(rows, groups)
    assert len(centres) <= min(groups, count)
    assert set(belongs) == set(range(len(centres)))
    assert (belongs == np.argmax(rows @ centres.T, axis=1)).all()


@pytest.mark.parametrize("rows", [np.zeros((5, 1024)), np.tile(np.eye(1, 1024), (5, 1))])
def test_vectors_that_are_all_alike_are_one_group(rows):
    belongs, centres = part(rows.astype(np.float32), 3)
    assert (list(belongs), len(centres)) == ([0] * 5, 1)


def test_groups_grow_slower_than_papers():
    assert [groups_for(n) for n in (1, 44, 45, 200, 2_000, 100_000)] == [1, 1, 2, 3, 10, 12]


def test_two_thousand_papers_are_clustered_fast(library):
    chance = np.random.default_rng(1)
    rows = normal(chance.standard_normal((2_000, DIMENSIONS)).astype(np.float32))
    belongs, centres = part(rows, 10)
    assert len(centres) == 10
    assert len(belongs) == 2_000


def test_a_text_to_embed_is_bounded():
    assert len(Paper(1, "T", "a" * 10**6).text) == LONGEST_TEXT


def test_only_the_owner_reads_the_review(library):
    path = library.database.path
    assert path.stat().st_mode & 0o077 == 0


def test_a_file_of_a_later_version_is_not_touched(library, tmp_path):
    with library.database.writing() as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(Exception, match="later than this program's"):
        Library(library.database.path.parent, lambda: None)
