"""`footnote init`: see what a folder is, write it into the file of sources, ingest it, and open the chat."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.ingest import emit_run
from app.cli.options import Json, argument, option, settings_now
from app.cli.output import emit, render, say
from pipelines.errors import ConfigError, SourceError

if TYPE_CHECKING:
    from config.settings import Settings
    from pipelines.ingestion.run import Ingestion

verbs = typer.Typer()
_HUGO = ("hugo.toml", "hugo.yaml", "hugo.json", "config.toml")
_SUMMARIES = frozenset(("summary", "bio", "about"))
_PROFILES = frozenset(("linkedin", "profile", "resume", "cv"))


@dataclass(frozen=True, slots=True)
class FolderKind:
    """The name of a kind of folder, and the files and folders in it that are its sources."""

    name: str
    locations: tuple[Path, ...]


def folder_kind(folder: Path) -> FolderKind:
    """A site of Jekyll, Hugo or Astro, an Obsidian vault, a career chat, career data, else a folder of documents."""
    parts: tuple[tuple[str, bool, tuple[str, ...]], ...] = (
        ("Jekyll site", (folder / "_config.yml").is_file(), ("_posts", "_pages", "about.md")),
        ("Hugo site", any((folder / name).is_file() for name in _HUGO), ("content",)),
        ("Astro site", any(folder.glob("astro.config.*")), ("src/content", "src/pages")),
    )
    for name, is_one, places in parts:
        if found := tuple(folder / place for place in places if is_one and (folder / place).exists()):
            return FolderKind(name, found)
    if (folder / ".obsidian").is_dir():
        return FolderKind("Obsidian vault", (folder,))
    files = [path for path in sorted(folder.iterdir()) if path.is_file()]
    data = [(path, kind) for path in files if (kind := _career_data(path))]
    profile = any(path.suffix == ".pdf" and _words(path) & _PROFILES for path in files)
    if profile and any(path.suffix in (".txt", ".md") and _words(path) & _SUMMARIES for path in files):
        return FolderKind("career chat", (folder,))
    kinds = " and ".join(dict.fromkeys(kind for _, kind in data))
    return FolderKind(kinds or "folder of documents", tuple(dict.fromkeys([folder, *(path for path, _ in data)])))


def _career_data(path: Path) -> str:
    """The kind of a file that states a career as data; empty for any other."""
    from pipelines.ingestion.loaders.sniff import JSON_RESUME, LINKEDIN, RENDERCV, sniff

    kinds = {JSON_RESUME: "JSON Resume", RENDERCV: "rendercv", LINKEDIN: "LinkedIn archive"}
    if path.suffix.lower() not in (".json", ".yaml", ".yml", ".zip"):
        return ""
    try:
        return kinds.get(sniff(path.read_bytes(), path.name), "")
    except Exception:  # noqa: BLE001 - it is of no kind that is looked for
        return ""


def _words(path: Path) -> set[str]:
    return set("".join(char if char.isalpha() else " " for char in path.stem.lower()).split())


def declare(file: Path, kind: FolderKind) -> None:
    """Add the sources of a folder to a file of sources, those that it has already once; the rest stays as it is.

    Raises:
        ConfigError: If the file cannot be read or written.
    """
    try:
        text = file.read_text("utf-8") if file.exists() else "# The sources of `footnote ingest` without arguments.\n"
        new = [path for path in kind.locations if json.dumps(str(path)) not in text]
        lines = [f"\n[[source]]  # {kind.name}\nlocation = {json.dumps(str(path))}\n" for path in new]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "".join(lines), "utf-8")
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}.", hint="Check its permissions.") from error


@dataclass(frozen=True, slots=True)
class Begun:
    """The kind that a folder was taken for, the file of sources, and whose documents they are."""

    kind: str
    sources: Sequence[str]
    file: str
    name: str


@verbs.command()
def init(
    folder: Annotated[Path, argument("A folder with your documents.")],
    name: Annotated[str, option("Whose documents these are; default: the only person whom they name.")] = "",
    no_chat: Annotated[bool, option("Do not open the chat.", "--no-chat")] = False,
    as_json: Json = False,
) -> None:
    """See what a folder is, add it to the file of sources, ingest it, and open the chat under its owner's name.

    Knows a career chat (a profile as PDF and a summary), an Obsidian vault, a site of Jekyll, Hugo or Astro, JSON
    Resume, rendercv and LinkedIn's data archive; any other folder is one of documents.

    Example: footnote init ~/me
    """
    place = folder.expanduser().resolve()
    if not place.is_dir():
        raise SourceError(f"{folder} is not a folder.", hint="Name the folder that holds your documents.")
    settings, kind = settings_now(), folder_kind(place)
    from pipelines.ingestion.run import build_ingestion
    from pipelines.ingestion.sources.locations import sources_file

    file = sources_file(settings)
    ingestion = build_ingestion(settings)
    declare(file, kind)
    plan = ingestion.plan([str(path) for path in kind.locations])
    if not as_json:
        say(f"{place} is a {kind.name}; its sources are in {file}.", "bold")
        emit_run(ingestion, plan, False, lambda advance: ingestion.run(plan, on_progress=advance))
    else:
        ingestion.run(plan)
    owner = _owner(settings, ingestion, name)
    emit(Begun(kind.name, [str(path) for path in kind.locations], str(file), owner), as_json)
    if not (no_chat or as_json):
        from app.cli.chat import chat

        chat(port=None, sample=False, headless=False, visitor=False)


def _owner(settings: "Settings", ingestion: "Ingestion", name: str) -> str:
    """The name that is stated now or was, which is stored; else that of the only person whom the documents name."""
    from pipelines.store.facts import stated_people
    from pipelines.store.known_names import only_person
    from pipelines.store.persona import read_persona, save_persona

    persona, picture = read_persona(ingestion.database.engine, settings.persona)
    if name and name != persona.name:
        persona = persona.model_copy(update={"name": name})
        save_persona(ingestion.database.engine, persona, picture)
    people = [person for person, _ in stated_people(ingestion.store, "owner")]
    return persona.name or only_person(people).partition(",")[0]


@render.register(Begun)
def _render_begun(begun: Begun) -> None:
    say(f"The chat is called after {begun.name}." if begun.name else "Whose documents these are, --name tells.")
    say("On a page of yours: `footnote serve`, and `footnote-ask` of its widget (docs/http.md).", "dim")
