"""What is public, and that it says what it is."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest
from meta.sources import modules

import benni
import benni.primitives
import benni.schema
from benni import errors

PUBLIC = [module for module in modules() if hasattr(module, "__all__")]
NAMES = [
    pytest.param(module, name, id=f"{module.__name__}.{name}")
    for module in PUBLIC
    for name in module.__all__
]
CLASSES = {
    getattr(module, name)
    for module in PUBLIC
    for name in module.__all__
    if inspect.isclass(getattr(module, name, None))
}
MEMBERS = [
    pytest.param(cls, name, id=f"{cls.__name__}.{name}")
    for cls in sorted(CLASSES, key=lambda cls: cls.__name__)
    for name in dir(cls)
    if not name.startswith(("_", "model_"))
    and str(getattr(inspect.getattr_static(cls, name), "__module__", "")).startswith("benni")
]


def test_the_public_modules():
    """Those that users import from are among the ones that are checked."""
    assert {benni, benni.schema, benni.primitives} <= set(PUBLIC)


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_all_is_sorted(module):
    """Each name once, in order."""
    assert list(module.__all__) == sorted(set(module.__all__))


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_all_is_all(module):
    """`__all__` names what the module has, no more and no less."""
    contents = {
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and getattr(value, "__module__", "") != "__future__"
    }
    assert contents == set(module.__all__)


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_name_can_be_imported(module, name):
    """A name that is announced is there."""
    assert hasattr(module, name)


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_every_name_says_what_it_is(module, name):
    """Each has a docstring of its own."""
    assert vars(getattr(module, name)).get("__doc__") or getattr(module, name).__doc__


@pytest.mark.parametrize(("cls", "name"), MEMBERS)
def test_every_method_says_what_it_does(cls, name):
    """Each public method and property has a docstring, its own or the one it overrides."""
    assert inspect.getdoc(inspect.getattr_static(cls, name)) or inspect.getdoc(getattr(cls, name))


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.__name__)
def test_every_module_says_what_it_is(module):
    """A file begins with what may be in it."""
    assert module.__doc__


@pytest.mark.parametrize("module", [benni, benni.primitives], ids=lambda module: module.__name__)
def test_every_error_is_exported(module):
    """Whoever can call something can name what it raises."""
    every = {name for name, value in vars(errors).items() if inspect.isclass(value)}
    assert every <= set(module.__all__)


def test_every_error_has_one_root():
    """`except BenniError` catches all of them."""
    every = [value for value in vars(errors).values() if inspect.isclass(value)]
    assert all(issubclass(error, benni.BenniError) for error in every)


@pytest.mark.parametrize("name", ["Benni", "Semaphore", "Lease", "Signal"])
def test_both_colours_can_be_named(name):
    """An annotation can say which colour it means."""
    assert {f"Sync{name}", f"Async{name}"} <= set(benni.__all__)
