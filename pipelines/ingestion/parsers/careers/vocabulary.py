"""Words of positions, companies, schools, degrees and languages in six languages, and scores by them."""

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from pipelines.text import fold

TITLE_WORDS = frozenset(
    """
    engineer developer programmer architect analyst scientist researcher designer manager director lead leader head
    chief officer president vp svp evp avp cto ceo cfo coo cio cmo cpo ciso cso chro founder cofounder owner partner
    principal consultant advisor adviser specialist administrator admin assistant associate coordinator supervisor
    executive intern trainee apprentice fellow postdoc professor lecturer teacher instructor tutor trainer coach nurse
    physician doctor surgeon pharmacist therapist psychologist technician mechanic electrician operator accountant
    auditor controller bookkeeper banker trader broker economist actuary underwriter lawyer attorney paralegal counsel
    solicitor barrister clerk secretary receptionist representative agent salesperson seller buyer merchandiser
    marketer strategist planner producer editor writer journalist reporter author copywriter translator interpreter
    photographer videographer artist animator illustrator musician actor chef cook baker waiter waitress barista
    bartender cashier driver pilot captain sergeant lieutenant soldier inspector investigator librarian archivist
    curator conservator recruiter evangelist advocate ambassador scrum tester qa sre sdet devops dba sysadmin
    webmaster freelancer freelance contractor volunteer chair chairman chairwoman chairperson treasurer member steward
    foreman superintendent estimator surveyor dispatcher expert generalist ops crew server student ta ra werkstudent
    praktikant praktikantin entwickler entwicklerin ingenieur ingenieurin leiter leiterin leitung berater beraterin
    referent referentin sachbearbeiter sachbearbeiterin mitarbeiter mitarbeiterin assistent assistentin assistenz
    geschaftsfuhrer geschaftsfuhrerin kaufmann kauffrau techniker technikerin lehrer lehrerin dozent dozentin
    professorin forscher forscherin wissenschaftler wissenschaftlerin architektin analystin administratorin
    koordinator koordinatorin spezialist spezialistin pfleger pflegerin krankenpfleger krankenschwester arzt arztin
    redakteur redakteurin verkaufer verkauferin meister meisterin gesell geselle auszubildender auszubildende azubi
    volontar volontarin designerin managerin direktor direktorin vorstand hilfskraft aushilfe teamleiter projektleiter
    abteilungsleiter bereichsleiter fachkraft fachangestellte fachangestellter buchhalter buchhalterin rechtsanwalt
    rechtsanwaltin grunder grunderin inhaber inhaberin prokurist gruppenleiter programmiererin ingenieure developpeur
    developpeuse responsable cheffe directeur directrice charge chargee consultante conseiller conseillere
    gestionnaire stagiaire alternant alternante apprenti apprentie technicien technicienne architecte analyste
    chercheur chercheuse enseignant enseignante professeur professeure formateur formatrice infirmier infirmiere
    medecin pharmacien pharmacienne comptable auditeur auditrice controleur controleuse avocat avocate juriste
    secretaire adjoint adjointe commercial commerciale vendeur vendeuse acheteur acheteuse redacteur redactrice
    journaliste traducteur traductrice graphiste concepteur conceptrice animateur animatrice coordinateur
    coordinatrice fondateur fondatrice cofondateur cofondatrice gerant gerante administrateur administratrice
    assistante doctorant doctorante ouvrier employe employee agente coordonnateur coordonnatrice preparateur
    preparatrice serveur serveuse cuisinier cuisiniere educateur educatrice ingeniero ingeniera desarrollador
    desarrolladora programador programadora gerente directora jefe jefa consultor consultora analista arquitecto
    arquitecta disenador disenadora investigador investigadora cientifico cientifica profesor profesora docente
    maestro maestra becario becaria practicante pasante tecnico tecnica enfermero enfermera medico medica contador
    contadora contable auditora abogado abogada asesor asesora asistente auxiliar coordinador coordinadora encargado
    encargada supervisora vendedor vendedora comercial redactor redactora periodista traductor traductora fundador
    fundadora cofundador cofundadora lider subdirector subdirectora especialista ayudante dependiente camarero
    camarera cocinero cocinera operario operaria tutora engenheiro engenheira desenvolvedor desenvolvedora diretor
    diretora chefe arquiteto arquiteta projetista pesquisador pesquisadora cientista estagiario estagiaria tecnologo
    enfermeiro enfermeira contabilista advogado advogada assessor assessora coordenador coordenadora encarregado
    encarregada jornalista tradutor tradutora gestor gestora bolsista monitor monitora educador educadora operador
    operadora ingegnere sviluppatore sviluppatrice programmatore programmatrice direttore direttrice capo consulente
    architetto progettista ricercatore ricercatrice scienziato scienziata insegnante professore professoressa stagista
    tirocinante infermiere infermiera contabile revisore avvocato avvocata impiegato impiegata addetto addetta
    coordinatore venditore venditrice commessa commesso redattore redattrice giornalista traduttore traduttrice
    fondatore amministratore amministratrice assistente apprendista collaboratore collaboratrice grafico grafica
    segretario segretaria cameriere cameriera cuoco cuoca operaio operaia dottorando dottoranda
    """.split()
)
TITLE_ENDINGS = (
    "entwickler entwicklerin ingenieur ingenieurin leiter leiterin manager managerin berater beraterin techniker"
    " technikerin assistent assistentin referent referentin kaufmann kauffrau mechaniker mechanikerin mechatroniker"
    " programmierer programmiererin architekt architektin administrator pfleger pflegerin arzt lehrer lehrerin"
    " wissenschaftler wissenschaftlerin spezialist spezialistin student studentin hilfskraft analyst redakteur"
    " redakteurin verkaufer verkauferin mitarbeiter mitarbeiterin informatiker informatikerin elektroniker designer"
    " meister meisterin buchhalter buchhalterin praktikant praktikantin volontar trainee forscher angestellte"
    " fachkraft angestellter disponent therapeut therapeutin leitung betreuer betreuerin"
).split()
LEVEL_WORDS = frozenset(
    "senior sr junior jr staff principal lead leitender leitende stellvertretender stellvertretende confirme pleno"
    " interim acting deputy vice".split()
)
# Trades are also surnames and companies, so they score less than the words above.
TRADE_WORDS = frozenset(
    """
    maker joiner carpenter plumber welder fitter painter roofer glazier mason stonemason bricklayer plasterer tiler
    weaver tailor seamstress upholsterer potter blacksmith butcher baker barber hairdresser beautician florist gardener
    landscaper farmer grower ranger keeper fisherman sailor seaman rigger courier porter cleaner janitor caretaker
    housekeeper butler nanny carer caregiver babysitter paramedic firefighter policeman detective guard watchman warden
    bailiff judge magistrate notary dentist hygienist optician optometrist veterinarian midwife dietitian nutritionist
    physiotherapist radiographer phlebotomist chemist biologist physicist geologist mathematician statistician
    historian anthropologist sociologist linguist archaeologist astronomer hydrologist cartographer meteorologist
    ecologist geographer machinist toolmaker assembler packer loader stocker labourer laborer helper worker teller
    usher host hostess sommelier dishwasher caterer dancer choreographer singer composer conductor stagehand stylist
    model runner dean provost chaplain pastor priest minister ambassador diplomat attache envoy mayor councillor
    extern clerkship registrar matron buyer planner reviewer moderator presenter announcer usherette valet concierge
    gerant boulanger boulangere patissier patissiere coiffeur coiffeuse plombier macon menuisier electricien chauffeur
    livreur caissier caissiere aide backer schreiner tischler maurer elektriker fahrer koch kochin friseur friseurin
    gartner hausmeister kellner kellnerin panadero fontanero albanil carpintero peluquera conductor chofer cajero
    cajera repartidor soldador padeiro pedreiro eletricista motorista caixa atendente idraulico muratore falegname
    parrucchiera autista cassiere commesso mecanico mecanica tornero fresador mozo peon albanil jardinero limpiadora
    celador orientador repartidora teleoperador administrativo administrativa ordenanza torneiro serralheiro jardineiro
    recepcionista copeiro balconista atendente repositor meccanico saldatore tornitore magazziniere panettiere
    pasticciere pizzaiolo sarta barista mecanicien soudeur magasinier jardinier peintre macon ebeniste bibliothecaire
    receptionniste aide-soignant aide-soignante auxiliaire manutentionnaire mechaniker schlosser schweisser dreher
    lagerist maler lackierer zimmerer dachdecker bauleiter polier kuster florist konditor backerin metzger tierpfleger
    erzieher erzieherin sekretar sekretarin rezeptionist rezeptionistin hebamme rettungssanitater
    """.split()
)
TRADE_ENDINGS = (
    "keeper maker worker seller setter cutter grower fitter driver writer fahrer schlosser mechaniker monteur zeichner"
    " verwalter betreuer"
).split()
COMPANY_SUFFIXES = frozenset(
    "inc llc llp ltd limited plc corp corporation co gmbh mbh ag kg kgaa ohg ug se ev eg sa sas sarl eurl sasu sl"
    " slu sau srl spa snc lda ltda eireli bv nv oy oyj ab as asa aps pty pte kk pvt sapi cv holding holdings".split()
)
COMPANY_WORDS = frozenset(
    """
    lab labs laboratory laboratories technologies technology tech systems system solutions group bank university
    college school studio studios consulting consultancy consultants partners industries software hospital clinic
    institute agency foundation ministry department media networks network ventures capital games interactive company
    works analytics robotics energy pharma pharmaceuticals biotech biosciences therapeutics aerospace airlines motors
    automotive logistics insurance financial finance health healthcare medical dynamics digital cloud data ai research
    center centre council association society museum library press publishing services enterprises international
    global worldwide electronics semiconductors communications telecom telekom telecommunications mobile bros brothers
    retail stores store market markets restaurant cafe hotel hotels academy trust authority federal navy army
    government city county commission club theatre theater gallery factory mills foods brewery brewing farms
    engineering innovations instruments controls materials metals steel chemicals plastics paper textiles werke werk
    werkstatt klinik klinikum krankenhaus universitat hochschule institut bundesamt landesamt ministerium stadtwerke
    verlag versicherung versicherungen sparkasse volksbank kanzlei gesellschaft genossenschaft verband stiftung gruppe
    systeme technik maschinenbau anlagenbau handel logistik praxis schule gymnasium fraunhofer societe groupe banque
    universite ecole hopital clinique laboratoire laboratoires cabinet agence mairie ministere assurances
    etablissements compagnie atelier ateliers conseil fondation grupo banco universidad universidade escuela escola
    clinica laboratorio laboratorios agencia ministerio seguros compania empresa sociedad instituto fundacion fundacao
    consultoria tecnologia tecnologias soluciones solucoes servicios servicos sistemas industrias editora editorial
    ayuntamiento camara prefeitura gruppo banca universita scuola ospedale laboratori agenzia ministero assicurazioni
    azienda societa istituto fondazione consulenza tecnologie soluzioni servizi sistemi industrie officine editore
    comune casa politecnico tribunal tribunale
    """.split()
)
COMPANY_ENDINGS = (
    "soft tech ware works labs werke bank klinik versicherung versicherungen gruppe technik systeme logistik haus"
    " verlag systems media gesellschaft kasse"
).split()
# Fields of work: the last word of many companies ("Fathom Data"), the first of many positions ("Data Analyst").
FIELD_WORDS = frozenset(
    """
    data ai cloud digital mobile health healthcare medical media energy research finance financial insurance logistics
    retail engineering robotics software analytics network networks systems services international global
    communications electronics technology tech store restaurant government city hotel market press materials controls
    instruments library pharma biotech aerospace automotive factory paper steel metals museum law department logistik
    handel technik maschinenbau systeme praxis conseil comercial
    """.split()
)
SELF_EMPLOYED = frozenset(
    "self-employed selfemployed freelance freelancer freiberuflich selbststandig selbstandig independant"
    " independante autonomo autonoma libero".split()
)
INSTITUTION_WORDS = frozenset(
    """
    university college school institute academy polytechnic conservatory seminary faculty campus grammar sixth-form
    comprehensive bootcamp gymnasium universitat hochschule fachhochschule fh th tu htw haw institut akademie schule
    berufsschule berufskolleg realschule gesamtschule oberschule kolleg duale universite ecole lycee faculte iut
    insa ens enseirb supelec polytechnique conservatoire universidad escuela instituto colegio facultad politecnica
    politecnico academia centro universidade escola faculdade universita scuola istituto liceo accademia ies itis
    mit eth epfl ucla caltech stanford harvard oxford cambridge insead hec essec ie esade iese bocconi upc upm uned
    unam usp unicamp ucl lse kth dtu tum rwth kit lmu ufrj ufmg
    """.split()
)
INSTITUTION_ENDINGS = "universitat hochschule schule gymnasium universiteit akademie kolleg university institut".split()
DEGREE_WORDS = frozenset(
    """
    bachelor bachelors bachelor's master masters master's phd ph.d ph.d. dphil doctor doctorate doctoral mba emba msc
    m.sc m.sc. bsc b.sc b.sc. ba b.a b.a. ma m.a m.a. bs b.s b.s. ms m.s m.s. beng b.eng b.eng. meng m.eng m.eng.
    btech b.tech m.tech mtech bba mfa bfa llb llm ll.b ll.m jd j.d md m.d mphil m.phil edd bed b.ed med m.ed mpa mph
    associate associate's aa as aas diploma degree ged basc bmath bscn bdes barch march mres certificate minor major
    undergraduate graduate postgraduate a-levels gcse hnd bcom b.com mcom bca mca dr dr. diplom dipl dipl.-ing
    dipl.-ing. diplom-ingenieur magister staatsexamen abitur fachabitur promotion habilitation hochschulreife
    fachhochschulreife ausbildung mittlere realschulabschluss abschluss licence maitrise doctorat baccalaureat bac bts
    dut but deug dea dess cap bep brevet diplome mastere ingenieur classe prepa cpge grado licenciatura licenciado
    licenciada ingenieria maestria doctorado diplomatura diplomado bachillerato tecnico superior posgrado postgrado
    curso maestro grau bacharelado bacharel graduacao mestrado mestre doutorado doutoramento pos-graduacao
    posgraduacao especializacao tecnologo ensino laurea magistrale triennale dottorato maturita specializzazione
    perito dottore
    """.split()
)
DEGREE_ENDINGS = "studium abschluss ausbildung diplom examen reife".split()
EMPLOYMENT_TYPES = frozenset(
    """
    full-time part-time fulltime parttime contract contractor permanent temporary freelance internship apprenticeship
    seasonal self-employed remote hybrid on-site onsite vollzeit teilzeit befristet unbefristet festanstellung
    praktikum werkstudium freiberuflich homeoffice cdi cdd stage alternance interim temps-plein indefinido temporal
    efetivo clt pj estagio meio-periodo tempo-pieno
    """.split()
)
INTERNSHIPS = frozenset(
    "internship apprenticeship traineeship praktikum pflichtpraktikum ausbildung stage alternance apprentissage"
    " practicas estagio tirocinio stagiaire freelance freelancing".split()
)
NOT_INDUSTRIES = (
    "formerly former ehemals ex acquired via now part through contract until later previously heute jetzt client"
    " anciennement antes ora division subsidiary".split()
)

