"""The notebooks as files, and the notebooks as they run: every cell, on this machine and on one without any driver."""

import ast
import itertools
import os
import re
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.ipynb"))

# ![alternative text](target) and [text](target); the text may run over several lines.
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
HTML_IMAGE = re.compile(r"<img\b", re.IGNORECASE)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)

# Where a machine has no driver at all, the loader finds this.
NO_DRIVER = {"VK_DRIVER_FILES": "/nonexistent", "VK_ICD_FILENAMES": "/nonexistent"}


@cache
def notebook(name):
    return nbformat.read(FOLDER / name, as_version=nbformat.NO_CONVERT)


def cells(name, kind):
    return [cell for cell in notebook(name).cells if cell.cell_type == kind]


def prose(name):
    """The text of the markdown cells, without code in it."""
    return CODE.sub("", "\n\n".join(cell.source for cell in cells(name, "markdown")))


def test_the_first_two_notebooks_are_there():
    assert {"00_start_here.ipynb", "01_the_problem.ipynb"} <= set(NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_stored_in_format_4_5_for_the_kernel_python3(name):
    stored = notebook(name)
    nbformat.validate(stored)
    assert (stored.nbformat, stored.nbformat_minor) == (4, 5)
    assert stored.metadata.kernelspec.name == "python3"
    assert len({cell.id for cell in stored.cells}) == len(stored.cells)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_nothing_is_stored_that_a_run_left_behind(name):
    assert "widgets" not in notebook(name).metadata
    for cell in cells(name, "code"):
        assert cell.outputs == [] and cell.execution_count is None, cell.id
        assert not cell.metadata, cell.id


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_code_cells_define_nothing(name):
    forbidden = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
    for cell in cells(name, "code"):
        found = [type(node).__name__ for node in ast.walk(ast.parse(cell.source)) if isinstance(node, forbidden)]
        assert found == [], cell.id


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_imports_the_package_and_nothing_else(name):
    imports = [
        ast.unparse(node)
        for cell in cells(name, "code")
        for node in ast.walk(ast.parse(cell.source))
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    assert imports == ["import expandlab as xl"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_code_cell_calls_at_most_one_panel_and_prose_stands_before_it(name):
    order = notebook(name).cells
    for before, cell in itertools.pairwise(order):
        if cell.cell_type == "code" and "xl.panels." in cell.source:
            assert cell.source.count("xl.panels.") == 1, cell.id
            assert before.cell_type == "markdown", cell.id


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_image_exists_and_says_what_it_shows(name):
    images = IMAGE.findall(prose(name))
    assert images, "a reader of the static page sees no picture"
    assert not HTML_IMAGE.search(prose(name)), "write images as ![alternative text](file), so that they are checked"
    for text, target in images:
        assert (FOLDER / target).is_file(), target
        assert len(text.split()) >= 5, f"{target}: say in words what the picture shows"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_link_leads_somewhere(name):
    for cell in cells(name, "markdown"):
        for target in LINK.findall(CODE.sub("", cell.source)):
            if "://" in target:
                # A notebook works without a network: only the list of sources leads out of it.
                assert cell.id == "sources" and target.startswith("https://"), target
            else:
                assert (FOLDER / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_says_where_its_ideas_come_from(name):
    (cell,) = [cell for cell in cells(name, "markdown") if cell.id == "sources"]
    assert len([target for target in LINK.findall(cell.source) if target.startswith("https://")]) >= 3


def test_the_first_notebook_links_to_all_others():
    linked = set(LINK.findall(prose("00_start_here.ipynb")))
    assert linked >= set(NOTEBOOKS) - {"00_start_here.ipynb"}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_every_answer_is_folded_away_and_unfolds(name):
    for cell in cells(name, "markdown"):
        assert cell.source.count("<details>") == cell.source.count("</details>"), cell.id
        assert cell.source.count("<details>") == len(re.findall(r"<summary>[^<]+</summary>", cell.source)), cell.id
        # Markdown inside HTML is rendered only after an empty line.
        assert len(re.findall(r"<details><summary>[^<]+</summary>\n\n", cell.source)) == cell.source.count("<details>")


def run(name, tmp_path, monkeypatch, **environment):
    """The notebook after a run in a folder of its own: its outputs are in its cells."""
    for variable in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        (tmp_path / variable).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.delenv("EXPANDLAB_DEVICE", raising=False)
    for variable, value in environment.items():
        monkeypatch.setenv(variable, value)
    ran = nbformat.read(FOLDER / name, as_version=nbformat.NO_CONVERT)
    work = tmp_path / "work"
    work.mkdir()
    client = NotebookClient(
        ran, timeout=120, kernel_name="python3", allow_errors=True, resources={"metadata": {"path": work}}
    )
    client.execute(env={**os.environ})
    return ran


def outputs(ran):
    return [(cell.id, output) for cell in ran.cells if cell.cell_type == "code" for output in cell.outputs]


def text_of(output):
    """Everything in an output that a reader may see."""
    if output.output_type == "stream":
        return output.text
    return "\n".join(value for value in output.get("data", {}).values() if isinstance(value, str))


def assert_clean(ran):
    for cell, output in outputs(ran):
        assert output.output_type != "error", f"{cell}: {output.ename}: {output.evalue}"
        assert output.get("name") != "stderr", f"{cell}: {output.text}"


def assert_panels_are_shown(ran):
    for cell in ran.cells:
        if cell.cell_type == "code" and "xl.panels." in cell.source:
            kinds = {kind for output in cell.outputs for kind in output.get("data", {})}
            assert "application/vnd.jupyter.widget-view+json" in kinds, cell.id


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_from_top_to_bottom(name, tmp_path, monkeypatch):
    ran = run(name, tmp_path, monkeypatch)
    assert_clean(ran)
    assert_panels_are_shown(ran)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_without_any_driver_and_says_so(name, tmp_path, monkeypatch):
    ran = run(name, tmp_path, monkeypatch, **NO_DRIVER)
    assert_clean(ran)
    assert_panels_are_shown(ran)
    seen = "\n".join(text_of(output) for _, output in outputs(ran)) + widget_text(ran)
    assert "reference" in seen
    assert "llvmpipe" not in seen and "SwiftShader" not in seen


def widget_text(ran):
    """The text that the widgets hold: their state is saved with the notebook that ran."""
    models = ran.metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {}).get("state", {})
    texts = [model["state"].get("value") for model in models.values()]
    return "\n".join(text for text in texts if isinstance(text, str))


# Exercises of a notebook: an answer that is right, and how many parts it has.
EXERCISES = {
    "00_start_here": [
        ("coloured = 12\nalone = 2", 2),
        ("hatched = 20\nempty = 2", 2),
        ("counts = [16, 16, 16, 16]", 1),
    ],
    "01_the_problem": [
        ("launched = 32\nworking = 12", 2),
        ("rounds_first = 9\nrounds_second = 2\nshare = 20 / 44", 3),
        ("best = [8] * 8\nworst = [64, 0, 0, 0, 0, 0, 0, 0]", 2),
    ],
    "02_distributions": [
        ("mean = 4\nzeros = 0.25\nflat = 0.5", 3),
        (
            "even = xl.counts.make('poisson', 10_000, mean=8)\n"
            "heavy = xl.counts.make('zipf', 10_000, mean=8, exponent=1.5)",
            2,
        ),
        ("limit = 16", 1),
    ],
    "03_search": [
        ("exclusive = [0, 2, 2, 7]\ninclusive = [2, 2, 7, 8]\nsrc_of_thread_2 = 2", 3),
        ("returned = (2 << 32) + 3\nend_of_src_2 = 3", 2),
        ("probes = 10\nentries = 1000", 2),
    ],
    "04_buckets": [
        ("buckets = [1, 2, 4]\noffsets = [0, 2, 6]", 2),
        ("threads = 32\nstraddled = 3", 2),
        ("fewest = [64, 0, 0, 0, 0, 0, 0, 0]\nmost = [7] * 7 + [15]", 2),
    ],
    "05_balance": [
        ("rounds_first = 1\nrounds_second = 10", 2),
        ("classes = [0, 1, 2, 0, 2]", 1),
        ("best = [2] * 32\nworst = [31, 3] + [1] * 30", 2),
    ],
    "08_top_k": [
        ("chosen = 3\nsure = 8\nwanted = 2", 3),
        ("largest = [1, 2, 4, 0]\nsmallest = [5, 6, 0, 1]", 2),
        ("today = 335_544_320\nstreamed = 82_080", 2),
    ],
    "06_timings": [
        ("written = 8 * 2**26\nleast_ms = 0.122\nratio = 1.23", 3),
        ("of_medians = 3.0\nof_ratios = 1.5", 2),
        ("front = ['a', 'b', 'd']", 1),
    ],
    "09_frame_graph": [
        ('edges = 4\nbarriers = 2\nlast = "execution"', 3),
        ('edges = [("produce", "clear_half"), ("clear_half", "left"), ("produce", "right")]', 1),
        ("with_tag = 30.0\nwithout_tag = 110.0", 2),
    ],
    "10_devices": [
        ("copies = 2\nmoved = 768", 2),
        ("after_w = ['gpu0']\nafter_r = ['gpu0', 'gpu1']\nafter_m = ['gpu1']", 3),
        ("one_device = 180.0\ntwo_devices = 200.0", 2),
    ],
    "11_search_loadouts": [
        ("n_of_a = 48\nn_of_b = 24\nn_of_d = 0", 3),
        ("back = 28_736\nall_scores = 33_554_432", 2),
        ("factor = 64\npartial = 1000", 2),
    ],
    "07_api_paths": [
        ("threads = 256\nidle = 119", 2),
        ("n = 50_000", 1),
        ("dispatches = 6\ndraws = 3\nworkgroups = 0", 3),
    ],
}
ROWS = [(name, f"ex{at}", *row) for name, rows in EXERCISES.items() for at, row in enumerate(rows, 1)]


def test_every_notebook_has_three_exercises():
    assert {f"{name}.ipynb" for name in EXERCISES} == set(NOTEBOOKS)
    assert {len(rows) for rows in EXERCISES.values()} == {3}


@pytest.mark.parametrize(("name", "exercise", "answer", "parts"), ROWS, ids=[f"{row[0]}-{row[1]}" for row in ROWS])
def test_an_exercise_accepts_its_answer_and_not_what_it_starts_with(name, exercise, answer, parts, capsys):
    source = {cell.id: cell.source for cell in cells(f"{name}.ipynb", "code")}
    for given, right in ((source[exercise], 0), (answer, parts)):
        names = {}
        exec("import expandlab as xl", names)
        exec(given, names)
        exec(source[f"{exercise}-check"], names)
        printed = capsys.readouterr().out
        assert printed.count("right") == right and printed.count("not yet") == parts - right
