"""GRAMMAR: by which words a clause ends, what is a verb, and what is a passive: a few rules of English."""

import re

_AUXILIARIES = "is are was were be been am has have had can could may might must shall should will would do does did"
_IRREGULAR = (
    "became began bought broke brought built came caught chose cost costs cut drew drove fell felt fought found gave"
    " got grew held hit kept knew laid leads led left let lost made makes meets met moves paid put ran rose runs said"
    " sang sat saw sent set shot showed sold spent spoke stood swam takes taught thought threw told took went won wore"
    " wrote"
)
VERB = rf"(?:(?:re|over|under|out|with)?(?:{'|'.join(f'{_AUXILIARIES} {_IRREGULAR}'.split())})|[a-z]{{2,}}ed)\b"
_NAMED = rf"(?:[A-Z][\w'’-]*\s){{1,3}}(?:{VERB}|[a-z]{{2,}}s\b)"
_DETERMINED = rf"(?:the|his|her|its|their|our|an?)\s(?:[\w-]+\s){{1,3}}?{VERB}|an?\s\w+\s[a-z]{{3,}}s\b"
_OWN = rf"(?:(?:he|she|it|they|we|I|there)\b|{_NAMED}|{_DETERMINED})"
BOUNDARY = re.compile(
    r";\s|\s(?=that\s(?:[A-Z]|(?:he|she|they)\b))|,?\s(?=(?:but(?! not\b)|whereas|although|though|because|while)\b)"
    r"|,\s(?=(?:and|or|so|yet|which|who|whose|where|when|after|before|until|then|since)\b)"
    rf"|\s(?=and\s(?:(?:then|later)\s)?(?:{_OWN}|{VERB}))|\s(?=(?:after|before|when|until|once|since)\s{_OWN})"
)
IS_VERB = re.compile(VERB)
PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being)\s(?:\w+ly\s)?(?:\w+ed|built|bought|brought|chosen|cut|done|drawn|driven|found"
    r"|given|held|hit|kept|known|laid|led|lost|made|met|paid|put|run|seen|sent|set|sold|spent|taken|taught|told|won"
    r"|worn|written)\b"
)