# Words of industries, which follow a company like its place.
INDUSTRY_WORDS = frozenset(
    """
    fintech saas b2b b2c e-commerce ecommerce startup start-up startups ngo nonprofit non-profit charity agriculture
    hospitality tourism manufacturing marketing advertising education edtech healthtech medtech biotech insurtech
    proptech gaming telecommunications telecom consulting accounting banking construction transport transportation
    aviation defence defense chemicals pharma pharmaceuticals textiles fashion luxury food beverage catering utilities
    oil gas mining publishing entertainment music film television sports fitness wellness security cybersecurity
    electronics semiconductors hardware software it ai lighting packaging printing recruitment staffing law legal
    public sector industry services branche maschinenbau automobil automobilindustrie handel einzelhandel
    dienstleistungen industrie commerce distribution tourisme sante hotellerie restauration comercio turismo salud
    hosteleria alimentacion industria saude alimentacao commercio turismo sanita ristorazione arredamento
    """.split()
)

# Parts of a company, which follow a position ("Manager, Retail Operations") and are not companies themselves.
DEPARTMENT_WORDS = frozenset(
    """
    engineering operations operational marketing sales finance accounting credit risk compliance treasury audit tax
    legal product products design research development r&d hr people talent procurement purchasing supply chain support
    success customer client clients care service platform platforms infrastructure security growth content brand
    communications pr strategy planning business partnerships analytics insights data quality assurance returns night
    day shift trading income fixed equity equities derivatives corporate commercial consumer retail wholesale digital
    social media events programs programmes projects production manufacturing maintenance facilities administration
    front back end backend frontend mobile web ios android cloud core tools learning training safety regulatory affairs
    government public policy investor relations donor alumni student admissions science grade math mathematics english
    history music art unit ward icu er emergency intensive surgical medical pediatrics oncology cardiology radiology
    cross-asset global regional national international domestic north south east west central emea apac americas latam
    and & of the i ii iii iv bar kitchen floor housekeeping logistics warehouse fulfillment inventory merchandising
    vertrieb einkauf marketingabteilung personal finanzen buchhaltung entwicklung produktion logistik lager qualitat
    ventes achats finances comptabilite production qualite ventas compras finanzas produccion calidad vendas financas
    producao vendite acquisti finanza produzione qualita
    """.split()
)
UNIT_WORDS = frozenset(
    """
    department dept division faculty chair section unit team branch abteilung lehrstuhl fakultat bereich referat
    departement faculte departamento facultad faculdade dipartimento facolta ufficio reparto
    """.split()
)
UNIT_STARTS = frozenset("school institute centre center institut".split())
# Times without work.
BREAK_WORDS = frozenset(
    """
    break leave sabbatical gap unemployed elternzeit mutterschutz babypause auszeit arbeitslos sabbatjahr chomage conge
    excedencia paro desemprego licenca aspettativa congedo disoccupazione
    """.split()
)

