"""The titles that LinkedIn prints over the sections of a profile, in six languages."""

import re
from collections.abc import Iterator

from pipelines.text import fold

# The titles that the exports and the site itself print; as a line of its own each opens its section.
TITLES = {
    "contact": "contact | contact info | kontakt | coordonnées | contactar | contacto | contato | contatti | contatto",
    "top_skills": """
        top skills | top-kenntnisse | wichtigste kenntnisse | principales compétences | aptitudes principales
        | principais competências | competenze principali
        """,
    "skills": """
        skills | skills & expertise | kenntnisse | kenntnisse & fähigkeiten | kenntnisse und fähigkeiten | compétences
        | compétences et expertise | aptitudes | aptitudes y conocimientos | conocimientos y aptitudes
        | aptitudes y experiencia | competências | competências e especialidades | competenze | competenze ed esperienza
        """,
    "languages": "languages | sprachen | langues | idiomas | lingue",
    "certifications": """
        certifications | licenses & certifications | zertifikate | bescheinigungen & zertifikate
        | bescheinigungen und zertifikate | zertifizierungen | licences et certifications | certificaciones
        | licencias y certificaciones | certificados | licenças e certificados | certificações | certificazioni
        | licenze e certificazioni
        """,
    "awards": """
        honors-awards | honors & awards | honors and awards
        | auszeichnungen/preise | auszeichnungen & preise | auszeichnungen
        | prix et distinctions | distinctions | reconocimientos y premios | honores y premios | premios
        | reconhecimentos e prêmios | honras e prêmios | prêmios | riconoscimenti e premi
        """,
    "publications": "publications | veröffentlichungen | publicaciones | publicações | pubblicazioni",
    "patents": "patents | patente | brevets | patentes | brevetti",
    "summary": """
        summary | about | zusammenfassung | info | résumé | infos | extracto | acerca de | resumo | sobre | riepilogo
        | informazioni
        """,
    "experience": "experience | berufserfahrung | expérience | experiencia | experiência | esperienza",
    "education": """
        education | ausbildung | formation | educación | formación | formação | formação acadêmica | formação académica
        | formazione
        """,
    "projects": "projects | projekte | projets | proyectos | projetos | progetti",
    "volunteering": """
        volunteer experience | volunteering | ehrenamt | ehrenamtliche tätigkeit | expérience de bénévolat | bénévolat
        | voluntariado | experiencia de voluntariado | experiência voluntária | experiência de voluntariado
        | volontariato | esperienze di volontariato | esperienza di volontariato
        """,
    "courses": "courses | kurse | cours | cursos | corsi",
    "organizations": "organizations | organisationen | organisations | organizaciones | organizações | organizzazioni",
    "interests": "interests | interessen | centres d'intérêt | intereses | interesses | interessi",
    "recommendations": """
        recommendations | empfehlungen | recommandations | recomendaciones | recomendações | referenze | activity
        | aktivitäten | activité | actividad | atividades | attività | featured | im fokus | sélection | destacado
        | em destaque | in primo piano
        """,
}
LISTED = frozenset(
    ("contact", "top_skills", "skills", "languages", "certifications", "awards", "publications", "patents")
)
UNKNOWN = frozenset(("other", "recommendations", "interests"))

_NOT_WORD = re.compile(r"[\W_]+")


def title_section(words: str) -> str:
    """The section that LinkedIn prints this title over; "" for any other words."""
    return _SECTION_OF.get(_NOT_WORD.sub("", fold(words)), "") if len(words) <= 60 else ""


def _titles() -> Iterator[tuple[str, str]]:
    for section, titles in TITLES.items():
        for title in titles.split("|"):
            yield _NOT_WORD.sub("", fold(title)), section


_SECTION_OF = dict(_titles())
