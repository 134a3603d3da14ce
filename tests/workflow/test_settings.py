"""Settings: what a file says is what is checked, and what cannot be right is refused by name."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from temp0.core.gate import Tolerance
from temp0.errors import UsageError
from temp0.workflow.settings import (
    CheckSettings,
    EndpointSettings,
    check_settings,
    find_settings,
    header_values,
    marker_settings,
    place_in_repository,
    pytest_settings,
)


def written(folder, text, name="temp0.toml"):
    path = folder / name
    path.write_text(text)
    return path


def test_everything_that_can_be_said_is_read(tmp_path):
    settings = check_settings(
        written(
            tmp_path,
            """
            [check]
            n = 12
            company = [1, 4]
            filler = "mixed"
            cache = "both"
            logprobs = "both"
            stream = "on"
            max_tokens = 32
            seed = 5
            max_requests = 900
            tolerate = { rate = 0.05, confidence = 0.9, folded = true }
            undecided = "pass"
            baseline = "known.json"
            prompts = ["Say hi.", "Say ho."]
            texts = true
            [[check.endpoints]]
            name = "prod"
            url = "http://127.0.0.1:1/v1"
            model = "m"
            api = "openai-chat"
            key_env = "KEY"
            timeout_s = 5
            connect_timeout_s = 2
            first_byte_timeout_s = 3
            patience_s = 0
            headers = { X-Team = "red", X-Pass = "$PASS" }
            extra = { top_k = 1 }
            greedy = false
            exclusive = true
            [[check.endpoints]]
            arithmetic = "invariant"
            """,
        )
    )
    assert (settings.n, settings.company, settings.max_tokens, settings.seed) == (12, (1, 4), 32, 5)
    assert settings.tolerance == Tolerance(rate=0.05, confidence=0.9, folded=True)
    assert (settings.undecided, settings.texts, settings.max_requests) == ("pass", True, 900)
    assert settings.baseline == tmp_path / "known.json"
    assert settings.prompts == ("Say hi.", "Say ho.")
    first, second = settings.endpoints
    assert (first.name, first.key_env, first.timeout_s, first.exclusive) == ("prod", "KEY", 5.0, True)
    assert (first.connect_timeout_s, first.first_byte_timeout_s, first.patience_s) == (2.0, 3.0, 0.0)
    assert (first.headers, first.extra, first.greedy) == ({"X-Team": "red", "X-Pass": "$PASS"}, {"top_k": 1}, False)
    assert (settings.filler, settings.cache, settings.logprobs, settings.stream) == ("mixed", "both", "both", "on")
    assert (second.name, second.url, second.arithmetic) == ("endpoint-2", None, "invariant")


def test_an_empty_table_is_the_built_in_engine_with_our_defaults(tmp_path):
    settings = check_settings(written(tmp_path, "[check]"))
    assert [endpoint.url for endpoint in settings.endpoints] == [None]
    assert (settings.n, settings.company, settings.tolerance) == (None, (1, 8), Tolerance())


def test_pyproject_holds_them_under_tool_temp0(tmp_path):
    path = written(tmp_path, '[tool.temp0.check]\nprompts = "p.jsonl"\n[tool.other]\nx = 1', name="pyproject.toml")
    assert find_settings(tmp_path) == path
    assert check_settings(path).prompts == tmp_path / "p.jsonl"


def test_temp0_toml_goes_before_pyproject(tmp_path):
    written(tmp_path, "[tool.temp0.check]", name="pyproject.toml")
    own = written(tmp_path, "[check]")
    assert find_settings(tmp_path) == own


def test_a_file_that_speaks_of_something_else_is_no_gate(tmp_path):
    """Such as of pytest alone; it was once taken for a gate of our own engine."""
    own = written(tmp_path, "[pytest]\nn = 3")
    with pytest.raises(UsageError, match="no settings in"):
        find_settings(tmp_path)
    with pytest.raises(UsageError, match=r"describes no gate: it has no \[check\]"):
        check_settings(own)
    gate = written(tmp_path, "[tool.temp0.check]", name="pyproject.toml")
    assert find_settings(tmp_path) == gate
    with pytest.raises(UsageError, match=r"it has no \[tool.temp0.check\]"):
        check_settings(written(tmp_path, "[project]", name="pyproject.toml"))
    with pytest.raises(UsageError, match="Expected `object`, got `int`"):
        check_settings(written(tmp_path, "tool = 3", name="pyproject.toml"))


def test_a_misspelled_table_is_named_rather_than_passed_over(tmp_path):
    written(tmp_path, "[tool.temp0.chek]", name="pyproject.toml")
    with pytest.raises(UsageError, match="unknown field `chek`"):
        find_settings(tmp_path)


def test_settings_are_found_from_a_folder_below_but_not_beyond_the_repository(tmp_path):
    below = tmp_path / "repository" / "tests"
    below.mkdir(parents=True)
    own = written(tmp_path, "[check]\n[pytest]\nn = 4")
    assert find_settings(below) == own
    assert pytest_settings(below) == {"n": 4}
    (tmp_path / "repository" / ".git").mkdir()
    with pytest.raises(UsageError, match="no settings in"):
        find_settings(below)
    assert pytest_settings(below) == {}
    nearest = written(tmp_path / "repository", "[check]")
    assert find_settings(below) == nearest


def test_a_place_is_told_from_the_root_of_the_repository(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    path = written(tmp_path / "sub", "[check]")
    assert place_in_repository(path) == "temp0.toml"
    (tmp_path / ".git").mkdir()
    assert place_in_repository(path) == place_in_repository(Path("temp0.toml")) == "sub/temp0.toml"
    assert place_in_repository(tmp_path.parent / "temp0.toml") == "temp0.toml"


def test_a_folder_without_settings_says_what_to_write(tmp_path):
    written(tmp_path, "[tool.other]", name="pyproject.toml")
    with pytest.raises(UsageError, match=r"write a temp0\.toml"):
        find_settings(tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[check]\nn = 0", "check.n"),
        ("[check]\nn = true", "got `bool` - at `check.n`"),
        ("[check]\ncompany = [1, 0]", "check.company"),
        ("[check]\ncompany = []", "check.company"),
        ("[check]\ntolerate = 0.05", "check.tolerate is 0.05"),
        ("[check]\ntolerate = { rate = 5 }", "check.tolerate.rate"),
        ("[check]\ntolerate = { rat = 0.5 }", "unknown field `rat`"),
        ('[check]\nundecided = "maybe"', "check.undecided"),
        ("[check]\nprompts = []", "check.prompts"),
        ("[check]\nbaselin = 'x'", "unknown field `baselin` - at `check`"),
        ("[chek]\nn = 1", "unknown field `chek`"),
        ("check = 3", "check"),
        ("[check]\nendpoints = 3", "check.endpoints"),
        ('[[check.endpoints]]\nname = "a"\n[[check.endpoints]]\nname = "a"', "two endpoints are called 'a'"),
        ("[[check.endpoints]]\ntimeout_s = 0", "timeout_s"),
        ("[[check.endpoints]]\ntimeout_s = inf", "timeout_s"),
        ("[[check.endpoints]]\npatience_s = nan", "patience_s"),
        (
            '[[check.endpoints]]\nurl = "fake:"\nheaders = { Authorization = "Bearer x" }',
            r'Authorization = "\$VARIABLE"',
        ),
        ('[[check.endpoints]]\nurl = "fake:"\nheaders = { X-Api-Key = "x" }', "X-Api-Key may hold a secret"),
        ("[[check.endpoints]]\nurl = ''", "url"),
        ("[[check.endpoints]]\npatience_s = -1", "patience_s"),
        ('[[check.endpoints]]\nurl = "fake:"\narithmetic = "stock"', "endpoint-1 has a url, and arithmetic"),
        ('[[check.endpoints]]\nname = "x"\nmodel = "m"', "endpoint x has no url.*, and model"),
        ("[[check.endpoints]]\nheaders = { a = 1 }", "headers"),
        ('[check]\ncache = "hot"', "check.cache"),
        ("[check", "is not TOML"),
    ],
)
def test_what_cannot_be_right_is_refused_by_name(tmp_path, text, told):
    with pytest.raises(UsageError, match=told):
        check_settings(written(tmp_path, text))


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        check_settings(tmp_path / "none.toml")


def test_pytest_is_set_by_pyproject_where_temp0_toml_speaks_of_the_gate_alone(tmp_path):
    written(tmp_path, "[check]\nn = 3")
    written(tmp_path, "[tool.temp0.pytest]\nn = 5", name="pyproject.toml")
    assert pytest_settings(tmp_path) == {"n": 5}
    written(tmp_path, "[pytest]\nn = 7")
    assert pytest_settings(tmp_path) == {"n": 7}


def test_a_key_of_pytest_stands_in_no_file_either_and_a_variable_gives_it(tmp_path, monkeypatch):
    written(tmp_path, '[pytest]\nheaders = { Authorization = "Bearer x" }')
    with pytest.raises(UsageError, match="Authorization may hold a secret"):
        pytest_settings(tmp_path)
    written(tmp_path, '[pytest]\nheaders = { Authorization = "$PASS", X-Team = "red" }')
    monkeypatch.setenv("PASS", "Bearer x")
    headers = header_values(pytest_settings(tmp_path)["headers"], "pytest")
    assert headers == {"Authorization": "Bearer x", "X-Team": "red"}
    monkeypatch.delenv("PASS")
    with pytest.raises(UsageError, match="wants the variable PASS, which is not set"):
        header_values({"Authorization": "$PASS"}, "pytest")


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"m": 3}, "unknown field `m`"),
        ({"n": "x"}, "`n`"),
        ({"undecided": "maybe"}, "'maybe'"),
        ({"rate": 2}, "`rate`"),
    ],
)
def test_a_marker_is_held_against_the_same_settings(told, why):
    with pytest.raises(UsageError, match=f"@pytest.mark.temp0.*{why}"):
        marker_settings(told)
    assert marker_settings({"n": 3, "company": (1, 8)}) == {"n": 3, "company": (1, 8)}
    assert marker_settings({"company": 4}) == {"company": 4}


def test_the_page_of_the_gate_has_every_setting_and_what_it_shows_is_accepted(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "gate.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```toml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    settings = check_settings(written(tmp_path, shown))
    assert [endpoint.name for endpoint in settings.endpoints] == ["production"]
    named = {field.name for field in fields(CheckSettings)} - {"source", "tolerance"} | {"tolerate"}
    named |= set(EndpointSettings.__struct_fields__)
    assert {name for name in named if not re.search(rf"\b{name}\b", page)} == set()
