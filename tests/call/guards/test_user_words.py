"""What counts as said by the user: keywords and their inflections, and the words of values."""

import pytest

from toolmd._call.guards.intent import MAX_MESSAGE, says_any, states, words_of
from toolmd._call.guards.said import MAX_ASSESSED, Said

FORMS = {
    "log": "log logs logged logging logger loggers",
    "remind": "remind reminds reminded reminding reminder reminders",
    "schedule": "schedule schedules scheduled scheduling scheduler schedulers",
    "carry": "carry carries carried carrier carrying",
    "study": "study studies studied",
    "play": "play plays played playing player",
    "fix": "fix fixes fixed fixing",
    "show": "show shows showed showing",
    "treat": "treat treats treated treating",
    "wish": "wish wishes wished",
    "length": "length lengths lengthed",
    "it": "it",
    "c3p": "c3p",
    "take": "take takes took taken taking taker takers",
    "drink": "drink drinks drank drunk drinking drinker",
    "put": "put puts putting",
    "go": "go goes went gone going",
    "tooth": "tooth teeth",
}
OTHERS = {
    "log": "lo logg logo logics blog login logeed logied",
    "remind": "remin remindful reminders2 reremind remindded remindder reminies reminied",
    "schedule": "schedul scheduleed schedulling scheduleing schedulei",
    "carry": "carr carris carryied carriing",
    "study": "studis studyied studdies",
    "play": "plaies plaied plai",
    "fix": "fixxed fixxing",
    "show": "showwed showwing",
    "treat": "treatted treatting",
    "wish": "wishhed",
    "length": "lengthhed lengthhing",
    "it": "its ites ited iting iter itter",
    "c3p": "c3ps c3pped",
    "take": "tooks tak untaken mistook",
    "drink": "drunken drankk",
    "put": "pu pat",
    "go": "gos goer ego forgone",
    "tooth": "teethe toot",
}


@pytest.mark.parametrize("keyword", FORMS)
def test_a_keyword_matches_each_of_its_forms_and_no_other_word(keyword):
    for form in FORMS[keyword].split():
        assert says_any(f"please {form.upper()}, now", (keyword,)), form
    for other in OTHERS[keyword].split():
        assert not says_any(f"please {other} now", (keyword,)), other


@pytest.mark.parametrize("keyword", ["-", "", " ", "?!"])
def test_a_keyword_without_a_word_matches_nothing(keyword):
    assert not says_any(f"so {keyword} then", (keyword,))
    assert says_any("so be it", (keyword, "be"))


def test_a_keyword_of_several_words_matches_adjacent_inflected_words():
    keyword = ("write it down",)
    assert says_any("I would write it -- down", keyword)
    assert says_any("writing it down", keyword)
    assert not says_any("write it all down", keyword)
    assert not says_any("down it write", keyword)
    assert not says_any("write itdown", keyword)
    assert not says_any("rewrite it down", keyword)


def test_any_of_the_keywords_is_enough():
    assert says_any("add it", ("log", "add"))
    assert says_any("log it", ("log", "add"))
    assert not says_any("do it", ("log", "add"))
    assert not says_any("do it", ())


def test_values_are_found_in_a_message_up_to_its_limit():
    assert MAX_MESSAGE == 256 * 1024
    for letter in ("-", "–"):
        filled = letter * (MAX_MESSAGE - 3)
        assert states("log", f"{filled}log") is Said.UNSURE
        assert states("log", f"{filled}-log") is Said.NO
        assert states("log", f"{letter * (MAX_ASSESSED - 3)}log") is Said.YES


def test_restricting_words_are_found_in_a_message_of_any_length():
    for letter in ("-", "–"):
        assert says_any(f"{letter * 2 * MAX_MESSAGE}log", ("log",))


def test_different_spellings_match():
    assert words_of("Straße STRASSE ﬁx ①") == ["strasse", "strasse", "fix", "1"]
    assert words_of("A-b c_d") == ["a", "b", "c_d"]


@pytest.mark.parametrize(
    ("value", "message", "lacking"),
    [
        ("Aspirin 100", "100 mg of ASPIRIN", False),
        ("Aspirin 100", "Aspirin", True),
        ("Aspirin 100", "I took 100", True),
        (100, "it was 100", False),
        (100, "it was 1000", True),
        (True, "it is true", False),
        (True, "it is 1, or false", True),
        (False, "it is false", False),
        (False, "it is 0, or true", True),
        (None, "", False),
        ("", "", False),
        ("none", "", True),
        (["a", ["b"]], "b and a", False),
        (["a", ["b"]], "a", True),
        ({"key": "a", "other": {"b": "c"}}, "c, a", False),
        ({"key": "a", "other": {"b": "c"}}, "key a, b", True),
    ],
)
def test_a_value_matches_if_all_its_words_do(value, message, lacking):
    assert (states(value, message) is not Said.YES) is lacking
