"""Read the user's own words: whether they ask for a call and state its values, or are in doubt."""

import asyncio
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal, get_args

from toolmd._call.denial import guard_failed
from toolmd._call.threads import AROUND, first_answer, is_from_outside
from toolmd._store.store import Store
from toolmd._types.call import Call, Caller
from toolmd._types.call_spec import language_and_word
from toolmd._types.registry import Registry
from toolmd.errors import logged

Clarity = Literal["clear", "unclear", "absent"]
"""What the user's words say: they state it, they may state it, or they do not mention it."""
AskIntent = Callable[[str, Sequence[str], Call], Iterable[Any]]
"""Asks each plugin (hook `toolmd_intent`); the first answer that is not None counts."""
ASSESS_S = 30.0
"""How long a plugin may take, in seconds: a model may stand behind it."""
MAX_MESSAGE = 256 * 1024
"""The characters of a message that are searched."""
DOUBT = (
    "not", "n't", "dont", "didnt", "doesnt", "wont", "cant", "cannot", "havent", "hasnt", "hadnt",
    "isnt", "arent", "wasnt", "werent", "couldnt", "wouldnt", "shouldnt", "aint",
    "no", "nope", "never", "ever", "none", "nothing", "nobody", "neither", "nor", "without",
    "except", "everything but", "all but", "hardly", "barely", "almost", "nearly",
    "if", "whether", "unless", "should", "might", "may have", "must have", "will", "ll", "gonna",
    "going to", "about to", "planning", "wants", "had to",
    "would have", "would be", "d have", "could have", "can i", "could i", "may i",
    "any idea", "has", "have i", "had i", "did i", "do i", "am i", "tell me", "what", "why", "how",
    "maybe", "perhaps", "probably", "think", "thought", "guess", "believe", "doubt", "unsure",
    "assume", "wish", "supposed", "supposedly", "apparently", "dreamed", "pretend",
    "imagine", "example", "kidding", "joking",
    "later", "tomorrow", "tonight", "soon", "someday", "last time", "remind me", "used to",
    "rather", "instead", "wait", "stop", "stopped", "cancel", "skip", "skipped", "missed",
    "refused", "forget", "forgot", "against", "delete", "remove", "undo",
    "mistake", "wrong",
    "hold off", "hold on", "thinking about", "wondering", "said", "says", "asked",
    "he", "she", "they", "him", "his", "her", "their", "people", "someone", "somebody",
    "my husband", "my wife", "my partner", "my son", "my daughter", "my child", "my mother",
    "my mom", "my mum", "my father", "my dad", "my brother", "my sister", "my friend",
    "my neighbor", "my neighbour",
)  # fmt: skip
"""The English words of doubt; packages and the project supply those of other languages."""

_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"[^.!?;\n…。！？；]*(?:\.(?=\w)[^.!?;\n…。！？；]*)*[.!?;\n…。！？；]*")  # noqa: RUF001
_QUESTION = re.compile(
    r"[?？¿\u055e\u061f\u1367\u1945\u203d\u2cfa\u2e2e\u2e54\ua60f\ua6f7\U00011143]|^\W*(?:is|are|was|were|do|does|did|when|where|which|who|whose)\b"  # noqa: RUF001
)
"""The mark of a question, or an English sentence that begins as one."""
_UNSPACED = (("\u3040", "\u30ff"), ("\u3400", "\u4dbf"), ("\u4e00", "\u9fff"), ("\uf900", "\ufaff"))
"""The first and the last letter of each block of scripts without spaces between words."""
_STATED = re.compile(r"(?:(?<!\S)[-\u2212](?=\d))?\w+(?:(?<=\d)[.,](?=\d)\w+)*")
"""A word of a value; a number has its sign, and its point or comma."""
_REMARK = 4
"""The most words of a remark that takes back what was said before."""
_ZEROS = re.compile(r"(?<=\d)\.0+$")