SPOKEN_LANGUAGES = frozenset(
    """
    english german french spanish portuguese italian dutch russian polish czech slovak hungarian romanian bulgarian
    greek turkish arabic hebrew persian farsi urdu hindi bengali punjabi tamil telugu marathi gujarati kannada
    malayalam chinese mandarin cantonese japanese korean vietnamese thai indonesian malay tagalog filipino swahili
    amharic swedish norwegian danish finnish icelandic estonian latvian lithuanian ukrainian belarusian serbian
    croatian bosnian slovenian macedonian albanian catalan basque galician irish welsh gaelic latin afrikaans
    esperanto georgian armenian azerbaijani kazakh uzbek mongolian nepali sinhala burmese khmer lao yoruba igbo hausa
    zulu luxembourgish maltese kurdish pashto dari somali deutsch englisch franzosisch spanisch portugiesisch
    italienisch niederlandisch russisch polnisch tschechisch ungarisch rumanisch griechisch turkisch arabisch
    chinesisch japanisch koreanisch schwedisch danisch norwegisch finnisch ukrainisch kroatisch serbisch latein
    katalanisch hebraisch persisch bulgarisch slowakisch slowenisch vietnamesisch anglais allemand francais espagnol
    portugais italien neerlandais russe polonais tcheque hongrois roumain grec turc arabe chinois japonais coreen
    suedois danois norvegien finnois ukrainien croate serbe hebreu persan ingles aleman frances espanol castellano
    portugues italiano neerlandes holandes ruso polaco checo hungaro rumano griego turco chino japones coreano sueco
    danes noruego finlandes ucraniano croata serbio euskera gallego vasco alemao espanhol russo polones grego chines
    hebraico tcheco romeno inglese tedesco francese spagnolo portoghese olandese polacco ceco ungherese rumeno greco
    cinese giapponese svedese danese norvegese finlandese ucraino arabo ebraico catalano
    """.split()
)
LEVELS = (
    "expert advanced intermediate beginner basic fundamental fundamentals proficient fluent native novice master"
    " skilled experienced competent familiar good excellent very strong working knowledge conversational professional"
    " full limited elementary bilingual mother tongue competence proficiency or level years yrs of experience experte"
    " fortgeschritten fortgeschrittene grundkenntnisse anfanger sehr gut gute kenntnisse muttersprache fliessend"
    " verhandlungssicher expertenkenntnisse mittel hoch intermediaire avance avancee debutant debutante courant"
    " maitrise bon bonne notions langue maternelle natif basico basica intermedio avanzado avanzada nativo nativa"
    " fluido experto medio alto principiante intermediario avancado avancada fluente especialista base avanzato"
    " avanzata madrelingua buono buona ottimo ottima scolastico esperto a1 a2 b1 b2 c1 c2"
).split()

