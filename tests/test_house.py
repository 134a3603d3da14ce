"""The architecture's promises: what a room may import, how large a thing may grow, what the README says is there."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "temp0"
MODULES = sorted(SOURCE.rglob("*.py"))

# What each room may import: other rooms, then third-party packages. Everyone has the standard library and `errors`.
MAY_IMPORT: dict[str, tuple[set[str], set[str]]] = {
    "core": (set(), {"numpy", "scipy"}),
    "probe": ({"core"}, {"aiohttp", "msgspec", "yarl"}),
    "store": ({"core"}, {"msgspec", "sqlalchemy", "platformdirs"}),
    "report": ({"core"}, {"rich", "jinja2", "markupsafe", "matplotlib"}),
    "kernels": (set(), {"numpy"}),
    "engine": (
        {"core", "kernels"},
        {"aiohttp", "gguf", "jinja2", "numpy", "safetensors", "threadpoolctl", "tokenizers"},
    ),
    "lab": ({"core", "kernels"}, {"numpy"}),
    "workflow": (
        {"core", "probe", "store", "report", "engine", "lab", "kernels"},
        {"msgspec", "platformdirs", "threadpoolctl"},
    ),
    "cli": ({"core", "workflow"}, {"click", "rich"}),
}
DOOR_TYPES = {("cli", "engine")}  # a door may name a value in an annotation, without importing it at run time
HEAVY = ("aiohttp", "gguf", "jinja2", "matplotlib", "msgspec", "numpy", "rich", "scipy", "sqlalchemy", "tokenizers")
VAGUE = {"utils", "common", "misc", "helpers", "base", "manager"}
LINES_OF_A_MODULE, LINES_OF_A_FUNCTION, LINES_OF_A_KERNEL = 400, 40, 90


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Every module that a file imports, and whether only for annotations."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in typing_only) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)}:{node.lineno}: relative import"
            assert node.module is not None
            yield from ((f"{node.module}.{alias.name}", id(node) in typing_only) for alias in node.names)


def room_of(path: Path) -> str | None:
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else None


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_room_imports_only_what_it_may(path: Path) -> None:
    room = room_of(path)
    if room is None:
        return
    rooms, packages = MAY_IMPORT[room]
    for module, for_types in imports(path):
        top, *rest = module.split(".")
        if top == "temp0":
            other = rest[0] if rest else "__init__"
            allowed = {room, "errors", "__version__", *rooms}
            assert other in allowed or (for_types and (room, other) in DOOR_TYPES), f"{room} imports {module}"
        elif top not in sys.stdlib_module_names:
            assert top in packages, f"{room} imports {module}"


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_a_module_has_a_name_that_says_something_and_opens_with_its_job(path: Path) -> None:
    assert path.stem not in VAGUE
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_modules_and_functions_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= LINES_OF_A_MODULE
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0].end_lineno if ast.get_docstring(node) else node.lineno
            body = (node.end_lineno or 0) - (first or 0)
            assert body <= LINES_OF_A_FUNCTION, f"{node.name} has {body} lines below its docstring"


@pytest.mark.parametrize("path", sorted((SOURCE / "kernels" / "native").iterdir()), ids=name)
def test_kernels_stay_short(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= LINES_OF_A_MODULE
    begun = None
    for number, line in enumerate(lines, start=1):
        if re.match(r"[\w\[].*\{$", line) and not line.startswith("namespace"):
            begun = number
        elif line.startswith("}") and begun is not None:
            assert number - begun <= LINES_OF_A_KERNEL, f"{path.name}:{begun}"
            begun = None


@pytest.mark.parametrize(
    "path", [*MODULES, *sorted((ROOT / "tests").rglob("*.py")), *sorted(ROOT.glob("docs/*.md"))], ids=name
)
def test_nothing_is_left_to_do_and_no_machine_is_named(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"\b(TODO|FIXME)\b" if path != Path(__file__) else r"(?!)", text)
    assert not re.search(r"(?<![\w.])/(work|root|home)/", text) or path == Path(__file__)


@pytest.mark.parametrize("path", [path for path in MODULES if room_of(path) != "cli"], ids=name)
def test_only_a_door_catches_everything(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else "everything"
            line = path.read_text(encoding="utf-8").splitlines()[node.lineno - 1]
            passed_on = isinstance(node.body[-1], ast.Raise)
            assert caught not in {"Exception", "everything"} or passed_on or "noqa: BLE001 -" in line, (
                f"{name(path)}:{node.lineno}"
            )


@pytest.mark.parametrize(
    "arguments", [["-c", "import temp0"], ["-m", "temp0", "--help"], ["-m", "temp0", "probe", "--help"]]
)
def test_starting_loads_nothing_heavy(arguments: list[str]) -> None:
    report = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], capture_output=True, text=True, check=True
    ).stderr
    loaded = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in report.splitlines()}
    assert loaded & set(HEAVY) == set()


def test_looking_at_a_run_loads_neither_charts_nor_the_whole_of_scipys_statistics() -> None:
    seen = "import sys, temp0.workflow.showing; print({'matplotlib', 'scipy.stats'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_the_base_install_does_not_pull_torch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert not any(re.match("torch|transformers", requirement) for requirement in project["dependencies"])


def test_the_map_in_the_readme_is_the_tree() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    mapped = re.findall(r"^(?:  )?(\w+/)\s{2,}\S", readme.split("## The map")[1].split("\n## ")[0], re.MULTILINE)
    rooms = {f"{path.name}/" for path in SOURCE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    top = {"bench/", "docs/", "tests/"}
    assert set(mapped) == rooms | top


def test_the_readme_fits_on_a_few_screens() -> None:
    assert (ROOT / "README.md").read_text(encoding="utf-8").count("\n") < 150
