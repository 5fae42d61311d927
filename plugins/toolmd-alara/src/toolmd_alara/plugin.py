"""Register the tools, their default confidence, and the health log."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from importlib.resources import files
from importlib.resources.abc import Traversable
from threading import Lock
from typing import TYPE_CHECKING

from toolmd import Resources, Settings, ToolSpec, hookimpl
from toolmd_alara.guards import TOOLS, adds_nothing, at_another_time, may_be_in_danger
from toolmd_alara.log import HealthLog
from toolmd_alara.zone import Zone

if TYPE_CHECKING:
    import typer

    from toolmd.hooks import Guard

DEFAULT_MIN = 0.7
"""Seed 001: "All tool calls require confidence of at least 0.7"; for tools without their own."""
_WISHES = (
    "I want to", "I just want to", "I wanna", "I'd like to", "I'm going to", "Im going to",
    "I am going to", "gonna", "I will", "I'll", "I might", "I need to", "I have to", "I tried to",
    "should I", "if I", "how do I", "how can I", "ways to", "plan to", "planning to", "feel like",
    "and want to", "think I want to", "thinking of", "thinking about", "I think about",
    "I have thoughts of", "having thoughts of",
)  # fmt: skip
_ACTS = (
    "kill myself", "end my life", "end my own life", "take my own life", "end it all",
    "hang myself", "commit suicide", "suicide", "jump off a bridge",
)  # fmt: skip
CRISIS_WORDS = (
    *(f"{wish} {act}" for wish in _WISHES for act in _ACTS),
    *(f"{wish} {act}" for wish in ("I want to", "I want 2", "I wanna", "I just want to",
                                   "I need to", "and want to")
      for act in ("die", "be dead", "hurt myself", "harm myself", "cut myself")),
    "I'm suicidal", "Im suicidal", "I am suicidal", "I feel suicidal", "feeling suicidal",
    "I have suicidal thoughts", "having suicidal thoughts", "been cutting myself",
    "started cutting myself", "self harm again", "wish I wasn't alive", "wish I weren't alive",
    "care if I died", "miss me if I died",
    "planning my suicide", "thinking of self harm", "been self harming", "been selfharming",
    "hurting myself on purpose", "keep hurting myself", "cut myself again", "took an overdose",
    "overdosed on purpose", "pills on purpose", "wish I were dead", "wish I was dead",
    "rather be dead", "better off dead", "better off if I was dead", "better off without me",
    "no reason to live", "no will to live", "nothing to live for", "point in living",
    "not worth living", "isn't worth living", "isnt worth living", "and never wake up",
    "don't want to live", "dont want to live", "do not want to live", "take to die",
    "can't go on like this", "cannot go on like this", "can't go on living", "worthless, end it",
    "de: ich will sterben", "de: ich möchte sterben", "de: ich will mich umbringen",
    "de: ich werde mich umbringen", "de: ich möchte mich umbringen", "de: ich bringe mich um",
    "de: ich will tot sein", "de: mein Leben beenden", "de: keine Lust mehr zu leben",
    "de: nicht mehr leben",
    "de: ich denke an Selbstmord", "de: ich denke an Suizid", "de: mir das Leben nehmen",
    "fr: je veux mourir", "fr: j'ai envie de mourir", "fr: je veux me tuer", "fr: je vais me tuer",
    "fr: je pense au suicide", "fr: je veux me suicider", "fr: je vais me suicider",
    "fr: j'ai des idées suicidaires", "fr: je veux en finir", "fr: veux plus vivre",
    "fr: mettre fin à mes jours", "fr: en finir avec la vie",
    "es: me quiero morir", "es: quiero morirme", "es: yo quiero morir", "es: solo quiero morir",
    "es: acabar con mi vida", "es: quiero matarme", "es: voy a matarme",
    "es: me voy a matar", "es: quiero suicidarme",
    "es: pienso en suicidarme", "es: no quiero vivir", "es: no quiero seguir viviendo",
    "zh: 我想死", "zh: 只想死", "zh: 不想活", "zh: 我想自杀", "zh: 我要自杀",
    "zh: 杀了自己", "zh: 结束生命", "zh: 活着没意思",
)  # fmt: skip
"""Words of a user in danger; a hyphen or a comma between them does not matter.