MAX_CACHED_LENGTH = 500

_Result = TypeVar("_Result")
_CACHE_SIZE = 16_384
_WORD = re.compile(r"[^\W_](?:[\w.'+#]|[-/:*](?=\w))*")
_PIECE = re.compile(r"[\W\d_]+")
_LANGUAGE = re.compile(r"[^\W\d_]{3,}")
_GENDER = re.compile(r"(?:\(in\)|[/:*_]-?in(?:nen)?|\((?:a|e|ne|rice|m|f|w|d|x|/)+\)|/-?(?:a|e|o)|·e|\(in\))(?=\W|$)")
_LEGAL_FORMS = frozenset("inc llc ltd limited gmbh mbh kg corp plc srl sarl spa lda ltda llp".split())
_AGENT_ENDINGS = ("er", "or", "ist", "ian", "ant", "eur", "euse", "ista", "ador", "edor", "rice", "ora")
_LONG_ENDING = 4
_MANY_WORDS = 9


def cached_for_short_text(find: Callable[[str], _Result]) -> Callable[[str], _Result]:
    """Cache the results for texts of at most `MAX_CACHED_LENGTH` characters; longer keys would fill gigabytes."""
    known = lru_cache(maxsize=_CACHE_SIZE)(find)

    @wraps(find)
    def found(words: str) -> _Result:
        return known(words) if len(words) <= MAX_CACHED_LENGTH else find(words)

    return found


