"""Imports point one way, torch stays in training, kernels stay in kernel files, nothing runs data as code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("engine", "agent", "training")
SOURCES = sorted(path for layer in LAYERS for path in (ROOT / layer).rglob("*.py"))
SCRIPTS = sorted((ROOT / "scripts").glob("*.py"))
TESTS = sorted((ROOT / "tests").glob("*.py"))
SHELL = [path for path in (*sorted(ROOT.glob("scripts/*")), ROOT / ".ci/run") if path.suffix in ("", ".sh")]
SHELL = [path for path in SHELL if path.is_file()]
PAGES = sorted(path for path in (ROOT / "agent" / "web").rglob("*") if path.suffix in (".js", ".html"))
DATA_AS_CODE = {"pickle", "cPickle", "dill", "shelve", "marshal", "joblib", "yaml", "cloudpickle"}
RUNS_TEXT = {"eval", "exec", "compile", "__import__"}
SHELL_CALLS = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "pty.spawn"}
LOADS_OBJECTS = {"torch.load", "torch.save", "torch.jit.load", "pandas.read_pickle", "runpy.run_path"}

SHELL_RUNS_TEXT = re.compile(
    r"(?:^|[;&|(]|\b(?:then|do|else)\b)\s*eval\b|\b(?:ba)?sh -c\b|\|\s*(?:ba)?sh\b", re.MULTILINE
)
PAGE_RUNS_TEXT = re.compile(
    r"\beval\s*\(|\bFunction\s*\(|\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write"
    r"|set(?:Timeout|Interval)\(\s*[\"'`]|\son\w+\s*=\s*[\"']|javascript:"
)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Full names of the imported modules with their lines; those that start with a dot are reported as `relative`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield ("relative" if node.level else node.module or "", node.lineno)


def dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def faults_of_layering(tree: ast.AST, layer: str) -> list[str]:
    higher = set(LAYERS[LAYERS.index(layer) + 1 :])
    forbidden = higher | {"scripts", "tests", "relative"} | (set() if layer == "training" else {"torch"})
    if layer == "engine":
        forbidden |= {"typer", "rich", "tqdm", "safetensors", "fastapi", "scipy", "matplotlib"}
    return [f"line {line}: {name}" for name, line in imports(tree) if name.split(".")[0] in forbidden]


def full_names(tree: ast.AST) -> dict[str, str]:
    """What a name in a module stands for: `{"np": "numpy", "system": "os.system"}`."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def faults_of_trust(tree: ast.AST) -> list[str]:
    found = [f"line {line}: import {name}" for name, line in imports(tree) if name.split(".")[0] in DATA_AS_CODE]
    names = full_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            first, dot, rest = dotted(node).partition(".")
            name = (names.get(first, first) + dot + rest).removeprefix("builtins.")
            if name in RUNS_TEXT | SHELL_CALLS | LOADS_OBJECTS:
                found.append(f"line {node.lineno}: {name}")
        is_risky = isinstance(node, ast.keyword) and node.arg in ("shell", "allow_pickle")
        if is_risky and not (isinstance(node.value, ast.Constant) and node.value.value is False):
            found.append(f"line {node.value.lineno}: {node.arg}")
    return found


def has_njit(tree: ast.AST) -> bool:
    names = {"njit", "jit", "vectorize", "guvectorize", "cfunc"}
    return any(
        dotted(decorator.func if isinstance(decorator, ast.Call) else decorator).split(".")[-1] in names
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
    )


def is_kernel_file(path: Path) -> bool:
    return path.name.startswith("_") and path.name.endswith("_kernels.py")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_lower_package_never_imports_a_higher_one_nor_torch(path: Path) -> None:
    assert faults_of_layering(parsed(path), path.relative_to(ROOT).parts[0]) == []


@pytest.mark.parametrize("path", SOURCES + SCRIPTS + TESTS, ids=name_of)
def test_nothing_runs_data_as_code(path: Path) -> None:
    assert faults_of_trust(parsed(path)) == []


