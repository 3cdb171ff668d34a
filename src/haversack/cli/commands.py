"""The commands: short names people type, each for one declared tool or for one piece of housekeeping."""

from collections.abc import Mapping

from haversack.values import record


@record
class Command:
    """A command: the tool behind it, which parameters are typed without a name, and examples.

    `fixed` are arguments the command itself gives; `paste` prints the reply without its footer lines, which
    go to standard error instead. On a terminal a list may be a `table` of the named facts, and a reply that may
    be asked for again and again has `--watch`.
    """

    name: str
    tool: str
    positionals: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    fixed: Mapping[str, object] | None = None
    hidden: tuple[str, ...] = ()
    about: str = ""
    paste: bool = False
    table: tuple[str, ...] = ()
    watch: bool = False


COMMANDS: tuple[Command, ...] = (
    Command(
        "save", "mem_save",
        examples=(
            'haversack save --title "Tokens rotate hourly" --content "We chose RS256" --kind decision --tag auth',
            'git log -3 | haversack save --title "Recent work" --content -',
        ),
    ),
    Command(
        "search", "mem_search", ("query",),
        examples=(
            'haversack search "how did we do the jwt auth" --token-budget 300',
            "haversack search deploy --kind decision --since 30d --json",
        ),
    ),
    Command("context", "mem_context", examples=("haversack context --project thesis --token-budget 1500",)),
    Command("timeline", "mem_timeline", ("observation_id",), examples=("haversack timeline 12 --before 3 --after 0",)),
    Command("get", "mem_get_observation", ("id",), examples=("haversack get 12",)),
    Command(
        "edit", "mem_update", ("id",), hidden=("restore",),
        examples=("haversack edit 12 --title 'A better title'", "haversack edit 12 --pinned --verification verified"),
    ),
    Command("delete", "mem_delete", ("id",), examples=("haversack delete 12", "haversack delete 12 --hard")),
    Command(
        "restore", "mem_update", ("id",), fixed={"restore": True}, about="Bring a deleted memory back.",
        hidden=("title", "content", "kind", "project", "scope", "topic_key", "namespace", "tags", "importance",
                "tool_name", "status", "verification", "pinned", "restore"),
        examples=("haversack restore 12",),
    ),
    Command(
        "relate", "mem_relate", ("from_id", "to_id", "relation_type"),
        examples=('haversack relate 12 4 supersedes --note "after the audit"',),
    ),
    Command("unrelate", "mem_unrelate", ("id",), examples=("haversack unrelate 3",)),
    Command("graph", "mem_build_context", ("observation_id",), examples=("haversack graph 12 --depth 3",)),
    Command(
        "list", "list_observations", examples=("haversack list --kind decision --limit 50",),
        table=("id", "kind", "date", "title"),
    ),
    Command("history", "observation_history", ("id",), examples=("haversack history 12 --detail full",)),
    Command(
        "context-pack", "context_pack", ("query",), paste=True,
        examples=(
            "haversack context-pack --project thesis --tokens 2000 -o context.md",
            "haversack context-pack 'auth flow' --tokens 400 --json -o context.json",
        ),
    ),
    Command("more", "more", ("key",), examples=("haversack more k7f2 --token-budget 2000",)),
    Command("sessions", "list_sessions", examples=("haversack sessions --limit 5",)),
    Command("session-start", "mem_session_start", examples=("haversack session-start --project thesis",)),
    Command("session-end", "mem_session_end", ("id",), examples=("haversack session-end s-1f2e --summary 'Done'",)),
    Command(
        "session-summary", "mem_session_summary", examples=("haversack session-summary --content - < summary.md",)
    ),
    Command("prompt", "mem_save_prompt", ("content",), examples=("haversack prompt 'make the tests pass'",)),
    Command("capture", "mem_capture_passive", examples=("haversack capture --content - < reply.md",)),
    Command(
        "progress", "mem_progress", ("project",),
        examples=("haversack progress thesis", "haversack progress thesis --content - < progress.json"),
    ),
    Command(
        "compact", "mem_compact",
        examples=(
            "haversack compact --older-than-days 90",
            "haversack compact --older-than-days 90 --ids 3,4,7 --summary-content 'What they said'",
        ),
    ),
    Command("topic-key", "mem_suggest_topic_key", ("title",), examples=("haversack topic-key 'Auth model'",)),
    Command("stats", "mem_stats", examples=("haversack stats --json",)),
    Command(
        "budget", "budget_status", ("account",), watch=True,
        examples=("haversack budget", "HAVERSACK_BUDGET=b7k2m haversack budget --watch"),
    ),
    Command("budget open", "budget_open", examples=("haversack budget open --total 40000 --parent b7k2m",)),
    Command("budget reset", "budget_reset", ("account",), examples=("haversack budget reset b7k2m --close",)),
    Command("ws files", "project_files", ("path",), examples=("haversack ws files src --pattern '**/*.py'",)),
    Command("ws grep", "search_content", ("pattern", "path"), examples=("haversack ws grep 'def main' src",)),
    Command("ws read", "read_file", ("path",), examples=("haversack ws read README.md --start-line 10 --end-line 40",)),
    Command("ws info", "file_info", ("paths",), examples=("haversack ws info README.md,pyproject.toml",)),
    Command("ws status", "vcs_status", examples=("haversack ws status",)),
    Command("ws diff", "vcs_diff", ("path",), examples=("haversack ws diff --commit main..HEAD",)),
    Command("ws log", "vcs_log", ("path",), examples=("haversack ws log src --count 20",)),
    Command("ws blame", "vcs_blame", ("path",), examples=("haversack ws blame README.md --end-line 20",)),
    Command("log", "work_log", ("account",), examples=("haversack log b7k2m --limit 50",)),
    Command("sdd init", "sdd_init_project", ("name", "description"), examples=("haversack sdd init Shop 'Old books'",)),
    Command(
        "sdd propose", "sdd_create_proposal",
        examples=(
            "haversack sdd propose --problem-statement 'Books get lost' --target-users Readers --proposed-solution - "
            "--out-of-scope Buying --success-criteria 'A book is found in a minute' < solution.md",
        ),
    ),
    Command(
        "sdd requirements", "sdd_generate_requirements",
        examples=("haversack sdd requirements --must-have - --should-have none --non-functional none < must.md",),
    ),
    Command(
        "sdd rules", "sdd_create_business_rules",
        examples=("haversack sdd rules --definitions 'Loan: a book lent' --facts none --constraints - < rules.md",),
    ),
    Command(
        "sdd clarify", "sdd_clarify",
        examples=(
            "haversack sdd clarify",
            """haversack sdd clarify --answers - --dimension-scores '{"security": 80}' < answers.md""",
        ),
    ),
    Command(
        "sdd design", "sdd_create_design",
        examples=(
            "haversack sdd design --architecture-overview - --tech-stack Python --components 'Shelf (FR-001)' "
            "--data-model 'Book, Loan' < overview.md",
        ),
    ),
    Command(
        "sdd tasks", "sdd_create_tasks",
        examples=("haversack sdd tasks --tasks - --estimated-effort 'two weeks' < tasks.md",),
    ),
    Command(
        "sdd validate", "sdd_validate",
        examples=(
            "haversack sdd validate --requirements-coverage all --component-coverage all --consistency-issues none "
            "--verdict PASS",
        ),
    ),
    Command(
        "sdd context", "sdd_get_context", ("stage",),
        examples=("haversack sdd context", "haversack sdd context design --detail full --token-budget 1500"),
    ),
    Command("sdd explore", "sdd_explore", ("title",), examples=("haversack sdd explore Maps --goals - < goals.md",)),
    Command(
        "sdd change", "sdd_change", ("type", "size", "description"), hidden=("action",),
        about="Start a change. Type and size choose its stages.",
        examples=("haversack sdd change feature large 'Readers reserve books'",),
    ),
    Command(
        "sdd cancel", "sdd_change", ("description",), hidden=("type", "size", "action"),
        fixed={"action": "cancel", "type": "fix", "size": "small"}, about="Cancel the active change; its files stay.",
        examples=("haversack sdd cancel 'nobody needs it'",),
    ),
    Command(
        "sdd archive", "sdd_change", ("description",), hidden=("type", "size", "action"),
        fixed={"action": "archive", "type": "fix", "size": "small"}, about="Archive the active or last change.",
        examples=("haversack sdd archive 'it is live'",),
    ),
    Command(
        "sdd check", "sdd_context_check", ("change_description",),
        examples=("haversack sdd check 'Readers reserve books on loan (FR-002)' --token-budget 1500",),
    ),
    Command("sdd advance", "sdd_change_advance", ("content",), examples=("haversack sdd advance - < spec.md",)),
    Command("sdd status", "sdd_change_status", ("slug",), examples=("haversack sdd status",)),
    Command(
        "sdd adr", "sdd_adr", ("title",),
        examples=("haversack sdd adr 'Keep loans in SQLite' --context - --decision SQLite --rationale none < why.md",),
    ),
)  # fmt: skip

HOUSEKEEPING: dict[str, str] = {
    "tokens": "Count the tokens of files under each profile.",
    "export": "Write everything as JSON Lines.",
    "import": "Read JSON Lines written by export; what is there already is not added again.",
    "backup": "Write the whole store to one checked file, while it is in use.",
    "restore-backup": "Put a backup in the place of the store; the old store is kept beside it.",
    "fitcheck": "Try any MCP server's tools at many token budgets and report what does not fit.",
    "reembed": "Give memories the vectors that search by meaning needs.",
    "pack diff": "Say what changed between two packs.",
    "demo": "Show the main job on a small store in a temporary place.",
    "doctor": "Say what is wrong, and how to mend it.",
    "sdd doctor": "Say what is damaged in the plan kept here, and mend it.",
    "completion": "Print a completion script for bash, zsh or fish.",
}

COMMAND_BY_NAME = {command.name: command for command in COMMANDS}
