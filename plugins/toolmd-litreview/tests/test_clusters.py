"""The light helpers: candidates, clusters, their labels and numbers; and nothing in between."""

import numpy as np
import pytest
from openai_server import vector_of

from toolmd_litreview.clusters import DIMENSIONS, normal, part, recluster, sort_in, to_bytes
from toolmd_litreview.library import Library
from toolmd_litreview.paper import Paper

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


def test_two_thousand_papers_are_clustered_fast(library):
    chance = np.random.default_rng(1)
    rows = normal(chance.standard_normal((2_000, DIMENSIONS)).astype(np.float32))
    belongs, centres = part(rows, 10)
    assert len(centres) == 10
    assert len(belongs) == 2_000


def test_a_file_of_a_later_version_is_not_touched(library, tmp_path):
    with library.database.writing() as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(Exception, match="later than this program's"):
        Library(library.database.path.parent, lambda: None)
