"""Settings: what a file says is what is checked, and what cannot be right is refused by name."""

from __future__ import annotations

import pytest

from temp0.core.gate import Tolerance
from temp0.errors import UsageError
from temp0.workflow.settings import check_settings, find_settings, pytest_settings


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
