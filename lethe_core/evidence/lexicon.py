"""The words that change what a sentence says without changing what it is about (algorithms.md 8).

Small closed lists for the fact guard: polarity and direction, numbers written as words, units,
currencies, and the function words that a capital letter does not make a name. Several languages, since
a negation unknown here would let its sentence be dropped as a copy of the opposite.
"""

from collections.abc import Mapping
from types import MappingProxyType


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _classes(classes: dict[str, str]) -> Mapping[str, str]:
    return MappingProxyType({word: name for name, words in classes.items() for word in words.split()})


POLARITY = _classes(
    {
        "not": """
            not no never without none nor neither nobody nothing nowhere cannot hardly barely
            scarcely except excluding exclude excludes excluded unable impossible illegal
            invalid unlikely false untrue incorrect wrong lack lacks lacked lacking fail fails
            failed failing failure deny denies denied refuse refuses refused reject rejects
            rejected forbid forbids forbidden ban bans banned prohibit prohibits prohibited non
            un nicht kein keine keinen keiner keinem keines nie niemals ohne nichts niemand
            weder außer verboten pas jamais sans aucun aucune rien ni sauf ne nunca jamás sin
            ningún ninguna nada tampoco senza mai nessuno nessuna niet geen nooit zonder não sem
            nenhum nenhuma
        """,
        "yes": """
            yes allow allows allowed permit permits permitted approve approves approved accept
            accepts accepted confirm confirms confirmed true succeed succeeds succeeded erlaubt
        """,
        "up": """
            rose rise rises risen rising increase increases increased increasing grew grow grows
            grown growing growth up gain gains gained climb climbs climbed climbing higher
            highest more raised raise raises larger largest greater greatest expand expanded
            expands improve improved improves surge surged soared jumped exceed exceeds exceeded
            stieg steigt gestiegen wuchs gewachsen mehr höher zunahme erhöht augmenté augmente
            hausse plus aumentó aumenta subió más aumento crebbe più steeg meer
        """,
        "down": """
            fell fall falls fallen falling decline declines declined declining decrease
            decreases decreased decreasing drop drops dropped dropping down lower lowest lowered
            less fewer fewest shrank shrink shrinks shrunk reduce reduces reduced reduction cut
            cuts loss losses smaller smallest worsen worsened plunged slumped sank sinks sunk
            fiel fällt gefallen gesunken weniger niedriger rückgang gesenkt diminué diminue
            baisse moins bajó cayó disminuyó menos meno diminuì daalde minder
        """,
        "above": "above over beyond minimum least über mindestens",
        "below": "below under maximum most within unter höchstens",
        "before": "before until prior vor bis avant antes",
        "after": "after since following nach seit après después",
        "won": "won win wins winner gewann",
        "lost": "lost lose loses loser verlor",
        "open": "open opens opened opening offen geöffnet",
        "closed": "close closes closed closing shut geschlossen",
        "first": "start starts started begin begins began",
        "last": "stop stops stopped end ends ended",
        "only": "only solely exclusively nur seulement solo",
        "all": "all every always each alle immer tous toujours todos siempre",
        "some": "some sometimes few rarely seldom partly manche einige selten",
    }
)

NUMBER_WORDS = _classes(
    {
        "0": "zero null zéro cero",
        "0.5": "half hälfte",
        "1": "one first eins erste ersten",
        "2": "two second twice double doubled doubles zwei zweite zweiten deux dos",
        "3": "three third thrice triple tripled drei dritte dritten trois tres",
        "4": "four fourth quadrupled vier vierte quatre cuatro",
        "5": "five fifth fünf fünfte cinq cinco",
        "6": "six sixth sechs seis",
        "7": "seven seventh sieben sept siete",
        "8": "eight eighth acht huit ocho",
        "9": "nine ninth neun neuf nueve",
        "10": "ten tenth zehn dix diez",
        "11": "eleven eleventh elf onze once",
        "12": "twelve twelfth dozen zwölf dutzend douze doce",
        "13": "thirteen thirteenth dreizehn",
        "14": "fourteen fourteenth vierzehn",
        "15": "fifteen fifteenth fünfzehn quinze",
        "16": "sixteen sixteenth sechzehn",
        "17": "seventeen seventeenth siebzehn",
        "18": "eighteen eighteenth achtzehn",
        "19": "nineteen nineteenth neunzehn",
        "20": "twenty twentieth zwanzig vingt veinte",
        "30": "thirty thirtieth dreißig trente",
        "40": "forty fortieth vierzig quarante",
        "50": "fifty fiftieth fünfzig cinquante",
        "60": "sixty sixtieth sechzig soixante",
        "70": "seventy seventieth siebzig",
        "80": "eighty eightieth achtzig",
        "90": "ninety ninetieth neunzig",
        "100": "hundred hundreds hundert cent cien",
        "1000": "thousands tausend mille",
    }
)

