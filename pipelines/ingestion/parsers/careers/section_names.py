"""The sections of resumes and profiles by their headings, in six languages."""

import re

from pipelines.ingestion.parsers.careers.vocabulary import cached_for_short_text
from pipelines.text import fold, plain

MAX_HEADING = 80

SECTION_NAMES = {
    "summary": """
        summary | profile | about | about me | objective | objectives | career objective | overview | bio | biography
        | personal statement | statement | executive summary | who i am | introduction | highlights | at a glance
        | career goals | summary of qualifications | qualifications summary | career summary | profile summary
        | zusammenfassung | profil | kurzprofil | über mich | info | ziele | berufsziel | persönliches profil
        | steckbrief | kurzvorstellung | resumo | sobre | sobre mim | perfil | objetivo | objetivos
        | resumo profissional | resumen | extracto | acerca de | sobre mí | acerca de mí | presentación
        | perfil profesional | apresentação | à propos | à propos de moi | profil professionnel | objectif
        | présentation | accroche | synthèse | riepilogo | profilo | informazioni | su di me | chi sono | obiettivo
        | sommario | presentazione | sintesi
        """,
    "experience": """
        experience | experiences | work experience | employment | employment history | work history | career
        | career history | work | jobs | positions | positions held | appointments | job history
        | professional background | internships | internship | internship experience | roles | where i have worked
        | employment experience | job experience | industry experience | teaching experience | research experience
        | military experience | military service | berufserfahrung | erfahrung | erfahrungen | berufliche erfahrung
        | beruflicher werdegang | werdegang | praxiserfahrung | berufspraxis | berufliche laufbahn | laufbahn
        | praktika | praktische erfahrung | beruflicher hintergrund | arbeitserfahrung | beschäftigung | tätigkeiten
        | berufliche stationen | arbeitgeber | anstellungen | berufsweg | expérience | expériences | parcours
        | parcours professionnel | emplois | stages | carrière | expériences clés | emploi | historique professionnel
        | expérience de travail | parcours de carrière | experiencia | experiencias | experiencia laboral
        | trayectoria | trayectoria profesional | empleo | empleos | historial laboral | vida laboral | prácticas
        | carrera profesional | experiencia de trabajo | trayectoria laboral | experiência | experiências
        | experiência de trabalho | histórico profissional | trajetória | trajetória profissional | percurso
        | percurso profissional | empregos | estágios | carreira | histórico de trabalho | esperienza | esperienze
        | esperienza lavorativa | esperienze lavorative | esperienze di lavoro | carriera | percorso
        | percorso professionale | lavoro | impieghi | tirocini | occupazione | esperienza di lavoro | stage
        """,
    "education": """
        education | education and training | educational background | academic background | academics
        | academic history | schooling | studies | degrees | qualifications | academic qualifications
        | educational qualifications | training | university | academic record | educational history
        | education history | school | ausbildung | bildung | bildungsweg | studium | schulbildung
        | akademischer werdegang | hochschulbildung | aus und weiterbildung | schule | akademische ausbildung
        | schulische laufbahn | bildungsgang | hochschule | akademischer hintergrund | schulischer werdegang
        | ausbildung und studium | hochschulstudium | formation | formations | études | diplômes | parcours scolaire
        | parcours académique | scolarité | éducation | cursus | cursus universitaire | formation initiale
        | parcours universitaire | diplômes et formations | educación | formación | formación académica | estudios
        | titulación | titulaciones | formación reglada | historial académico | datos académicos | estudios realizados
        | formação | formação acadêmica | formação académica | educação | escolaridade | estudos | habilitações
        | habilitações literárias | histórico acadêmico | ensino | formazione | istruzione | istruzione e formazione
        | studi | titoli di studio | percorso di studi | educazione | percorso accademico | titolo di studio
        """,
    "skills": """
        skills | skill | competencies | competences | competence | expertise | areas of expertise | technologies
        | tech stack | tools | tech | technology | stack | toolbox | proficiencies | abilities | strengths | skill set
        | skillset | skills summary | programming languages | frameworks | software | it skills | computer skills
        | capabilities | knowledge | toolkit | programming | libraries | platforms | databases | know how
        | core competencies | technical knowledge | proficiency | fields of expertise | skills and expertise
        | technical proficiencies | specialties | specialities | hard skills | soft skills | kenntnisse | fähigkeiten
        | kompetenzen | fachkenntnisse | edv kenntnisse | it kenntnisse | fertigkeiten | technische kenntnisse
        | werkzeuge | technologien | stärken | kernkompetenzen | fachkompetenzen | qualifikationen
        | programmiersprachen | it kompetenzen | computerkenntnisse | software kenntnisse | schwerpunkte
        | besondere kenntnisse | kenntnisse und fähigkeiten | methodenkompetenz | fachliche kenntnisse
        | programmierkenntnisse | compétences | compétence | savoir faire | outils | connaissances | aptitudes
        | atouts | domaines de compétences | langages | logiciels | informatique | domaines de compétence
        | savoir être | domaines d expertise | habilidades | competencias | conocimientos | destrezas | herramientas
        | tecnologías | capacidades | fortalezas | lenguajes de programación | conocimientos informáticos
        | informática | competências | aptidões | conhecimentos | ferramentas | tecnologias | conhecimentos técnicos
        | pontos fortes | linguagens de programação | competenze | abilità | capacità | conoscenze | strumenti
        | tecnologie | capacità e competenze | attitudini | conoscenze informatiche | linguaggi di programmazione
        | competenze informatiche | punti di forza
        """,
    "top_skills": """
        top skills | top kenntnisse | wichtigste kenntnisse | top fähigkeiten | principales compétences
        | compétences principales | aptitudes principales | principales aptitudes | principais competências
        | competências principais | competenze principali | principali competenze
        """,
    "projects": """
        projects | project | side projects | personal projects | open source | open source projects
        | project experience | portfolio | open source contributions | case studies | projects and research
        | project work | selected work | my work | open source work | pet projects | contributions | projekte
        | projekterfahrung | referenzprojekte | projektliste | eigene projekte | projektübersicht | projet | projets
        | projets personnels | réalisations | proyecto | proyectos | proyectos personales | projeto | projetos
        | projetos pessoais | progetto | progetti | progetti personali
        """,
    "certifications": """
        certifications | certification | certificates | certificate | licenses | licences
        | licenses and certifications | credentials | professional certifications | accreditations
        | certifications and licenses | certifications and training | badges | certs | professional development
        | licensure | zertifikate | zertifizierungen | zertifizierung | lizenzen | bescheinigungen
        | bescheinigungen und zertifikate | weiterbildung und zertifikate | lizenzen und zertifikate | nachweise
        | certificats | licences et certifications | habilitations | accréditations | brevets et certificats
        | certificaciones | certificación | certificados | licencias | licencias y certificaciones | acreditaciones
        | certificações | certificação | certificado | licenças | licenças e certificados | certificazioni
        | certificazione | certificati | licenze | licenze e certificazioni | attestati | abilitazioni
        """,
    "languages": """
        languages | language | language skills | spoken languages | languages spoken | foreign languages | sprachen
        | sprachkenntnisse | fremdsprachen | sprache | langues | langue | langues étrangères | langues parlées
        | idiomas | idioma | lenguas | línguas | lenguajes | lingue | lingua | lingue straniere
        | conoscenze linguistiche | competenze linguistiche | compétences linguistiques | conhecimentos linguísticos
        | competencias lingüísticas
        """,
    "publications": """
        publications | publication | papers | articles | books | writing | journal articles | conference papers
        | blog posts | bibliography | research papers | peer reviewed publications | veröffentlichungen
        | publikationen | publikation | veröffentlichung | fachartikel | articles et publications | travaux
        | publicaciones | publicación | artículos | publicações | publicação | artigos | pubblicazioni | pubblicazione
        | articoli
        """,
    "awards": """
        awards | award | honors | honours | honors and awards | awards and honors | honors awards | achievements
        | accomplishments | recognition | prizes | scholarships | fellowships | distinctions | grants
        | key achievements | awards and scholarships | auszeichnungen | auszeichnung | preise | ehrungen | erfolge
        | stipendien | preise und auszeichnungen | auszeichnungen preise | prix | récompenses | bourses
        | prix et distinctions | honneurs et récompenses | distinctions et récompenses | premios | logros
        | reconocimientos | distinciones | becas | premios y reconocimientos | honores y premios | galardones
        | prêmios | prémios | conquistas | reconhecimentos | bolsas | honras e prêmios | distinções | premi
        | riconoscimenti | onorificenze | premi e riconoscimenti | risultati | borse di studio
        | riconoscimenti e premi
        """,
    "volunteering": """
        volunteering | volunteer | volunteer experience | volunteer work | voluntary work | community service
        | community | community involvement | social engagement | pro bono | outreach | voluntary experience
        | volunteerism | service | ehrenamt | ehrenamtliches engagement | ehrenamtliche tätigkeiten
        | ehrenamtliche tätigkeit | engagement | freiwilligenarbeit | soziales engagement
        | gesellschaftliches engagement | außerberufliches engagement | bénévolat | expérience de bénévolat
        | engagements | volontariat | engagement associatif | vie associative | voluntariado
        | experiencia de voluntariado | experiencia voluntaria | labor social | trabalho voluntário
        | experiência voluntária | experiência de voluntariado | ações sociais | volontariato
        | esperienze di volontariato | esperienza di volontariato | attività di volontariato
        """,
    "interests": """
        interests | hobbies | hobbies and interests | interests and hobbies | personal interests | activities
        | extracurricular | extracurricular activities | passions | leisure | interessen | hobbys
        | interessen und hobbys | hobbys und interessen | freizeit | freizeitaktivitäten | persönliche interessen
        | centres d intérêt | centre d intérêt | loisirs | intérêts | activités | activités extra professionnelles
        | intereses | aficiones | pasatiempos | hobbies e intereses | interesses | passatempos | hobbies e interesses
        | interessi | hobby | passioni | tempo libero | interessi e hobby
        """,
    "references": """
        references | reference | referees | recommendations | testimonials | referenzen | empfehlungen | zeugnisse
        | références | recommandations | referencias | recomendaciones | referências | recomendações | referenze
        | raccomandazioni
        """,
    "contact": """
        contact | contacts | contact information | contact details | contact info | contact me | personal details
        | personal information | personal info | details | get in touch | links | social | social media
        | find me online | profiles | online profiles | kontakt | kontaktdaten | persönliche daten
        | persönliche angaben | persönliches | angaben zur person | coordonnées | contactez moi
        | informations personnelles | me contacter | informations de contact | réseaux sociaux | état civil | contacto
        | contactar | datos personales | información de contacto | datos de contacto | enlaces | información personal
        | redes sociales | contato | contactos | contatos | dados pessoais | informações de contato
        | informações pessoais | redes sociais | contatto | contatti | dati personali | informazioni personali
        | recapiti | informazioni di contatto | link utili
        """,
    "courses": """
        courses | course | coursework | relevant coursework | courses and training | trainings | workshops
        | online courses | moocs | kurse | kurs | weiterbildung | weiterbildungen | fortbildung | fortbildungen
        | schulungen | seminare | lehrgänge | cours | formation continue | formations complémentaires
        | formation complémentaire | cursos | curso | formación complementaria | formación continua
        | formação complementar | cursos complementares | corsi | corso | formazione continua | corsi di formazione
        | formación adicional
        """,
    "patents": """
        patents | patent | patents and inventions | inventions | patente | erfindungen | brevets | brevet | patentes
        | invenciones | brevetti | brevetto
        """,
    "organizations": """
        organizations | organisations | memberships | membership | professional memberships | affiliations
        | associations | professional affiliations | societies | committees | clubs | leadership | organisationen
        | mitgliedschaften | mitgliedschaft | verbände | vereine | gremien | organisations professionnelles
        | adhésions | affiliations professionnelles | organizaciones | membresías | afiliaciones | asociaciones
        | organizações | associações | afiliações | organizzazioni | associazioni | affiliazioni | appartenenze
        """,
}
MODIFIERS = """
    professional relevant selected additional other my key core recent technical main current notable personal
    academic previous further career work general major special specialized related research teaching industry
    business featured complete full detailed brief prior past selective independent clinical formal higher early
    beruflich berufliche beruflicher beruflichen relevante weitere sonstige ausgewahlte technische fachliche wichtige
    meine personliche akademische besondere zusatzliche bisherige mein aktuelle professionnel professionnelle
    professionnelles professionnels technique techniques mes mon autres personnelles personnels academique academiques
    complementaires supplementaires principales cles choisies informatiques ma profesional profesionales tecnica
    tecnicas tecnicos tecnico otros otras mis mi academica academicas relevantes laborales informaticas personales
    complementarios profissional profissionais outras outros principais minhas meus selecionados selecionadas
    professionale professionali tecniche tecnici altre altri mie miei principali accademiche accademica selezionate
    informatiche digitali lavorative
"""
# Fields of an experience: "Legal experience", "Leadership and management experience".
FIELDS = """
    legal law medical nursing health healthcare hospital consulting engineering software it technology design creative
    artistic film theatre theater acting performance music production editorial journalism writing sales marketing
    retail hospitality banking finance financial accounting administrative administration management managerial
    leadership executive supervisory international overseas policy political government federal public military naval
    startup entrepreneurial entrepreneurship freelance contract consultancy coaching athletic teaching classroom
    counseling scientific laboratory lab field fieldwork postdoctoral doctoral faculty academic curatorial museum
    and library nonprofit corporate commercial paid part time full summer student campus internship hands on
"""

