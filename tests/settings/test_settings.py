"""Settings: what goes in comes out the same, and nothing else is accepted."""

import json

import numpy as np
import pytest

from expandlab import settings as s
from expandlab.panels.sources import REAL
from expandlab.settings.base import REAL as REAL_SOURCES

KINDS = list(s.panels().values())


@pytest.mark.parametrize("kind", KINDS)
def test_settings_of_every_panel_come_back_from_their_json(kind):
    counted = issubclass(kind, s.CountsSettings)
    first = kind(source="list", values=[3, 1, 2], seed=4) if counted else kind()
    text = first.to_json()
    assert s.from_json(text) == first == kind.from_json(json.loads(text))
    assert s.from_json(text).to_json() == text
    if counted:
        assert first.counts().tolist() == [3, 1, 2] and first.counts().dtype == np.uint32


@pytest.mark.parametrize("kind", KINDS)
def test_every_field_of_every_panel_is_checked(kind):
    checked = kind._checks()
    assert set(checked) == set(kind().to_dict())
    for name in checked:
        with pytest.raises(s.SettingsError, match=f"^{name}=") as caught:
            kind(**{name: object()})
        assert caught.value.name == name


@pytest.mark.parametrize("values", ["3, 1", [-1], [1.5], [True], [2**32], [0] * 4097, 7])
def test_a_list_holds_whole_numbers(values):
    with pytest.raises(s.SettingsError, match="values="):
        s.ExpansionSettings(source="list", values=values)


def test_a_source_needs_what_it_names():
    for source, name in (("list", "values"), ("file", "file")):
        with pytest.raises(s.SettingsError) as caught:
            s.ExpansionSettings(source=source)
        assert caught.value.name == name
    assert s.ExpansionSettings(source="list", values=[]).counts().size == 0


def test_settings_of_another_panel_are_refused_and_an_unknown_panel_is_named():
    with pytest.raises(s.SettingsError, match="another panel"):
        s.ExpansionSettings.from_json(s.BucketSettings().to_json())
    with pytest.raises(s.SettingsError, match="panel='none'"):
        s.from_json({"panel": "none"})
    assert isinstance(s.from_json({"strategy": "flat"}), s.ExpansionSettings)


def test_the_menu_has_every_real_source():
    assert set(REAL) == set(REAL_SOURCES)
