"""A person's decision on a pending call, and the approver, who takes it."""

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self

from toolmd._types.call import NO_CONTEXT, Caller, Fact
from toolmd._types.visible import brief

_YES = (
    r"y|yes|yeah|yep|sure|ok|okay|correct|right|(?:that'?s|that is|looks) (?:correct|right|good)"
    "|go ahead|do it|i confirm|confirmed|ja|stimmt|sí|si|está bien|oui|d'accord|sim|是的|好的"
)
_NO = r"n|no|nope|don'?t|do not|leave it|cancel|stop|nein|non|não|不是|不要"
_POLITE = r"please|thanks|thank you|bitte|por favor|s'il te plaît|merci|to me"
_REST = frozenset("a add do for i in it log make my of save that the this to".split())
"""Words that may stand beside a yes or a no, with those of the question."""
_MARKS = ".,;:!?\"'“”„«»()…。、\N{FULLWIDTH COMMA}\N{FULLWIDTH EXCLAMATION MARK}"
"""Marks around a word that change nothing."""
_BUT = frozenset("but except if later no not never don't n't nicht wenn aber pero mais".split())


class Decision(NamedTuple):
    """A person's decision on a pending call."""

    kind: Literal["approve", "edit", "reject", "respond"]
    """One of four; each has a method below."""
    arguments: Mapping[str, Any] = {}
    """For `edit`: the arguments that change."""
    text: str = ""
    """For `respond`: the text that the model receives as the tool's result."""

    def __repr__(self) -> str:
        return brief(self, "arguments", "text")

    @classmethod
    def approve(cls) -> Self:
        """Run the call as shown."""
        return cls("approve")

    @classmethod
    def edit(cls, arguments: Mapping[str, Any]) -> Self:
        """Run the call with these arguments changed."""
        return cls("edit", arguments)

    @classmethod
    def reject(cls) -> Self:
        """Reject the call, so that it never runs."""
        return cls("reject")

    @classmethod
    def from_words(cls, words: str, question: str = "") -> Self | None:
        """Return the decision of a yes or a no; None for words that say more than that.

        Args:
            words: What a person wrote, such as `Yes, please log it`.
            question: The question that they answer: the answer may repeat words that follow
                each other in it.
        """
        plain = words.strip().casefold().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
        if not {*plain}.isdisjoint("?؟\N{FULLWIDTH QUESTION MARK}"):
            return None  # A question decides nothing.
        for meaning, decision in ((_YES, cls.approve()), (_NO, cls.reject())):
            one = rf"(?:(?:{_POLITE})[\s,.!;]+)?(?:{meaning})(?:[\s,.!;]+(?:{meaning}|{_POLITE}))*"
            found = re.match(rf"{one}(?![\w'])", plain)
            if found is None:
                continue
            rest = _words(re.sub(rf"\b(?:{_POLITE})(?![\w'])", " ", plain[found.end() :]))
            # A yes that leaves out words between two others may mean a part of the question.
            answer, asked = (
                f" {' '.join(word for word in each if word not in _REST)} "
                for each in (rest, _words(question.casefold()))
            )
            repeats = not answer.strip() or answer in asked
            if not rest or (question and repeats and _BUT.isdisjoint(rest)):
                return decision
        return None

    @classmethod
    def respond(cls, text: str) -> Self:
        """Return `text` as the result; the call never runs."""
        return cls("respond", text=text)


def _words(text: str) -> list[str]:
    return [word for part in text.split() if (word := part.strip(_MARKS))]


class Approver(NamedTuple):
    """The person who decides, as the host knows them; a model never names one."""

    user: str | None = None
    """The person's user id, as in `Caller`; None for an operator of the host."""
    name: str | None = None
    """The person's name in the record of the decision; `user` by default."""
    roles: tuple[str, ...] = ()
    """The person's roles, as the host knows them now."""
    context: Mapping[str, Fact] = NO_CONTEXT
    """Facts about the person by name, as in `Caller`."""
    via: str | None = None
    """Who decides for the person, such as a backend; None if she decides herself."""

    @classmethod
    def of(cls, caller: Caller) -> Self:
        """Return the caller of a request as the person who decides."""
        return cls(caller.user, None, caller.roles, caller.context, caller.via)


OPERATOR = Approver()