_SEPARATORS = re.compile(r"\s+(?:and|und|et|y|e|ed|o|or|oder|ou)\s+|[&+/|,;•·–—]")
_BRACKETS = re.compile(r"\([^()]{0,80}\)|\[[^\[\]]{0,80}\]")
_NUMBERING = re.compile(r"(?:\d{1,2}|[ivx]{1,4}|[a-h])[.)]\s")
_NOT_WORD = re.compile(r"[\W_]+")
_CONTINUED = re.compile(
    r"(?<=\w)\W+(?:continued|cont|cont'd|contd|fortsetzung|forts|suite|continuacion|continuacao|segue|continua)\W*$"
)


@cached_for_short_text
def section_of(title: str) -> str:
    """The canonical section of a heading, `experience` for "3. WORK HISTORY:"; "" for other lines.

    The canonical names are the keys of SECTION_NAMES. Case, accents, letter spacing, Markdown marks, emoji, numbering,
    brackets, punctuation and words such as "relevant" are ignored. Of two names ("Awards and publications") the first
    counts, but skills before languages ("Languages and frameworks").
    """
    if not title or len(title) > 3 * MAX_HEADING:
        return ""
    line = plain(title).strip(" \t\n:：")
    if not line or len(line) > 2 * MAX_HEADING or line.casefold() in ("resume", "cv"):
        return ""
    folded = _CONTINUED.sub("", _BRACKETS.sub(" ", fold(line).replace("_", " ")))
    folded = folded.lstrip(" #*-–—•·▪■●►▸»|:/<>=~")
    numbering = _NUMBERING.match(folded)
    folded = folded[numbering.end() :] if numbering else folded
    whole = _NOT_WORD.sub("", folded)
    if not whole or len(whole) > MAX_HEADING or any(char.isdigit() for char in whole):
        return ""
    return _SECTION_OF.get(whole) or _composed(folded)