They stop every call for an operator. Each of them begins with the person or denies life, so that "I
don't want to die" has none. Words that can be harmless, too, ask first: see `guards`.
"""
DOUBT_WORDS = (
    "husband", "wife", "partner", "boyfriend", "girlfriend", "son", "daughter", "child", "kid",
    "baby", "mother", "mom", "mum", "father", "dad", "brother", "sister", "aunt", "uncle",
    "grandma", "grandmother", "grandpa", "grandfather", "friend", "neighbor", "neighbour",
    "roommate", "colleague", "dog", "cat", "used up", "ran out", "lost",
    "nicht", "nie", "niemals", "nichts", "kein", "keine", "keinen", "keinem", "keiner", "ohne",
    "weder", "nein", "statt", "anstatt", "vergiss", "vergessen", "wenn", "falls", "ob", "soll",
    "sollte", "hätte", "würde", "könnte", "werde", "vielleicht", "wahrscheinlich", "glaube",
    "denke", "fast", "beinahe", "außer", "morgen", "später", "nachher", "bald", "habe ich schon",
    "er", "sie", "ihr", "sein", "mann", "frau", "partner", "partnerin", "mutter", "mama", "vater",
    "papa", "sohn", "tochter", "kind", "bruder", "schwester", "oma", "opa", "freund", "freundin",
    "no", "nunca", "jamás", "tampoco", "ni", "sin", "nadie", "nada", "en vez de", "olvida",
    "olvidé", "si", "debo", "debería", "hubiera", "habría", "podría", "quizá", "quizás", "quizas",
    "tal vez", "probablemente", "creo", "casi", "excepto", "mañana", "manana", "luego", "después",
    "más tarde", "él", "ella", "marido", "esposo", "esposa", "mujer", "pareja", "madre", "mamá",
    "padre", "papá", "hijo", "hija", "hermano", "hermana", "abuelo", "abuela", "amigo", "amiga",
    "pas", "jamais", "rien", "aucun", "aucune", "sans", "non", "au lieu", "oublie", "oublié",
    "dois-je", "ai-je", "est-ce que", "devrais", "devrais-je", "aurais", "aurait", "aurai",
    "peut-être", "peut etre", "probablement", "crois", "pense", "presque", "sauf", "demain",
    "plus tard", "bientôt", "il", "elle", "mari", "femme", "conjoint", "mère", "maman", "père",
    "papa", "fils", "fille", "frère", "soeur", "sœur", "ami", "amie",
    "不", "没", "别", "勿", "未", "取消", "停止", "如果", "要是", "也许", "可能", "大概", "好像",
    "觉得", "以为", "差点", "忘", "除了", "明天", "等会", "等一下", "以后", "吗", "他", "她",
    "妈", "爸",
    "丈夫", "妻子", "老公", "老婆", "儿子", "女儿", "孩子", "哥", "弟", "姐", "妹", "爷爷", "奶奶",
    "朋友",
)  # fmt: skip
"""Other persons, medicines that are gone, and words of four languages; the core has English."""
FILE = "alara.sqlite3"
"""The file of the health log in the project's state folder."""


def machine_time() -> datetime:
    """Return the time of this machine."""
    return datetime.now(tz=UTC)


class Alara:
    """The plugin; tests pass their own clock and zone."""

    def __init__(
        self, clock: Callable[[], datetime] = machine_time, zone: Zone | None = None
    ) -> None:
        """Create the plugin.

        Args:
            clock: Returns the time with its zone.
            zone: The zone of users whose host names none; the default is this machine's.
        """
        self._clock = clock
        self._zone = zone
        folder = files("toolmd_alara") / "tools"
        paths = (path.name for path in folder.iterdir() if path.name.endswith(".tool.md"))
        self._names = {name.removesuffix(".tool.md").replace("-", "_") for name in paths}

    @hookimpl
    def toolmd_definitions(self) -> Iterable[Traversable]:
        """Return the folder of the tools."""
        return [files("toolmd_alara") / "tools"]

    @hookimpl
    def toolmd_default_min(self) -> float:
        """Return the confidence that tools without their own require."""
        return DEFAULT_MIN

    @hookimpl
    def toolmd_crisis_words(self) -> Iterable[str]:
        """Return the words that may signal a crisis."""
        return CRISIS_WORDS

    @hookimpl
    def toolmd_doubt_words(self) -> Iterable[str]:
        """Return the words of doubt of the languages of the tools' Intent Keywords."""
        return DOUBT_WORDS

    @hookimpl
    def toolmd_guards(self, spec: ToolSpec) -> "Iterable[Guard]":
        """Return what asks where a person's words are unclear."""
        if spec.name not in self._names:
            return []
        found: list[Guard] = [] if spec.read_only else [may_be_in_danger]
        found += [adds_nothing] if spec.name in TOOLS else []
        return found + ([at_another_time] if spec.name == "log_medication" else [])

    @hookimpl
    def toolmd_commands(self, app: "typer.Typer") -> None:
        """Add `toolmd alara`."""
        from toolmd_alara.commands import commands

        app.add_typer(commands(self._clock, self._zone), name="alara")

    @hookimpl
    def toolmd_resources(self, registry: Resources, settings: Settings) -> None:
        """Register the health log; the first call that needs it creates its file."""
        keeper = _Keeper(settings, self._clock, self._zone)
        registry.register_factory(HealthLog, keeper.open, on_registry_close=keeper.close)


class _Keeper:
    """Opens the one log of a snapshot on first use."""

    def __init__(
        self, settings: Settings, clock: Callable[[], datetime], zone: Zone | None
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._zone = zone
        self._lock = Lock()
        self._log: HealthLog | None = None

    def open(self) -> HealthLog:
        with self._lock:
            if self._log is None:
                self._log = HealthLog(self._settings.state / FILE, self._clock, self._zone)
            return self._log

    def close(self) -> None:
        with self._lock:
            if self._log is not None:
                self._log.close()
                self._log = None


plugin = Alara()