@cached_for_short_text
def tokens(words: str) -> tuple[str, ...]:
    """The folded words without gender endings ("Entwickler/in", "Développeur(se)")."""
    return tuple(
        token.rstrip(".'") if token.count(".") < 2 else token for token in _WORD.findall(_GENDER.sub("", fold(words)))
    )


def _tokens_and_parts(words: str) -> list[str]:
    return [
        bit for token in tokens(words) for bit in ([token, *_PIECE.split(token)] if _PIECE.search(token) else [token])
    ]


def _has_ending(token: str, endings: list[str] | tuple[str, ...]) -> bool:
    return any(len(token) >= len(end) + _LONG_ENDING - 1 and token.endswith(end) for end in endings)


@cached_for_short_text
def title_score(words: str) -> float:
    """Score the words as a position, 0 to 2.5."""
    found = _tokens_and_parts(words)
    if fold(words) in INTERNSHIPS:
        return 1.5
    hit = any(
        token in TITLE_WORDS or token.removesuffix("in") in TITLE_WORDS or _has_ending(token, TITLE_ENDINGS)
        for token in found
    )
    level = any(token in LEVEL_WORDS for token in found)
    score = 2.0 * hit + 0.5 * level
    if not hit and found and ({found[0], found[-1]} & TRADE_WORDS or _has_ending(found[-1], TRADE_ENDINGS)):
        return 1.0 + 0.5 * level
    if not score and found and len(found[-1]) > _LONG_ENDING and found[-1].endswith(_AGENT_ENDINGS):
        return 0.3
    return score - 1 if score and len(tokens(words)) > _MANY_WORDS else score