def _composed(folded: str) -> str:
    """The section of a composed name: names joined by "and", a name with modifiers, or an experience in some field."""
    words = [word for word in _NOT_WORD.split(folded) if word]
    if words[-1] in _ANY_EXPERIENCE and not set(words) - _FIELDS:
        return "experience"
    parts = [_part(part) for part in _SEPARATORS.split(folded) if _NOT_WORD.sub("", part)]
    named = [part for part in parts if part]
    if not named or None in parts or len(parts) > 4:
        return ""
    return "skills" if named[0] == "languages" and "skills" in named else named[0]


def _part(part: str) -> str | None:
    """The section of one name without modifiers; "" if there are only modifiers, None if it is not a name."""
    words = [word for word in _NOT_WORD.split(part) if word]
    if "".join(words) in _SECTION_OF:
        return _SECTION_OF["".join(words)]
    rest = "".join(word for word in words if word not in MODIFIER_WORDS)
    return _SECTION_OF.get(rest) if rest else ""


def _squeezed(names: str) -> list[str]:
    return [_NOT_WORD.sub("", fold(name)) for name in names.split("|")]


MODIFIER_WORDS = frozenset(fold(MODIFIERS).split())
_ANY_EXPERIENCE = frozenset(("experience", "experiences", "employment", "appointments", "positions"))
_FIELDS = MODIFIER_WORDS | _ANY_EXPERIENCE | frozenset(FIELDS.split())
_SECTION_OF = {key: section for section, names in reversed(SECTION_NAMES.items()) for key in _squeezed(names)}
