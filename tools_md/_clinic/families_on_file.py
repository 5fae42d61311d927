"""The demonstration families; their telephone numbers are fictitious."""

from typing import Final, NamedTuple


class ChildOnFile(NamedTuple):
    """A child of the seed."""

    name: str
    birth_date: str
    allergies: str = ""


class FamilyOnFile(NamedTuple):
    """A family of the seed."""

    patient_id: str
    parent_name: str
    phone_number: str
    insurance: tuple[str, str] | None
    """The insurer and the member's number, as `insurer.POLICIES` has them."""
    children: tuple[ChildOnFile, ...]


FAMILIES: Final = (
    FamilyOnFile(
        "P-1001",
        "Elena Rivera",
        "+12145550142",
        ("Lone Star Dental", "LSD-204418"),
        (ChildOnFile("Mia", "2015-04-12"), ChildOnFile("Leo", "2018-09-30", "Penicillin")),
    ),
    FamilyOnFile(
        "P-1002",
        "Samuel Okafor",
        "+12145550117",
        ("Bluebonnet Health", "BBH-55-1290"),
        (
            ChildOnFile("Ada", "2013-01-22"),
            ChildOnFile("Chidi", "2016-07-08", "Latex"),
            ChildOnFile("Zora", "2020-11-03"),
        ),
    ),
    FamilyOnFile(
        "P-1003", "Ingrid Lindqvist", "+12145550163", None, (ChildOnFile("Nils", "2017-02-14"),)
    ),
    FamilyOnFile(
        "P-1004",
        "Huong Nguyen",
        "+12145550128",
        ("Lone Star Dental", "LSD-310077"),
        (
            ChildOnFile("Anh", "2012-05-19"),
            ChildOnFile("Bao", "2014-08-25"),
            ChildOnFile("Chau", "2016-12-01", "Nuts"),
            ChildOnFile("Duc", "2019-03-17"),
        ),
    ),
    FamilyOnFile(
        "P-1005",
        "Maryam Haddad",
        "+12145550139",
        ("Bluebonnet Health", "BBH-55-0083"),
        (ChildOnFile("Noor", "2014-10-10"), ChildOnFile("Sami", "2017-06-21", "Ibuprofen")),
    ),
    FamilyOnFile(
        "P-1006",
        "Grace Brooks",
        "+12145550171",
        None,
        (
            ChildOnFile("Ellis", "2013-09-09"),
            ChildOnFile("June", "2015-11-27"),
            ChildOnFile("Theo", "2018-01-05"),
            ChildOnFile("Wren", "2021-06-13"),
        ),
    ),
)
