"""Forms that stemming cannot bring together: went and go, deploy and deployment, Lieferung and Lieferungen."""

from functools import cache, lru_cache

from haversack.text.stems import stem

_FAMILIES = """
go goes went gone|say said|make made|get got gotten|know knew known|take took taken|see saw seen|come came
think thought|give gave given|find found|tell told|become became|leave left|feel felt|bring brought
begin began begun|keep kept|hold held|write wrote written|stand stood|hear heard|mean meant|meet met|pay paid
sit sat|speak spoke spoken|lead led|grow grew grown|lose lost|fall fell fallen|send sent|build built
understand understood|draw drew drawn|break broke broken|spend spent|rise rose risen|drive drove driven
buy bought|wear wore worn|choose chose chosen|eat ate eaten|win won|teach taught|catch caught|sell sold
fly flew flown|fight fought|throw threw thrown|sleep slept|run ran|sing sang sung|swim swam swum
drink drank drunk|ride rode ridden|forget forgot forgotten|hide hid hidden|steal stole stolen|wake woke woken
shake shook shaken|bite bit bitten|blow blew blown|freeze froze frozen|seek sought|shoot shot|feed fed
bend bent|lend lent|deal dealt|dig dug|hang hung|lay laid|light lit|shine shone|sink sank sunk|strike struck
swear swore sworn|sweep swept|tear tore torn|child children|man men|woman women|person people|mouse mice
foot feet|tooth teeth|life lives|wife wives|knife knives|good better best|bad worse worst|index indices
matrix matrices|vertex vertices
decide decision|fail failure|choose choice|analyse analyze analysis|delete deletion|behave behaviour behavior
colour color|synchronise synchronize sync|config configuration configure|auth authentication authenticate
doc documentation|repo repository|db database|env environment|perf performance|param parameter|arg argument
dir directory|admin administrator|app application|info information|spec specification|regex regexp
haus hauser hausern|buch bucher buchern|bild bilder bildern|wort worter wortern|mann manner mannern|kind kinder kindern
land lander landern|dorf dorfer dorfern|rad rader radern|blatt blatter blattern|fach facher fachern|dach dacher
schloss schlosser|wald walder waldern|glas glaser glasern|feld felder feldern|schild schilder|gut guter|amt amter amtern
band bander bandern|volk volker volkern|licht lichter|kleid kleider|fehler fehlern|nutzer nutzern|schlussel schlusseln
frau frauen|zahl zahlen|zeit zeiten|arbeit arbeiten|tur turen|welt welten|bank banken|uhr uhren|mensch menschen
luz luces|vez veces|voz voces|pez peces|problema problemi|sistema sistemi|schema schemi|tema temi|programma programmi
diagramma diagrammi
schritt schritte schritten|wert werte werten|dienst dienste diensten|projekt projekte projekten|tag tage tagen
"""

# Ending of a word -> the ending of another form of it. Only endings that are unmistakable in their language and that
# Porter's English rules do not bring together; all without accents, as the index holds them.
_ENDINGS = (
    ("oyment", "oy"), ("oyments", "oy"), ("oy", "oyment"), ("ayment", "ay"), ("ayments", "ay"), ("ay", "ayment"),
    ("oying", "oyment"), ("oyed", "oyment"), ("oys", "oyment"),
    ("ungen", "ung"), ("ung", "ungen"), ("heiten", "heit"), ("heit", "heiten"), ("keiten", "keit"),
    ("keit", "keiten"), ("schaften", "schaft"), ("schaft", "schaften"), ("ionen", "ion"), ("ion", "ionen"),
    ("itaten", "itat"), ("itat", "itaten"),
    ("cion", "ciones"), ("ciones", "cion"), ("cao", "coes"), ("coes", "cao"), ("zione", "zioni"),
    ("zioni", "zione"), ("eaux", "eau"), ("eau", "eaux"),
    ("sion", "siones"), ("siones", "sion"), ("ione", "ioni"), ("ioni", "ione"),
    ("iao", "ioes"), ("ioes", "iao"), ("al", "aux"), ("aux", "al"),
    ("ering", "eringen"), ("eringen", "ering"), ("orna", "a"), ("a", "orna"),
    ("e", "en"), ("en", "e"), ("ei", "eien"), ("eien", "ei"), ("or", "oren"), ("oren", "or"), ("ur", "uren"),
    ("uren", "ur"), ("ik", "iken"), ("iken", "ik"), ("anz", "anzen"), ("anzen", "anz"), ("enz", "enzen"),
    ("enzen", "enz"), ("in", "innen"), ("innen", "in"), ("nis", "nisse"), ("nisse", "nis"), ("nissen", "nis"),
    ("o", "i"), ("i", "o"), ("ttore", "ttori"), ("ttori", "ttore"), ("rrore", "rrori"), ("rrori", "rrore"),
    ("co", "chi"), ("chi", "co"), ("go", "ghi"), ("ghi", "go"),
    ("ca", "che"), ("che", "ca"), ("ga", "ghe"), ("ghe", "ga"), ("z", "ces"), ("ces", "z"), ("on", "ones"),
    ("ones", "on"),
)  # fmt: skip
# Endings of Russian nouns and adjectives: a word that has one is sought with every one of them.
_CYRILLIC_ENDINGS = (
    "ами", "ями", "ием", "иям", "иях", "ого", "его", "ому", "ему", "ыми", "ими", "ов", "ев", "ей", "ой", "ом", "ем",
    "ам", "ям", "ах", "ях", "ия", "ие", "ии", "ию", "ий", "ый", "ая", "яя", "ое", "ые", "ую",
    "а", "я", "ы", "и", "у", "ю", "е", "о", "ь", "",
)  # fmt: skip
_LEAST_CYRILLIC_ROOT = 4
"""The fewest letters of a Russian word without its ending; fewer would match too much."""
_LEAST_ROOT = 1
"""Letters that must stand before an ending."""
_LEAST_SHORT_ROOT = 3
"""Letters that must stand before an ending of one or two letters, which short words have by chance; but "pay"."""


@cache
def _families() -> dict[str, tuple[str, ...]]:
    families = [tuple(line.split()) for line in _FAMILIES.strip().replace("\n", "|").split("|")]
    return {stem(word): family for family in families for word in family}


@lru_cache(maxsize=4096)
def forms(word: str) -> tuple[str, ...]:
    """Every spelling that counts as the same word, this one first."""
    family = _families().get(stem(word), ())
    return tuple(dict.fromkeys((word, *family, *_derived(word))))


def _derived(word: str) -> list[str]:
    if "а" <= word[-1:] <= "я":
        return _russian_forms(word)
    return [
        word.removesuffix(ending) + other
        for ending, other in _ENDINGS
        if word.endswith(ending)
        and len(word) >= len(ending) + (_LEAST_ROOT if len(ending) > 2 or ending[-1] == "y" else _LEAST_SHORT_ROOT)
    ]


def _russian_forms(word: str) -> list[str]:
    for ending in _CYRILLIC_ENDINGS:
        root = word.removesuffix(ending)
        if word.endswith(ending) and len(root) >= _LEAST_CYRILLIC_ROOT:
            return [root + other for other in _CYRILLIC_ENDINGS]
    return []


@lru_cache(maxsize=4096)
def stems(word: str) -> tuple[str, ...]:
    """The stems under which the index holds those spellings."""
    return tuple(dict.fromkeys(stem(form) for form in forms(word)))
