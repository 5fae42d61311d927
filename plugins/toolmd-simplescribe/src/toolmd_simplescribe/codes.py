"""Name the LOINC codes of common laboratory results, and the kinds of vital signs."""

from typing import Final

NAMES: Final = {
    "4548-4": "Hemoglobin A1c",
    "17856-6": "Hemoglobin A1c (HPLC)",
    "2345-7": "Glucose",
    "2339-0": "Glucose (blood)",
    "1558-6": "Glucose, fasting",
    "2160-0": "Creatinine",
    "38483-4": "Creatinine (blood)",
    "33914-3": "Estimated GFR (MDRD)",
    "62238-1": "Estimated GFR (CKD-EPI)",
    "98979-8": "Estimated GFR (CKD-EPI 2021)",
    "3094-0": "Urea nitrogen",
    "6299-2": "Urea nitrogen (blood)",
    "2951-2": "Sodium",
    "2947-0": "Sodium (blood)",
    "2823-3": "Potassium",
    "6298-4": "Potassium (blood)",
    "2075-0": "Chloride",
    "2069-3": "Chloride (blood)",
    "2028-9": "Carbon dioxide",
    "20565-8": "Carbon dioxide (blood)",
    "17861-6": "Calcium",
    "49765-1": "Calcium (blood)",
    "19123-9": "Magnesium",
    "2777-1": "Phosphate",
    "1751-7": "Albumin",
    "2885-2": "Total protein",
    "1975-2": "Bilirubin, total",
    "1968-7": "Bilirubin, direct",
    "1742-6": "Alanine aminotransferase",
    "1920-8": "Aspartate aminotransferase",
    "6768-6": "Alkaline phosphatase",
    "2324-2": "Gamma glutamyl transferase",
    "2532-0": "Lactate dehydrogenase",
    "3040-3": "Lipase",
    "2093-3": "Cholesterol",
    "2085-9": "HDL cholesterol",
    "13457-7": "LDL cholesterol (calculated)",
    "18262-6": "LDL cholesterol (direct)",
    "2571-8": "Triglycerides",
    "43396-1": "Non-HDL cholesterol",
    "718-7": "Hemoglobin",
    "4544-3": "Hematocrit",
    "6690-2": "Leukocytes",
    "789-8": "Erythrocytes",
    "777-3": "Platelets",
    "787-2": "Mean corpuscular volume",
    "785-6": "Mean corpuscular hemoglobin",
    "786-4": "Mean corpuscular hemoglobin concentration",
    "788-0": "Erythrocyte distribution width",
    "2276-4": "Ferritin",
    "2498-4": "Iron",
    "2500-7": "Iron binding capacity",
    "2132-9": "Vitamin B12",
    "2284-8": "Folate",
    "1989-3": "25-hydroxyvitamin D3",
    "3016-3": "Thyrotropin",
    "3024-7": "Thyroxine, free",
    "3051-0": "Triiodothyronine, free",
    "1988-5": "C reactive protein",
    "30522-7": "C reactive protein (high sensitivity)",
    "4537-7": "Erythrocyte sedimentation rate",
    "5902-2": "Prothrombin time",
    "6301-6": "INR",
    "14979-9": "Activated partial thromboplastin time",
    "3084-1": "Urate",
    "2157-6": "Creatine kinase",
    "10839-9": "Troponin I",
    "6598-7": "Troponin T",
    "30934-4": "Natriuretic peptide B",
    "33762-6": "N-terminal pro-BNP",
    "9318-7": "Albumin/creatinine ratio (urine)",
    "14959-1": "Microalbumin/creatinine ratio (urine)",
    "14957-5": "Microalbumin (urine)",
    "2756-5": "pH (urine)",
    "5811-5": "Specific gravity (urine)",
    "2857-1": "Prostate specific antigen",
}
"""Names of results without a display in the record.

A result with one of these codes is a laboratory result even without that category. Which codes
get_labs returns is in its file alone.
"""

VITALS: Final = {
    "29463-7": "Weight",
    "3141-9": "Weight",
    "39156-5": "BMI",
    "85354-9": "BP",
    "55284-4": "BP",
}
"""The kinds of get_vitals by code; BP is a panel of the two pressures."""

SYSTOLIC: Final = "8480-6"
DIASTOLIC: Final = "8462-4"

LOINC: Final = "http://loinc.org"
