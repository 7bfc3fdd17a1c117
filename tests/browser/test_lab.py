import nbformat
import pytest


@pytest.fixture(scope="session")
def demo(lab, open_notebook):
    source = "import ipywidgets as w\nl = w.IntText(0)\ns = w.IntSlider(description='n')\nw.jslink((s, 'value'), (l, 'value'))\nw.VBox([s, l])"
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("hi"), nbformat.v4.new_code_cell(source, id="panel")])
    nb.metadata.kernelspec = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    nbformat.write(nb, lab.root / "notebooks" / "demo.ipynb")
    page = open_notebook("demo.ipynb")
    page.run_all()
    return page


def test_plumbing(demo):
    h = demo.page.locator(".noUi-handle")
    h.focus()
    h.press("ArrowRight")
    assert demo.complaints() == []
    before = demo.ear.comms()
    demo.run_cell("panel")
    print(before, demo.ear.comms())
    demo.page.screenshot(path="/tmp/demo.png")
    print(demo.lab.log()[-1500:])