SCALES: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("thousand", "tausend", "tsd", "mille"), 3),
        **dict.fromkeys(("million", "millions", "mn", "mln", "mio", "millionen", "millones"), 6),
        **dict.fromkeys(
            ("billion", "billions", "bn", "bln", "mrd", "milliarde", "milliarden", "milliard"), 9
        ),
        **dict.fromkeys(("trillion", "trillions", "tn"), 12),
    }
)
SHORT_SCALES: Mapping[str, int] = MappingProxyType({"k": 3, "m": 6, "b": 9})  # behind a currency: $4.2m

CURRENCIES = _classes(
    {
        "usd": "$ usd us$ dollar dollars",
        "eur": "€ eur euro euros",
        "gbp": "£ gbp pound pounds sterling",
        "jpy": "¥ jpy yen",
        "chf": "chf franken francs franc",
        "cny": "cny rmb yuan",
        "inr": "₹ inr rupee rupees",
        "krw": "₩ krw won",
        "cent": "cents",
        "pence": "pence",
    }
)

_WORD_UNITS = _classes(
    {
        "%": "% percent prozent percentage",
        "‰": "‰ permille",
        "mm": "mm millimetre millimetres millimeter millimeters",
        "cm": "cm centimetre centimetres centimeter centimeters",
        "m": "m metre metres meter meters",
        "km": "km kilometre kilometres kilometer kilometers",
        "mi": "mi mile miles",
        "ft": "ft foot feet",
        "in": "inch inches",
        "m2": "m2 sqm",
        "km2": "km2",
        "ha": "ha hectare hectares hektar",
        "acre": "acre acres",
        "m3": "m3",
        "mg": "mg milligram milligrams",
        "g": "g gram grams gramm",
        "kg": "kg kilogram kilograms kilo kilos",
        "t": "t tonne tonnes ton tons",
        "lb": "lb lbs",
        "l": "l litre litres liter liters",
        "ml": "ml millilitre millilitres",
        "ms": "ms millisecond milliseconds",
        "s": "s sec secs seconds sekunden",
        "min": "min mins minute minutes minuten",
        "h": "h hr hrs hour hours stunde stunden uhr",
        "d": "day days tag tage tagen",
        "week": "week weeks woche wochen",
        "month": "month months monat monate monaten",
        "year": "year years yr yrs jahr jahre jahren",
        "km/h": "km/h kph",
        "mph": "mph",
        "w": "w watt watts",
        "kw": "kw kilowatt kilowatts",
        "mw": "mw megawatt megawatts",
        "gw": "gw gigawatt gigawatts",
        "kwh": "kwh",
        "mwh": "mwh",
        "gwh": "gwh",
        "twh": "twh",
        "v": "v volt volts",
        "a": "ampere amperes",
        "hz": "hz hertz",
        "khz": "khz",
        "mhz": "mhz",
        "ghz": "ghz",
        "bar": "bar",
        "c": "°c celsius",
        "f": "°f fahrenheit",
        "°": "° degree degrees grad",
        "kb": "kb kilobyte kilobytes",
        "mb": "mb megabyte megabytes",
        "gb": "gb gigabyte gigabytes",
        "tb": "tb terabyte terabytes",
        "am": "am",
        "pm": "pm",
        "point": "point points punkte",
        "person": "person persons people personen",
        "times": "times x",
    }
)
UNITS: Mapping[str, str] = MappingProxyType({**_WORD_UNITS, **CURRENCIES})

FUNCTION_WORDS = _words(
    """
    a an the this that these those it its he she they we you i his her their our your my him
    them us me who whom whose which what when where why how if then than as at by for from in
    into of off on onto out to with and or but so yet is are was were be been being am has have
    had do does did would can could shall should might must there here also both either such
    same other another any many much several most just even still however although though while
    because since during between among about against per via amid despite according additionally
    furthermore moreover therefore thus hence meanwhile instead otherwise once again now today
    later earlier der die das ein eine einen einem einer des dem den und oder aber ist sind war
    waren wird werden hat haben im zum zur von mit für auf aus bei es er sie wir ihr ich man wie
    wenn dass als auch nach seit le la les un une du de et ou est sont dans pour avec sur il
    elle ils elles nous vous ce cette ces el los las una y o son en con por para del al se su
    sus
    """
)