@cached_for_short_text
def company_score(words: str) -> float:
    """Score the words as a company or another employer, 0 to 2.5."""
    found = _tokens_and_parts(re.sub(r"\([^()]*\)", " ", words))
    squeezed = [token.strip(",()") for token in fold(words).replace(".", "").split()]
    if len(squeezed) > 1 and (squeezed[-1] in COMPANY_SUFFIXES or any(token in _LEGAL_FORMS for token in squeezed[1:])):
        return 2.5
    if is_unit(words):
        return 0.2
    known = any(token in COMPANY_WORDS or token in INSTITUTION_WORDS for token in found if token not in FIELD_WORDS)
    if known or set(found[-1:]) & FIELD_WORDS or any(_has_ending(token, INSTITUTION_ENDINGS) for token in found):
        return 1.2
    if any(_has_ending(token, COMPANY_ENDINGS) for token in found):
        return 1.0
    return 0.8 if "".join(squeezed) in SELF_EMPLOYED else 0.0


def has_title(words: str) -> bool:
    """True if the words contain a position word."""
    return title_score(words) >= 1.0


@cached_for_short_text
def institution_score(words: str) -> float:
    """Score the words as a school, 0 or 2."""
    found = _tokens_and_parts(words)
    return 2.0 * any(token in INSTITUTION_WORDS or _has_ending(token, INSTITUTION_ENDINGS) for token in found)