@pytest.mark.parametrize(
    ("paths", "pattern"), [(SHELL, SHELL_RUNS_TEXT), (PAGES, PAGE_RUNS_TEXT)], ids=["shell", "pages"]
)
def test_no_shell_script_or_page_runs_text_as_code(paths: list[Path], pattern: re.Pattern[str]) -> None:
    assert len(paths) > 5
    assert [name_of(path) for path in paths if pattern.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_njit_appears_in_kernel_files_only(path: Path) -> None:
    assert is_kernel_file(path) or not has_njit(parsed(path))


@pytest.mark.parametrize(
    "source",
    ["import torch", "from training.loop import train", "import scripts.train", "from . import rules", "import rich"],
)
def test_the_layer_check_sees_a_fault(source: str) -> None:
    assert faults_of_layering(ast.parse(source), "engine")


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "import pickle as p",
        "from marshal import loads",
        "from os import system as run; run(text)",
        "from os import system; system(text)",
        "import os as o; o.system(text)",
        "import builtins; builtins.eval(text)",
        "read = eval",
        "list(map(exec, texts))",
        "subprocess.run(text, shell=flag)",
        "np.load(path, allow_pickle=1)",
        "import torch as t; t.load(path, weights_only=True)",
        "from torch import load; load(path)",
        "from yaml import load",
        "eval(text)",
        "os.system(text)",
        "subprocess.run(text, shell=True)",
        "np.load(path, allow_pickle=True)",
        "torch.load(path)",
    ],
)
def test_the_trust_check_sees_a_fault(source: str) -> None:
    assert faults_of_trust(ast.parse(source))


@pytest.mark.parametrize(
    "line", ['eval "$given"', 'if x; then eval "$y"; fi', "a && eval b", 'bash -c "$1"', "curl -s x | bash"]
)
def test_the_check_of_shell_scripts_sees_a_fault(line: str) -> None:
    assert SHELL_RUNS_TEXT.search(f"set -e\n{line}\n") and not SHELL_RUNS_TEXT.search('get "/eval?p1=2"\nsource a.sh\n')


@pytest.mark.parametrize(
    "line",
    ["eval(text)", "new Function(text)", "node.innerHTML = text", "setTimeout('go()', 1)", "<p onclick='go()'>"],
)
def test_the_check_of_pages_sees_a_fault(line: str) -> None:
    assert PAGE_RUNS_TEXT.search(line) and not PAGE_RUNS_TEXT.search("evaluate(text); function go() {}")


@pytest.mark.parametrize("source", ["re.compile(x)", "model.eval()", "np.load(path, allow_pickle=False)", "load(path)"])
def test_the_trust_check_lets_the_rest_pass(source: str) -> None:
    assert faults_of_trust(ast.parse(source)) == []


def test_mypy_exempts_exactly_the_kernel_files() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    exempt = [entry["module"] for entry in config["tool"]["mypy"]["overrides"] if entry.get("ignore_errors")]
    kernels = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in SOURCES if is_kernel_file(path)]
    assert [sorted(modules) for modules in exempt] == [sorted(kernels)]


def test_importing_engine_and_agent_loads_no_optional_package() -> None:
    heavy = ["torch", "matplotlib", "fastapi", "gnubg_nn", "bgsage", "training"]
    code = f"import sys, engine, agent, agent.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def long_bodies(tree: ast.AST, most: int = 40) -> list[str]:
    """Functions of more lines than that, without their signature and docstring: many options are not long code."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
            lines = (node.end_lineno or 0) - body[0].lineno + 1
            found += [f"{node.name}: {lines} lines"] if lines > most else []
    return found


def test_functions_outside_kernels_keep_to_a_readable_size() -> None:
    paths = [path for path in SOURCES + SCRIPTS if not is_kernel_file(path)]
    assert {name_of(path): long for path in paths if (long := long_bodies(parsed(path)))} == {}
    assert long_bodies(ast.parse("def long():\n    'Doc.'\n" + "    work()\n" * 41)) == ["long: 41 lines"]


def test_modules_outside_tests_keep_to_a_readable_size() -> None:
    long = {name_of(path): lines for path in SOURCES if (lines := len(path.read_text().splitlines())) > 450}
    assert long == {}
