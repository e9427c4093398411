"""Every check of `footnote doctor`: the database, the indexes, and the models of the settings."""

from contextlib import suppress

from config.settings import Settings
from pipelines.errors import ConfigError, FootnoteError
from pipelines.models.identity import MULTILINGUAL, identity, is_model_configured, llm_identity
from pipelines.models.minilm import examine_model
from pipelines.models.multilingual import examine_multilingual
from pipelines.store.database import open_database
from pipelines.store.embedding_models import active_model, change_over, mismatch, settings_of
from pipelines.store.health import Finding, examine
from pipelines.types import EmbeddingIdentity


def examine_all(settings: Settings, *, fix: bool = False) -> list[Finding]:
    """Run every check, in order; with `fix`, the safe repairs first. A language model is asked for one word."""
    model, agrees = _model_finding(settings)
    findings = [agrees, *(examine(settings, model, fix=fix) if model else ())]
    if model and model.provider == "local":
        findings.append(Finding("local model", *examine_model(settings.embedding.model_path)))
    if model and model.model == MULTILINGUAL:
        findings.append(Finding("multilingual model", *examine_multilingual()))
    if llm_identity(settings) is not None:
        from pipelines.models.consult import examine_llm  # its libraries take a second to import

        findings.append(Finding("language model", *examine_llm(settings)))
    return findings


def model_disagreement(settings: Settings, serves: EmbeddingIdentity | None) -> tuple[str, str, bool] | None:
    """(the message, what to do, True if it is an error) if the settings name another model than the active one."""
    wanted = identity(settings)
    if serves is None or wanted == serves:
        return None
    if is_model_configured(settings):
        return mismatch(wanted, serves), f"Run {change_over(wanted)}, or {settings_of(serves)}.", True
    message = f"With these settings a new corpus would be embedded with {wanted.label}; {serves.label} serves on."
    return message, f"Run {change_over(wanted)} to change over.", False


def _model_finding(settings: Settings) -> tuple[EmbeddingIdentity | None, Finding]:
    """(the model to examine, the finding on the settings and the active model)."""
    serves = None
    with suppress(FootnoteError):  # the database's own finding says so
        serves = active_model(open_database(settings).engine)
    try:
        wanted = identity(settings)
        found = model_disagreement(settings, serves)
    except ConfigError as error:
        return serves, Finding("embedding model", False, error.message, error.hint)
    if found is None:
        return wanted, Finding("embedding model", True, f"{wanted.label}")
    return serves, Finding("embedding model", not found[2], found[0], found[1])
