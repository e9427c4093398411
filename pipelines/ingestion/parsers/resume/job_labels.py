"""Labels in a job's lines ("Employer: Acme", "Nom et adresse de l'employeur : Acme"), and what they tell."""

import re

from pipelines.ingestion.parsers.career.remembered import remembered
from pipelines.text import fold

LABELS = {
    "": "date dates duration period when from to zeitraum dauer datum periode duree fecha fechas periodo duracion data"
    " datas duracao durata department abteilung team industry branche sector secteur settore setor business supervisor"
    " hours salary pay grade series reporting reports activities responsibilities duties aufgaben missions tareas"
    " funciones atividades mansioni attivita tatigkeiten activites country land pays pais paese website web telephone"
    " phone contact employment technologies tools achievements highlights stack reason",
    "company": "company employer organization organisation institution unternehmen firma arbeitgeber arbeitgebers"
    " entreprise employeur societe empresa empleador empregador azienda datore agency",
    "client": "client customer kunde cliente",
    "position": "position title role job jobtitle occupation designation stelle funktion rolle beruf poste fonction"
    " titre emploi puesto cargo posicion profesion funcao profissao ruolo posizione mansione impiego qualifica",
    "location": "location place city town ort standort arbeitsort lieu ville ubicacion lugar ciudad local localizacao"
    " cidade luogo sede citta localidad",
}
_FILLERS = frozenset(
    """
    name title type held for leaving and or of the employed per week address adresse anschrift anschriften main state
    to your official und oder des der et ou de del la l di e ed o da a do nome nom nombre indirizzo direccion endereco
    tipo lavoro ocupado occupe desempenado principali principales principais haupt wichtigste worked working
    """.split()
)
_LABELLED = re.compile(r"([^\W\d_][^:\t\n]{1,60}?)[ \xa0]?:\s+(?=\S)")
_WORD = re.compile(r"[^\W\d_]+")
_MAX_WORDS = 9
_ROLES = {name: role for role, names in LABELS.items() for name in names.split()}


def labelled(words: str) -> tuple[str, str] | None:
    """The role that the label before the words tells, and these: ("company", "Acme"); None where there is no label.

    Roles are the keys of LABELS; "" is what says nothing of who worked where as what.
    """
    match = _LABELLED.match(words)
    role = label_role(match[1]) if match else None
    return None if match is None or role is None else (role, words[match.end() :])


@remembered
def label_role(words: str) -> str | None:
    """The role of words that are only a label ("Employer", "Name and address of employer"); None for all others."""
    found = _WORD.findall(fold(words))
    if not found or len(found) > _MAX_WORDS:
        return None
    roles = {_ROLES[word] for word in found if word in _ROLES}
    if not roles or any(word not in _ROLES and word not in _FILLERS for word in found):
        return None
    return next(role for role in LABELS if role in roles)