def has_school(words: str) -> bool:
    """True if the words contain a school word."""
    return institution_score(words) > 0


@cached_for_short_text
def degree_score(words: str) -> float:
    """Score the words as a degree, 0 or 2."""
    found = [*_tokens_and_parts(words), *fold(words).split()]
    return 2.0 * any(token in DEGREE_WORDS or _has_ending(token, DEGREE_ENDINGS) for token in found)


def is_employment_type(words: str) -> bool:
    """True if the words are only a type of employment ("Full-time", "CDI")."""
    found = fold(words).replace(" ", "-").split("/")
    return bool(words) and all(part.strip("-()·,") in EMPLOYMENT_TYPES for part in found)


def is_industry(words: str) -> bool:
    """True if the words contain an industry ("Fintech", "Food and beverage")."""
    return any(token in INDUSTRY_WORDS for token in tokens(words))


def is_department(words: str) -> bool:
    """True if the words are only a department or a trade ("Retail Operations", "Credit")."""
    found = tokens(words)
    return bool(found) and all(token in DEPARTMENT_WORDS for token in found)


def is_unit(words: str) -> bool:
    """True if the words name a unit of an employer ("Department of Geology", "Risk Department") and nothing else."""
    found = tokens(words)
    if len(found) < 2 or "," in words:
        return False
    of = found[1] in ("of", "for", "de", "fur", "der", "di")
    return found[-1] in UNIT_WORDS or (of and found[0] in UNIT_WORDS | UNIT_STARTS)


def is_break(words: str) -> bool:
    """True if the words name a break from work ("Career Break", "Elternzeit")."""
    found = tokens(words)
    return any(token in BREAK_WORDS for token in found) and len(found) <= _MANY_WORDS


def is_own_work(words: str) -> bool:
    """True if the words name self-employment ("Freelance developer", "Autónoma")."""
    return any(token in SELF_EMPLOYED for token in tokens(words))


def looks_named(words: str) -> bool:
    """True if the words may be a name or a position: mostly capitalised, or with a position word."""
    found = words.split()
    if not found or len(found) > 14:
        return False
    if title_score(words) >= 2 and len(found) <= 10:
        return True
    letters = [word for word in found if any(map(str.isalpha, word))]
    if not letters:
        return len(found) <= 6
    long = [word for word in letters if len(word) > 3 or word[0].isupper()]
    capitals = sum(1 for word in long if word.lstrip("(\"'„“«[*_#")[:1].isupper() or any(map(str.isupper, word)))
    start = letters[0].lstrip("(\"'„“«[*_")[:1]
    return (
        bool(long)
        and capitals >= 0.5 * len(long)
        and (start.isupper() or not start.isalpha() or any(map(str.isupper, letters[0])))
    )


def language_names(text: str) -> list[tuple[int, int]]:
    """The spans of the names of spoken languages in the text, in order; only names with a capital count."""
    return [
        match.span()
        for match in _LANGUAGE.finditer(text)
        if match[0][0].isupper() and fold(match[0]) in SPOKEN_LANGUAGES
    ]
