"""Places: scores for words that name a city, a region, a country or remote work."""

import re

from pipelines.ingestion.parsers.careers.vocabulary import cached_for_short_text
from pipelines.text import fold

COUNTRIES = """
    usa | us | u.s. | u.s.a. | united states | united states of america | uk | u.k. | united kingdom | england
    | scotland | wales | northern ireland | ireland | germany | deutschland | allemagne | alemania | alemanha
    | germania | austria | österreich | autriche | áustria | switzerland | schweiz | suisse | suiza | suíça | svizzera
    | france | frankreich | francia | frança | spain | spanien | espagne | españa | espanha | spagna | portugal
    | portogallo | italy | italien | italie | italia | itália | netherlands | the netherlands | niederlande | pays-bas
    | países bajos | países baixos | paesi bassi | holland | belgium | belgien | belgique | bélgica | belgio
    | luxembourg | luxemburg | luxemburgo | denmark | dänemark | danemark | dinamarca | danimarca | sweden | schweden
    | suède | suecia | suécia | svezia | norway | norwegen | norvège | noruega | norvegia | finland | finnland
    | finlande | finlandia | finlândia | iceland | poland | polen | pologne | polonia | polônia | czech republic
    | czechia | tschechien | slovakia | hungary | ungarn | romania | rumänien | bulgaria | greece | griechenland
    | grèce | grecia | grécia | turkey | türkiye | türkei | turquie | turquía | russia | russland | ukraine | croatia
    | kroatien | serbia | slovenia | slowenien | estonia | latvia | lithuania | cyprus | malta | israel | egypt
    | morocco | maroc | tunisia | tunisie | algeria | algérie | south africa | nigeria | kenya | ghana | ethiopia
    | india | pakistan | bangladesh | sri lanka | nepal | china | hong kong | taiwan | japan | south korea | korea
    | s.korea | s. korea | singapore | malaysia | indonesia | thailand | vietnam | philippines | australia
    | australien | new zealand | canada | kanada | mexico | méxico | mexiko | brazil | brasil | brasilien | brésil
    | brasile | argentina | argentinien | chile | colombia | kolumbien | peru | perú | uruguay | ecuador | bolivia
    | paraguay | venezuela | costa rica | panama | cuba | uae | united arab emirates | dubai | qatar | saudi arabia
    | kuwait | lebanon | jordan | iran | iraq | armenia | georgia | kazakhstan | liechtenstein | monaco
"""
STATES = """
    AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA
    RI SC SD TN TX UT VT VA WA WV WI WY DC PR ON QC BC AB MB SK NS NB NL PE NSW VIC QLD TAS ACT SP RJ MG RS BA CE DF
    GO ES AM RN PB SE PI RO TO RM NA FI BO BG BS VE VR PD GE
"""
REGIONS = """
    alabama | alaska | arizona | arkansas | california | colorado | connecticut | delaware | florida | hawaii | idaho
    | illinois | indiana | iowa | kansas | kentucky | louisiana | maine | maryland | massachusetts | michigan
    | minnesota | mississippi | missouri | montana | nebraska | nevada | new hampshire | new jersey | new mexico
    | new york | north carolina | north dakota | ohio | oklahoma | oregon | pennsylvania | rhode island
    | south carolina | south dakota | tennessee | texas | utah | vermont | virginia | washington | west virginia
    | wisconsin | wyoming | ontario | quebec | québec | british columbia | alberta | manitoba | saskatchewan
    | nova scotia | new brunswick | bavaria | bayern | baden-württemberg | hessen | hesse | sachsen | saxony
    | niedersachsen | nordrhein-westfalen | nrw | brandenburg | thüringen | saarland | rheinland-pfalz
    | schleswig-holstein | île-de-france | occitanie | bretagne | normandie | provence | catalonia | cataluña
    | catalunya | andalucía | galicia | comunidad de madrid | país vasco | lombardia | lombardy | piemonte | toscana
    | tuscany | lazio | veneto | sicilia | emilia-romagna | campania | puglia | greater london | greater manchester
    | yorkshire | kent | surrey | essex | bay area | silicon valley | san francisco bay area | maharashtra | karnataka
    | tamil nadu | telangana | kerala | gujarat | new south wales | victoria | queensland | metropolitan area
    | são paulo | minas gerais | paraná | rio grande do sul | santa catarina | bahia | pernambuco | ceará | jalisco
    | nuevo león | ciudad de méxico | cdmx | d.c. | dc
"""
CITIES = """
    new york | nyc | los angeles | chicago | houston | phoenix | philadelphia | san antonio | san diego | dallas
    | austin | san jose | san francisco | seattle | denver | boston | washington | nashville | detroit | portland
    | las vegas | baltimore | milwaukee | atlanta | miami | oakland | minneapolis | cleveland | tampa | pittsburgh
    | cincinnati | sacramento | kansas city | columbus | charlotte | indianapolis | raleigh | durham | salt lake city
    | orlando | palo alto | mountain view | menlo park | cupertino | sunnyvale | redmond | bellevue | santa clara
    | santa monica | cambridge | princeton | berkeley | boulder | madison | ann arbor | brooklyn | manhattan
    | st. louis | buffalo | rochester | albany | providence | hartford | new haven | richmond | norfolk | savannah
    | new orleans | memphis | louisville | omaha | tulsa | tucson | albuquerque | el paso | fort worth | boise
    | spokane | honolulu | anchorage | toronto | montreal | montréal | vancouver | ottawa | calgary | edmonton
    | winnipeg | halifax | waterloo | québec | london | manchester | birmingham | leeds | liverpool | bristol
    | edinburgh | glasgow | cardiff | belfast | oxford | sheffield | nottingham | newcastle | brighton | leicester
    | reading | york | bath | dublin | cork | galway | berlin | hamburg | münchen | munich | köln | cologne
    | frankfurt | frankfurt am main | stuttgart | düsseldorf | dortmund | essen | leipzig | bremen | dresden
    | hannover | nürnberg | nuremberg | duisburg | bochum | wuppertal | bielefeld | bonn | münster | karlsruhe
    | mannheim | augsburg | wiesbaden | mainz | kiel | aachen | freiburg | heidelberg | darmstadt | potsdam | ulm
    | regensburg | würzburg | jena | erfurt | rostock | magdeburg | kassel | göttingen | erlangen | ingolstadt
    | wolfsburg | braunschweig | saarbrücken | lübeck | oldenburg | osnabrück | halle | chemnitz | trier | konstanz
    | tübingen | paderborn | walldorf | garching | passau | bayreuth | bamberg | wien | vienna | graz | linz
    | salzburg | innsbruck | zürich | zurich | genf | geneva | genève | basel | bern | lausanne | luzern | lugano
    | winterthur | st. gallen | zug | paris | lyon | marseille | toulouse | nice | nantes | strasbourg | montpellier
    | bordeaux | lille | rennes | reims | grenoble | dijon | angers | nîmes | brest | tours | clermont-ferrand
    | limoges | metz | nancy | rouen | caen | orléans | la rochelle | annecy | avignon | pau | poitiers
    | saint-étienne | le havre | sophia antipolis | la défense | versailles | madrid | barcelona | valencia | sevilla
    | seville | zaragoza | málaga | malaga | bilbao | murcia | palma | alicante | córdoba | valladolid | vigo | gijón
    | granada | la coruña | a coruña | vitoria | pamplona | san sebastián | donostia | santander | salamanca | oviedo
    | cádiz | almería | burgos | santiago de compostela | tarragona | girona | las palmas | lisboa | lisbon | porto
    | oporto | braga | coimbra | aveiro | faro | funchal | setúbal | évora | leiria | guimarães | roma | rome | milano
    | milan | napoli | naples | torino | turin | palermo | genova | genoa | bologna | firenze | florence | bari
    | catania | venezia | venice | verona | padova | trieste | brescia | parma | modena | pisa | siena | perugia
    | bergamo | trento | cagliari | ancona | lecce | udine | ferrara | rimini | salerno | pavia | ravenna | amsterdam
    | rotterdam | the hague | den haag | utrecht | eindhoven | delft | groningen | leiden | bruxelles | brussels
    | brussel | antwerp | antwerpen | ghent | gent | leuven | liège | copenhagen | københavn | aarhus | stockholm
    | göteborg | gothenburg | malmö | uppsala | oslo | bergen | trondheim | helsinki | espoo | tampere | reykjavik
    | warsaw | warszawa | kraków | krakow | wrocław | gdańsk | poznań | łódź | prague | praha | brno | bratislava
    | budapest | bucharest | cluj-napoca | sofia | athens | thessaloniki | istanbul | ankara | izmir | moscow
    | saint petersburg | kyiv | lviv | zagreb | belgrade | ljubljana | tallinn | tartu | riga | vilnius | tel aviv
    | jerusalem | haifa | cairo | casablanca | rabat | tunis | algiers | lagos | abuja | nairobi | accra
    | johannesburg | cape town | pretoria | durban | addis ababa | dubai | abu dhabi | doha | riyadh | beirut | amman
    | tehran | mumbai | delhi | new delhi | bangalore | bengaluru | hyderabad | chennai | pune | kolkata | ahmedabad
    | gurgaon | gurugram | noida | jaipur | kochi | karachi | lahore | islamabad | dhaka | colombo | kathmandu
    | beijing | shanghai | shenzhen | guangzhou | hangzhou | chengdu | nanjing | wuhan | hong kong | taipei | tokyo
    | osaka | kyoto | yokohama | nagoya | fukuoka | seoul | busan | singapore | kuala lumpur | jakarta | bangkok
    | hanoi | ho chi minh city | manila | sydney | melbourne | brisbane | perth | adelaide | canberra | auckland
    | wellington | christchurch | mexico city | ciudad de méxico | guadalajara | monterrey | puebla | são paulo
    | sao paulo | rio de janeiro | brasília | belo horizonte | curitiba | porto alegre | recife | salvador | fortaleza
    | florianópolis | campinas | manaus | goiânia | belém | buenos aires | rosario | mendoza | santiago
    | santiago de chile | valparaíso | bogotá | bogota | medellín | cali | barranquilla | lima | quito | guayaquil
    | montevideo | asunción | la paz | caracas | san juan | panama city | havana | luxembourg | monaco
"""
REMOTE = """
    remote | fully remote | remote-first | hybrid | on-site | onsite | anywhere | worldwide | distributed
    | work from home | home office | homeoffice | télétravail | remoto | teletrabajo | trabajo remoto
    | trabalho remoto | teletrabalho | da remoto | lavoro da remoto | à distance | 100% remote | telecommute | europe
    | emea | apac | global
"""

