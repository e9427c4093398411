"""Words that tell a position, a company, a school, a degree and a language apart, folded, in six languages."""

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
# Trades, which are surnames and companies as well: they tell less than the words above.
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

# Words of industries, which stand beside a company as its place does.
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

# Parts of a company, which stand behind a position ("Manager, Retail Operations"): no company by themselves.
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