def fold(text: str) -> str:
    """Return a text NFKC and case-folded, with plain apostrophes, so that variants are equal."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return folded.replace("\u2019", "'").replace("\u2018", "'")


def _is_unspaced(word: str) -> bool:
    return any(first <= letter <= last for letter in word for first, last in _UNSPACED)


def inflections(word: str) -> Iterator[str]:
    """Yield the forms of a word by its ending, the word itself first."""
    yield word
    if len(word) < 3 or not word.isalpha():  # noqa: PLR2004 - "go" and "at" would become others
        return
    yield word + "s"
    if word.endswith("e"):
        yield from (word + "d", word + "r", word + "rs", word + "n", word[:-1] + "ing")
        return
    yield from (word + ending for ending in ("es", "ed", "ing", "er", "ers"))
    if word.endswith("y") and word[-2] not in "aeiou":
        yield from (word[:-1] + ending for ending in ("ies", "ied", "ier"))
    elif word[-1] not in "aeiouwxy" and word[-2] in "aeiou" and word[-3] not in "aeiou":
        yield from (word + word[-1] + ending for ending in ("ed", "ing", "er", "ers"))


@lru_cache(maxsize=256)
def pattern_of(keywords: tuple[str, ...], *, inflects: bool = True) -> re.Pattern[str]:
    """Return a pattern that finds one of the keywords, whole or inflected, in a folded text.

    The words of a longer keyword must stand side by side.
    """
    ways: list[str] = []
    tree: dict[str, Any] = {}
    for keyword in keywords:
        language, text = language_and_word(keyword)
        words = _WORD.findall(fold(text))
        if any(map(_is_unspaced, words)):
            ways.append(r"\W*".join(map(re.escape, words)))
        elif fold(text) == "n't":
            ways.append(r"(?<=n)['\u2019]t(?!\w)")
        elif words:
            below = tree
            for word in words:
                forms = inflections(word) if inflects and language in {"", "en"} else [word]
                below = below.setdefault("|".join(map(re.escape, forms)), {})
            below[""] = {}
    if tree:
        ways.append(rf"(?<!\w)(?:{_branches(tree)})")
    return re.compile("|".join(ways) or "(?!)")


def _branches(tree: dict[str, Any]) -> str:
    """Return the pattern of phrases that share their first words; the longest one is found."""
    ways = []
    for forms, below in tree.items():
        longer = {word: rest for word, rest in below.items() if word}
        more = rf"(?:\W+(?:{_branches(longer)}))" + "?" * ("" in below) if longer else ""
        ways.append(rf"(?:{forms})(?!\w){more}")
    return "|".join(ways)


def says_any(message: str, keywords: tuple[str, ...]) -> bool:
    """Return whether a message has one of the keywords, whole or inflected, in doubt or not."""
    return pattern_of(keywords).search(fold(message)) is not None


@lru_cache(maxsize=64)
def asks_for(
    messages: tuple[str, ...], keywords: tuple[str, ...], doubt: tuple[str, ...] = DOUBT
) -> Clarity:
    """Return whether messages ask for an action by one of its keywords.

    The newest message with a keyword counts. Each of its sentences with a keyword must be free of
    doubt, no short remark behind them may take them back ("No, wait."), and a later message must
    be free of doubt as a whole.
    """
    wanted, doubts = pattern_of(keywords), False
    for message in reversed(messages):
        found = False
        for sentence in _sentences(message):
            if wanted.search(sentence):
                found = True
                doubts = doubts or _doubts(sentence, wanted, doubt)
            elif found:
                remark = sentence.partition(",")[0]
                short = len(_WORD.findall(remark)) <= _REMARK
                doubts = doubts or (short and _doubts(remark, wanted, doubt))
        if found:
            return "unclear" if doubts else "clear"
        doubts = doubts or any(_doubts(one, wanted, doubt) for one in _sentences(message))
    return "absent"


def states(value: Any, messages: Iterable[str], doubt: tuple[str, ...] = DOUBT) -> Clarity:
    """Return whether messages state a value: each of its words, in a sentence without doubt.

    The newest message with a word counts, since the user may have taken back an older one. A
    number counts as a whole: 1 is not stated by "1.5" or "-1".
    """
    texts = [fold(text)[:MAX_MESSAGE] for text in _texts(value)]
    words = {_number(word) for text in texts for word in _STATED.findall(text)}
    signs = {text.strip() for text in texts if text and not _STATED.search(text)}
    # Its words count as no doubt only where they stand side by side, as in the value.
    own = pattern_of(tuple(texts), inflects=False)
    missing, is_clear = words | signs, True
    for message in reversed([*messages]):
        found, clear = set[str](), set[str]()
        for sentence in _sentences(message):
            stated = {_number(word) for word in _STATED.findall(sentence)}
            here = {
                word
                for word in missing
                if word in stated or ((word in signs or _is_unspaced(word)) and word in sentence)
            }
            found |= here
            if here and not _doubts(sentence, own, doubt):
                clear |= here
        missing = missing - found
        is_clear = is_clear and found == clear
    return "absent" if missing else "clear" if is_clear else "unclear"


def _sentences(message: str) -> Iterator[str]:
    return (one.group() for one in _SENTENCE.finditer(fold(message[:MAX_MESSAGE])) if one.group())


def _doubts(sentence: str, own: re.Pattern[str], doubt: tuple[str, ...]) -> bool:
    """Return whether a sentence asks, or has a word of doubt beside the words `own`."""
    if _QUESTION.search(sentence):
        return True
    return pattern_of(doubt, inflects=False).search(own.sub(" ", sentence)) is not None


def _number(word: str) -> str:
    """Return a word; a number without zeros behind its point."""
    return _ZEROS.sub("", word.replace("\u2212", "-"))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif value is not None:
        yield str(value)


class UserWords:
    """The words of users on one snapshot: their messages, and the hook that replaces the rule."""

    def __init__(
        self,
        registry: Registry,
        store: Store,
        doubt: Callable[[], tuple[str, ...]] | None = None,
        ask_intent: AskIntent | None = None,
    ) -> None:
        """Keep the parts; `doubt` returns more words of doubt, `ask_intent` replaces the rule."""
        self._registry = registry
        self._store = store
        self._doubt = doubt
        self._ask_intent = ask_intent
        self._matter: bool | None = None
        """Whether a tool needs the user's words; None if not yet known."""

    @property
    def doubt(self) -> tuple[str, ...]:
        """The words of doubt. Raises what a plugin raised."""
        return DOUBT if self._doubt is None else (*DOUBT, *self._doubt())

    async def hear(self, call: Call) -> Call:
        """Note a user's message, and return the call with those before it, if words matter.

        Within a conversation the messages since the last executed call are the user's words.
        Raises CallDenied where the store can't be used.
        """
        caller = call.caller
        if caller.conversation is None or not await self._needs_words(call.tool):
            return call
        try:
            earlier = await self._ask(lambda: self._hear(caller, call.reply, add=not call.dry_run))
        except Exception as error:  # noqa: BLE001 - an exception in a check denies
            raise guard_failed(call.tool, "intent", error) from None
        return call._replace(caller=caller._replace(earlier=earlier))

    async def use(self, call: Call) -> None:
        """Note that a call is executed: further calls need new words. Raises CallDenied."""
        caller = call.caller
        conversation = caller.conversation
        if conversation is None or not await self._needs_words(call.tool):
            return
        try:
            use = self._store.words.use
            await self._ask(lambda: use(conversation, caller.user, call.reply))
        except Exception as error:  # noqa: BLE001 - as above
            raise guard_failed(call.tool, "intent", error) from None

    async def assess(self, kind: str, wanted: Any, call: Call) -> Clarity:
        """Return whether the user's words ask by a keyword (`intent`), or state a value.

        Args:
            kind: `intent` or `verbatim`.
            wanted: The keywords, or the value.
            call: The call, with its caller's words.
        """
        sought = wanted if kind == "intent" else tuple(_texts(wanted))
        if (answer := await self.ask_hook(kind, sought, call)) is not None:
            return answer
        messages = (*call.caller.earlier, call.caller.message)
        if kind == "intent":
            return asks_for(messages, wanted, self.doubt)
        return states(wanted, messages, self.doubt)

    async def ask_hook(self, kind: str, sought: Sequence[str], call: Call) -> Clarity | None:
        """Return the answer of the hook `toolmd_intent`; None where no plugin answers.

        A failure and any other answer are `unclear`.
        """
        if (ask := self._ask_intent) is None:
            return None
        try:
            async with asyncio.timeout(ASSESS_S):
                answer = await first_answer(lambda: ask(kind, sought, call))
        except BaseException as error:
            if is_from_outside(error):
                raise
            logged(error, "the hook for the words of %s failed", call.tool)
            return "unclear"
        return answer if answer is None or answer in get_args(Clarity) else "unclear"

    def _hear(self, caller: Caller, reply: str | None, *, add: bool) -> tuple[str, ...]:
        conversation = caller.conversation
        assert conversation is not None
        if caller.message and add:
            self._store.words.add(conversation, caller.user, caller.message[:MAX_MESSAGE])
        heard = self._store.words.heard(conversation, caller.user, reply)
        return heard[:-1] if heard and heard[-1] == caller.message[:MAX_MESSAGE] else heard

    async def _needs_words(self, tool: str) -> bool:
        if self._matter is None:
            try:
                tools = self._registry.tools.values()  # It may read every file.
                self._matter = await AROUND.run(
                    lambda: any(reads_words(one.call_spec) for one in tools)
                )
            except Exception as error:  # noqa: BLE001 - as above
                raise guard_failed(tool, "intent", error) from None
        return bool(self._matter)

    async def _ask(self, question: Callable[[], Any]) -> Any:
        return await AROUND.run(question) if self._store.is_shared else question()


def reads_words(call_spec: Any) -> bool:
    """Return whether a tool's calls need the user's words."""
    return call_spec.safety.explicit_intent or any(
        parameter.shape.holds_verbatim for parameter in call_spec.parameters
    )
