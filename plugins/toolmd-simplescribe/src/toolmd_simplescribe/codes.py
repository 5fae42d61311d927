"""Name the LOINC codes of laboratory results and vital signs."""

import re
from importlib.resources import files
from typing import Final

NAMES: Final = dict(
    re.findall(
        r"^\| (\d+-\d) \| (.+) \|$",
        (files("toolmd_simplescribe") / "tools" / "get-labs.tool.md").read_text("utf-8"),
        re.MULTILINE,
    )
)
"""Names of common results, as the file of get_labs lists them.

A result with one of these codes is a laboratory result even without that category.
"""

VITALS: Final = {
    "29463-7": "Weight",
    "3141-9": "Weight",
    "39156-5": "BMI",
    "85354-9": "BP",
    "55284-4": "BP",
    "8867-4": "Pulse",
    "8310-5": "Temperature",
    "8331-1": "Temperature",
    "9279-1": "Respiration",
    "2708-6": "Oxygen",
    "59408-5": "Oxygen",
}
"""The kinds of get_vitals by code; BP is a panel of the two pressures."""

SYSTOLIC: Final = "8480-6"
DIASTOLIC: Final = "8462-4"

LOINC: Final = "http://loinc.org"
