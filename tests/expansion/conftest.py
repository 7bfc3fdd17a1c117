"""A strategy that needs a feature is left out on a device that lacks it, everywhere in this folder."""

import pytest
from drivers import driver

import expandlab as xl


@pytest.fixture(autouse=True)
def _the_device_has_what_the_strategy_needs(request):
    """Skip (strategy, device) pairs that cannot be; `auto` has to find one that can."""
    params = getattr(getattr(request.node, "callspec", None), "params", {})
    strategy = xl.strategies().get(params.get("strategy"))
    if strategy is None or not strategy.needs:
        return
    name = next((params[key] for key in ("gpu", "any_device", "every_device", "name") if key in params), None)
    if name is None or name == "reference":
        return
    missing = [feature for feature in strategy.needs if feature not in driver(name).features]
    if missing:
        pytest.skip(f"{name} lacks {', '.join(missing)}")
