"""The pages of docs/strategies agree with the strategies."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path

import pytest

import expandlab as xl

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "strategies").glob("*.md"))


@pytest.fixture(scope="module")
def accounts():
    spec = importlib.util.spec_from_file_location("accounts", ROOT / "docs" / "site" / "accounts.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_strategy_is_told_of_once(accounts):
    told = Counter(name for page in PAGES for name in accounts.told_of(page.read_text("utf-8")))
    assert told == Counter(list(xl.strategies()))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_says_what_the_strategies_say(page, accounts):
    text = page.read_text("utf-8")
    assert text == accounts.filled(text), "run python docs/site/accounts.py"


@pytest.mark.parametrize("name", list(xl.strategies()))
def test_an_account_says_when_the_strategy_wins_and_loses_and_where_it_comes_from(name, accounts):
    text = accounts.account(xl.strategies()[name]).lower()
    for word in ("win", "lose", "**source:**"):
        assert word in text


def test_the_memory_of_the_table_is_that_of_the_buffers(accounts):
    """By hand: 65,536 src and 1,048,576 items."""
    expected = {"append": 8 * 2**20, "prefix_search": 4 * 2**16 + 128, "atomic64_add": 12 * 2**16, "flat": 4 * 2**16}
    assert {name: accounts.memory(xl.strategies()[name]) for name in expected} == expected
    # Buckets 0 to 4 have room for every src, the others for 2^20 / 2^b entries.
    merged = 4 * (5 * 2**16 + sum(2**20 >> b for b in range(5, 21)))
    assert accounts.memory(xl.strategies()["po2_merged"]) == merged
    assert f"{merged / 2**20:.2f} MiB" in (ROOT / "docs" / "strategies" / "buckets.md").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_has_when_it_wins_when_it_loses_and_its_accounts(page):
    if page.stem == "README":
        return
    text = page.read_text("utf-8")
    assert "**Win.**" in text and "**Lose.**" in text and "## The accounts" in text and "/notebooks/" in text
