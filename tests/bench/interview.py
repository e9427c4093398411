"""Five questions of a first interview to each resume of a folder, judged by the truth beside it.

python -m tests.bench.interview FOLDER... [--show]

The current job, the jobs before it, the education, the skills, and the years of experience. FOOTNOTE_HOME is an empty
home, where the resumes are ingested first; each question is asked of one document. An answer is right if it names
every value of the truth: position and company, all companies before, all schools, half of the skills; the years within
one year.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from config.settings import Settings
from pipelines.evaluation.parsing import normal
from pipelines.evaluation.truth import Truth, read_truth, truth_of
from pipelines.facts import EducationFacts, JobFacts, SkillsFacts
from pipelines.ingestion.parsers.careers.dates import durations
from pipelines.ingestion.parsers.linkedin.jobs import stated_months
from pipelines.ingestion.run import ingest
from pipelines.months import merge_ranges, month_range
from pipelines.query.engine import build_query_engine
from pipelines.types import Filters
from tests.bench import arguments, show

_MONTHS_OFF = 12
_SKILL_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class InterviewQuestion:
    """A question, the values of which its answer must name a share, and how many months it must compute."""

    text: str
    values: tuple[str, ...]
    share: float = 1.0
    months: int = 0

    def is_right(self, answer: str) -> bool:
        """True if an answer names the values, and computes the months if there are any."""
        if self.months:
            spans = durations(answer)
            return bool(spans) and abs(stated_months(answer[slice(*spans[0])]) - self.months) <= _MONTHS_OFF
        said = normal(answer)
        return sum(normal(value) in said for value in self.values) >= self.share * len(self.values)


def questions_of(truth: Truth) -> Iterator[tuple[str, InterviewQuestion]]:
    """(the kind, the question) of each thing that the truth states."""
    jobs = [record for record in truth.records if isinstance(record, JobFacts)]
    current = next((job for job in jobs if job.current), None)
    before = [job for job in jobs if not job.current]
    schools = [record.institution for record in truth.records if isinstance(record, EducationFacts)]
    skills = [skill for record in truth.records if isinstance(record, SkillsFacts) for skill in record.skills]
    if current:
        yield "current job", InterviewQuestion("What is your current job?", (current.company, current.position))
    if before:
        yield "jobs before", InterviewQuestion("What were your previous jobs?", tuple({job.company for job in before}))
    if schools:
        yield "education", InterviewQuestion("What did you study, and where?", tuple(set(schools)))
    if skills:
        yield "skills", InterviewQuestion("What are your skills?", tuple(skills), _SKILL_SHARE)
    today = datetime.now(UTC).date()
    ends = [month_range(job.start_month, job.end_month, current=job.current, today=today) for job in jobs]
    months = sum(one.months for one in merge_ranges(filter(None, ends)))
    if months:
        yield "years", InterviewQuestion("How many years of work experience do you have?", (), months=months)


def main() -> None:
    """Ask, and print the share of right answers by kind and by confidence."""
    options = arguments("interview", __doc__)
    options.add_argument("folders", type=Path, nargs="+", help="resumes, each with its truth")
    options.add_argument("--show", action="store_true", help="print each wrong answer")
    given = options.parse_args()
    settings = Settings()
    paths = [path for folder in given.folders for path in sorted(folder.iterdir()) if path.suffix in (".pdf", ".docx")]
    ingest(settings, [str(path) for path in paths])
    engine = build_query_engine(settings)
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for path in paths:
        stated = truth_of(path)
        for kind, question in questions_of(read_truth(stated)) if stated else ():
            answer = engine.ask(question.text, filters=Filters(document=(path.name,)), record=False)
            is_right = answer.answered and question.is_right(answer.answer)
            bands = ("all", kind, f"called {answer.confidence}" if answer.answered else "abstained")
            asked.update(bands)
            right.update(bands if is_right else ())
            if given.show and not is_right:
                sys.stdout.write(f"{path.name}: {question.text} {answer.confidence}: {answer.answer[:300]}\n")
    show(
        {
            band: {"right": right[band], "asked": asked[band], "share": round(right[band] / asked[band], 3)}
            for band in asked
        }
    )


if __name__ == "__main__":
    main()
