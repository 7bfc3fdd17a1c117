"""The pictures in notebooks/images are what today's code makes of the settings beside them."""

import shutil
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from expandlab import export
from expandlab.figures import reference
from expandlab.settings import from_json

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks" / "images"
SETTINGS = sorted(FOLDER.glob("*.json"))


def locked_matplotlib():
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    requirements = [Requirement(line) for line in lines if line and not line.lstrip().startswith("#")]
    (pin,) = [str(item.specifier) for item in requirements if item.name == "matplotlib"]
    return pin.removeprefix("==")


def test_there_are_pictures_and_each_has_its_settings():
    pictures = {path.stem for path in FOLDER.iterdir() if path.suffix in (".svg", ".png")}
    assert pictures and pictures == {path.stem for path in SETTINGS}


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda path: path.stem)
def test_a_settings_file_is_canonical(settings):
    text = settings.read_text(encoding="utf-8")
    assert text == from_json(text).to_json() + "\n"


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda path: path.stem)
def test_a_picture_is_what_its_settings_make(settings):
    stored = export.read_provenance(settings.with_suffix(".svg"))
    here = reference.drawn_with()
    if stored["versions"] != here and here["matplotlib"] != locked_matplotlib():
        pytest.skip(f"drawn with {stored['versions']}, and here is {here}: another version draws other bytes")
    assert stored["versions"] == here, "drawn with other versions than the lock's; rebuild the pictures"
    made = reference.reference_picture(from_json(settings))
    assert settings.with_suffix(".svg").read_bytes() == made, "rebuild the pictures and look at them"


def test_rebuild_makes_every_picture_of_a_folder(tmp_path):
    for settings in SETTINGS[:1]:
        shutil.copy(settings, tmp_path)
    made = reference.rebuild(tmp_path)
    assert made == [tmp_path / f"{SETTINGS[0].stem}.svg"]
    assert export.read_provenance(made[0])["settings"] == from_json(SETTINGS[0]).to_dict()