_WORD = re.compile(r"[^\W\d_][\w.'’/-]*")
_DASH = re.compile(r"\s[–—-]\s")
_POSTCODE = re.compile(r"(?:(?:d|a|ch|f|i|e)-)?\d{4,6}\s+|\s+\d{5}(?:-\d{4})?$")
_SMALL = frozenset(
    "de la le les du des am an der den die das in im of the sur en el los las do da dos di del on upon".split()
)
_AROUND = re.compile(
    r"^(?:greater|near|raum|region|großraum|grossraum|area de|area|metropolitan|zona)\s"
    r"|\s(?:area|metropolitan area|region)$"
)


def is_place(words: str) -> bool:
    """True if the words name a place or remote work: "Berlin", "Princeton, NJ", "Remote (US)"."""
    return place_score(words) >= 2


@cached_for_short_text
def place_score(words: str) -> int:
    """Score the words as a place: 3 = a known place, 2 = "Somewhere, Country", 1 = "Something, City", 0 = unknown.

    "Something" may be a district or a company in the city.
    """
    words = words.strip(" \t\n.,;()[]")
    if not words or len(words) > 80:
        return 0
    parts = [
        part.strip(" ()") for part in re.split(r"[,/|(·&–—]|\s-\s|\s(?:and|und|et|y|e)\s", words) if part.strip(" ()")
    ]
    if not parts or len(parts) > 5:
        return 0
    known = [_known(part, bool(place)) for place, part in enumerate(parts)]
    if all(known):
        return 3
    named = [known_part or _is_name(part) for known_part, part in zip(known, parts, strict=True)]
    if len(parts) > 3 or not all(named) or "," not in words or _DASH.search(words):
        return 0
    if not known[-1]:
        return 2 * (known[0] and len(parts) == 2)
    doubtful = fold(parts[-1]) in _REMOTE or (len(parts) > 2 and not any(known[:2]))
    in_a_city = len(parts) > 1 and fold(parts[1]) in _CITIES and parts[1] not in _STATES
    return 1 if doubtful or (in_a_city and not (known[0] and len(parts) == 2)) else 2


def could_be_place(words: str) -> bool:
    """True if the words may name an unknown place: up to four words with capitals."""
    return not any(map(str.isdigit, words)) and _is_name(words)


def _known(part: str, after_another: bool) -> bool:
    name = _AROUND.sub("", _POSTCODE.sub("", fold(part)))
    state = after_another and _POSTCODE.sub("", part) in _STATES
    return state or name in _PLACES or (name.startswith("remote") and len(name.split()) <= 3)


def _is_name(part: str) -> bool:
    """True if the part may be the name of a city: up to four words with capitals."""
    words = part.split()
    return 0 < len(words) <= 4 and all(
        word.lower() in _SMALL or (word[0].isupper() and bool(_WORD.fullmatch(word))) for word in words
    )


_STATES = frozenset(STATES.split())
_CITIES = frozenset(fold(name) for name in CITIES.split("|"))
_REMOTE = frozenset(fold(name) for name in REMOTE.split("|"))
_PLACES = frozenset(fold(name) for names in (COUNTRIES, REGIONS, CITIES, REMOTE) for name in names.split("|"))
