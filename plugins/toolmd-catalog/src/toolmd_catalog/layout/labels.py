"""The role of a span, read from the label above it."""

import re

from toolmd_catalog.words import clean, fold

_ROLES: dict[str, str] = {
    "purpose": "purpose description summary what whatitdoes does overview function desc about",
    "when": "whentouse whentousethis whentouseit whentousethistool usewhen usage usethiswhen "
    "whentocall trigger triggers usecase usecases callwhen use",
    "parameters": "parameters parameter params param arguments argument args arg argsschema "
    "argumentsschema argschema input inputs inputschema inputparameters inputfields "
    "requestparameters parametersschema paramsschema parameterschema requestbody validationrules "
    "validation fields schema takes requiredparameters optionalparameters requiredarguments "
    "optionalarguments requiredparams optionalparams requiredargs optionalargs requiredinputs "
    "optionalinputs requestschema payload toolparameters functionparameters queryparameters "
    "parametersandtypes accepts properties signature",
    "returns": "returns return output outputs response responses responseitems responsefields "
    "result results outputschema responseschema returnvalue returntype responseformat "
    "outputformat gives yields",
    "safety": "safety safetyrules guard guards guardrail guardrails policy policies security "
    "permissions confirmation requiresconfirmation confidence minconfidence minimumconfidence "
    "confidencethreshold sensitivity risk risklevel intent explicitintent explicitintentrequired "
    "safetynotes safetyrequirements access auth authentication requiresauth requiresauthentication "
    "sideeffects readonly idempotent idempotency idempotence",
    "limits": "limits limit ratelimit ratelimits ratelimiting quota quotas timeout timeouts "
    "retries retry retrypolicy budget budgets maxcalls performance concurrency batch batchsize "
    "alloweddomains domains approveddomains",
    "notes": "notes note cost costs implementation followup caveats remarks warnings warning "
    "constraints behaviour behavior errors error errorhandling errorcodes details info "
    "prerequisites requirements comments background limitations tips examplesnotes",
    "name": "name toolname functionname tool function identifier id",
    "title": "title displayname",
    "category": "category group domain kind",
    "version": "version",
    "tags": "tags labels keywords",
}
_BY_WORD = {word: role for role, listed in _ROLES.items() for word in listed.split()}
_SHARED = re.compile(r"\b(?:global|shared|common|universal)\b", re.IGNORECASE)
_OF_PARAMETERS = re.compile(r"\b(?:param\w*|arg\w*|fields?|inputs?)\b", re.IGNORECASE)
_GIVEN = re.compile(
    r"\b(?:param(?:eter)?s?|arg(?:ument)?s?|inputs?)\b|"
    r"^(?:optional|required) .*\b(?:fields?|headers?|options?|filters?|properties)\b",
    re.IGNORECASE,
)
_MOST_WORDS = 5
_RESULT = re.compile(r"response|result|output|return", re.IGNORECASE)
_LABEL = re.compile(
    r"(?P<label>[A-Za-z][A-Za-z '/&-]{1,40}?)\s*(?P<of>\([^()]*\))?\s*"
    r"(?::|：|\s[-–—]\s)\s*(?P<rest>.*)",  # noqa: RUF001
    re.DOTALL,
)


def role_of(label: str) -> str:
    """Return a label's role: one of the table, `example`, `result`, or empty."""
    words = re.sub(r"\([^()]*\)", " ", clean(label)).strip(" :*`")
    if _SHARED.search(words) and _OF_PARAMETERS.search(words):
        return "shared"
    key = fold(words)
    if key in _BY_WORD:
        return _BY_WORD[key]
    if key.startswith(("example", "sample")):
        return "result" if _RESULT.search(words) else "example"
    if key.endswith(("example", "examples")):
        return "result" if _RESULT.search(words) else "example"
    given = _GIVEN.search(words) and not _RESULT.search(words)
    return "parameters" if given and len(words.split()) <= _MOST_WORDS else ""


def labelled(text: str) -> tuple[str, str, str] | None:
    """Return role, label and rest of a text that begins with a label; None where none does."""
    marked = text.lstrip().startswith(("**", "__", "*", "`"))
    match = _LABEL.fullmatch(clean(text))
    if match is None:
        alone = clean(text).strip(" :")
        role = role_of(alone) if marked or text.rstrip().endswith(":") else ""
        return (role, alone, "") if role else None
    label = f"{match['label']} {match['of'] or ''}".strip()
    role = role_of(label)
    if role:
        return role, label, match["rest"]
    # An unknown word in bold is a label as well: its text is kept under it.
    bold = re.match(r"\s*(?:\*\*|__)[^*_]+:?(?:\*\*|__)\s*:?", text)
    return ("other", label, match["rest"]) if bold else None
