"""The words of dates in six languages, folded: no capitals, no accents."""

MONTHS: dict[int, str] = {
    1: "january jan januar janner jenner janvier janv enero ene janeiro gennaio gen genn",
    2: "february feb febr februar feber fevrier fevr fev febrero fevereiro febbraio febb",
    3: "march mar marz maerz mrz mars marzo marco",
    4: "april apr avril avr abril abr aprile",
    5: "may mai mayo maio maggio mag magg",
    6: "june jun juni juin junio junho giugno giu giug",
    7: "july jul juli juillet juil julio julho luglio lug",
    8: "august aug aout agosto ago agos",
    9: "september sept sep septembre septiembre setiembre setembro set settembre sett",
    10: "october oct oktober okt octobre octubre outubro out ottobre ott",
    11: "november nov novembre noviembre novembro",
    12: "december dec dezember dez decembre diciembre dic dezembro dicembre",
}

# Words that are more often something else ("rolled out 2019", "real estate 2020").
DOUBTFUL = frozenset({"out", "set", "gen", "mag", "lug", "ago", "mid", "fall", "estate", "ende", "hiver"})

SEASONS = (
    "spring summer autumn fall winter fruhjahr fruhling sommer herbst wintersemester sommersemester printemps ete"
    " automne hiver primavera verano otono invierno verao outono inverno estate autunno"
    " mid early late anfang mitte ende"
).split()

PRESENT = (
    "present presently today now current currently ongoing date heute jetzt aktuell gegenwart laufend andauernd"
    " fortlaufend aujourd'hui actuel actuelle actuellement maintenant actualidad actual actualmente hoy fecha presente"
    " momento atual atualmente atualidade hoje data oggi attuale attualmente adesso corso curso cours jour"
).split()
PRESENT_ARTICLES = ("the", "la", "le", "el", "o", "l'", "il", "al", "ad", "a", "ce", "en", "in", "em")

TO_WORDS = "to until till through thru bis a au al ao ad hasta ate jusqu'en jusqu'a jusqu'au".split()
SINCE_WORDS = ("since", "seit", "depuis", "desde", "dal", "a partir de", "a partire da")
FROM_WORDS = ("from", "von", "vom", "de", "du", "del", "da")

YEAR_UNITS = "years year yrs yr jahre jahren jahr ans an annees annee anos ano anni anno".split()
MONTH_UNITS = "months month mos mo monate monaten monat mon mois meses mes mesi mese".split()
LESS_THAN_A_YEAR = (
    "less than a year",
    "less than 1 year",
    "weniger als ein jahr",
    "weniger als 1 jahr",
    "moins d'un an",
    "moins de 1 an",
    "menos de un ano",
    "menos de 1 ano",
    "menos de um ano",
    "meno di un anno",
    "meno di 1 anno",
)
