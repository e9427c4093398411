"""Irregular verbs: forms that no stemmer brings together."""

_FORMS = """
become became; begin began begun; break broke broken; bring brought; build built; buy bought; catch caught;
choose chose chosen; draw drew drawn; drive drove driven; eat ate eaten; fall fell fallen; feel felt;
fight fought; find found; forget forgot forgotten; give gave given; go went gone; grow grew grown; hear heard;
hold held; keep kept; lead led; leave left; lend lent; lose lost; mean meant; meet met; pay paid;
ride rode ridden; rise rose risen; run ran; say said; see saw seen; sell sold; send sent; show shown; shrink shrank
shrunk; sink sank sunk; speak spoke spoken; spend spent; stand stood; steal stole stolen; swim swam swum;
take took taken; teach taught; tell told; think thought; throw threw thrown; understand understood; win won;
write wrote written; try tried tries; rewrite rewrote rewritten
"""
_BASE = {form: forms[0] for group in _FORMS.split(";") if (forms := group.split()) for form in forms[1:]}
_PARTICIPLE = {forms[1]: forms[-1] for group in _FORMS.split(";") if len(forms := group.split()) > 1}


def regular(text: str) -> str:
    """The text with the base form for every irregular form of a verb, in lower case where it was replaced."""
    return " ".join(_BASE.get(word.lower(), word) for word in text.split())


def participle(past: str) -> str:
    """The participle of a verb in the past tense; empty where the word is none that is known."""
    return past if past.endswith("ed") else _PARTICIPLE.get(past.lower(), "")
