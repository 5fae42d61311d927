"""Run `toolmd-litreview`: a whole review, and the list of handbooks."""

import asyncio
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from toolmd import ToolmdError, Workspace, load_settings
from toolmd_litreview.library import Library
from toolmd_litreview.review.output import export, lines
from toolmd_litreview.review.output import page as html
from toolmd_litreview.review.run import Question, Reviewer, to_json

app = typer.Typer(
    help="Review the literature on a question with the tools of toolmd-litreview.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
Project = Annotated[
    Path | None, typer.Option(help="The project's folder; else the nearest one upward.")
]
User = Annotated[str | None, typer.Option(help="Whose candidates; else the local user's.")]
Handbook = Annotated[str | None, typer.Option(help="The review; else the current one.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("review")
def review_command(  # noqa: PLR0913 - one option each
    question: Annotated[str, typer.Argument(help="The question, in one sentence.")],
    *,
    query: Annotated[str, typer.Option(help="The query for PubMed; else the question.")] = "",
    retmax: Annotated[int, typer.Option(help="How many papers at most.")] = 2000,
    expand_mode: Annotated[str, typer.Option(help="semantic or ripple.")] = "semantic",
    eligibility: Annotated[str, typer.Option(help="What includes or excludes a study.")] = "",
    selection: Annotated[str, typer.Option(help="Who decides how on each study.")] = "",
    page: Annotated[Path | None, typer.Option(help="Also write an HTML page here.")] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Extract large clusters unasked.")] = False,
    user: User = None,
    project: Project = None,
    as_json: Json = False,
) -> None:
    """Search, cluster, compare, extract and check; then print the report."""
    asked = Question(question, query or question, retmax, expand_mode, eligibility, selection)
    with (
        Workspace.open(project) as workspace,
        closing(Library(workspace.settings.state)) as library,
    ):
        reviewer = Reviewer(
            workspace,
            library,
            user,
            lambda prompt: yes or typer.confirm(prompt, err=True),
            lambda doing: typer.echo(doing, err=True),
        )
        done = asyncio.run(reviewer.review(asked))
    if page is not None:
        page.write_text(html(done), "utf-8")
    typer.echo(to_json(done) if as_json else "\n".join(lines(done)))
    if page is not None:
        typer.echo(f"made {page}", err=True)


@app.command("handbooks")
def handbooks_command(*, user: User = None, project: Project = None, as_json: Json = False) -> None:
    """List the handbooks with their status, the current one first."""
    with closing(Library(load_settings(project).state)) as library:
        books = library.goals(user).all()
    if as_json:
        typer.echo(json.dumps({"handbooks": [book._asdict() for book in books]}))
        return
    for book in books:
        typer.echo(f"{book.handbook_id} {book.status}: {book.seed_query}")
    if not books:
        typer.echo("There are no handbooks.")


@app.command("decide")
def decide_command(
    pmids: Annotated[list[int], typer.Argument(help="The papers by their PMID.")],
    *,
    exclude: Annotated[bool, typer.Option("--exclude/--include", help="The decision.")],
    reason: Annotated[str, typer.Option(help="Why.")],
    handbook: Handbook = None,
    user: User = None,
    project: Project = None,
) -> None:
    """Record your decision on papers of a review, the current one by default."""
    decision = "exclude" if exclude else "include"
    with closing(Library(load_settings(project).state)) as library:
        done = library.of(user, handbook).decide(pmids, decision, reason, user or "")
    if not done:
        raise ToolmdError("none of these papers is a candidate of the review")
    typer.echo(f"{done} of {len(pmids)} papers: {decision}")


@app.command("export")
def export_command(
    target: Annotated[Path, typer.Argument(help="The file to write: papers.ris or papers.csv.")],
    *,
    handbook: Handbook = None,
    user: User = None,
    project: Project = None,
) -> None:
    """Write the papers of a review with the decisions, as RIS or CSV."""
    form = target.suffix.lstrip(".").lower()
    if form not in ("ris", "csv"):
        raise typer.BadParameter("name a file that ends with .ris or .csv")
    with closing(Library(load_settings(project).state)) as library:
        if not (papers := library.of(user, handbook).papers()):
            raise ToolmdError("the review has no papers: run `toolmd-litreview review` first")
        target.write_text(export(library, user, handbook, form), "utf-8", newline="")
    typer.echo(f"made {target}: {len(papers)} papers")


def main() -> None:
    """Run the command, and report an error in one line."""
    try:
        app()
    except (ToolmdError, OSError, sqlite3.Error) as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(1)
