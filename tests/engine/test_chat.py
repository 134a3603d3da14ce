from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from temp0.core.plan import Message
from temp0.engine.chat import ChatTemplate
from temp0.errors import ModelError, RequestError

RECORD: dict[str, Any] = json.loads((Path(__file__).parents[1] / "fixtures" / "tokenizer" / "chat.json").read_text())
CASES = [(template["source"], case) for template in RECORD["templates"] for case in template["conversations"]]


def said(*turns: tuple[str, str]) -> list[Message]:
    return [Message(role=role, content=content) for role, content in turns]


HI = said(("user", "hi"))


@pytest.mark.parametrize(("source", "case"), CASES)
def test_a_conversation_is_rendered_as_llama_cpp_renders_it(source: str, case: dict[str, Any]) -> None:
    messages = [Message(**message) for message in case["messages"]]
    assert ChatTemplate(source).render(messages) == case["prompt"]


@pytest.mark.parametrize("begun", ["One,", " One", "", "  \n", "a<|im_end|>b"])
def test_a_begun_answer_stands_in_smollm2s_prompt_as_it_stands_in_a_whole_conversation(begun: str) -> None:
    smollm2 = ChatTemplate(RECORD["templates"][0]["source"])
    turns = said(("user", "Count."), ("assistant", begun))
    assert smollm2.begun(turns) + "<|im_end|>\n" == smollm2.render(turns, opens_answer=False)


def test_a_begun_answer_stays_as_it_is_where_a_template_trims_what_has_ended() -> None:
    template = ChatTemplate(
        "{% for m in messages %}<{{ m.content | trim }}>{% endfor %}{% if add_generation_prompt %}<{% endif %}"
    )
    turns = said(("user", "Count. "), ("assistant", " One "))
    assert template.begun(turns) == "<Count.>< One "


def test_a_text_that_stands_in_the_prompt_too_is_not_taken_for_the_beginning() -> None:
    template = ChatTemplate(
        "{% for m in messages %}<{{ m.content }}>{% endfor %}{% if add_generation_prompt %}<{% endif %}"
    )
    assert template.begun(said(("user", "One"), ("assistant", "One"))) == "<One><One"


def test_the_date_is_the_same_on_every_day() -> None:
    assert ChatTemplate("{{ strftime_now('%d %b %Y') }}").render(HI) == "26 Jul 2024"


def test_the_models_own_tokens_are_passed() -> None:
    template = ChatTemplate(
        "{{ bos_token }}{{ messages[0]['content'] }}{{ eos_token }}", bos_token="<s>", eos_token="</s>"
    )
    assert template.render(HI) == "<s>hi</s>"


def test_what_the_template_refuses_is_a_refused_request() -> None:
    template = ChatTemplate("{{ raise_exception('roles must alternate') }}")
    with pytest.raises(RequestError, match="refuses these messages: roles must alternate"):
        template.render(HI)


@pytest.mark.parametrize(
    "source",
    ["{{ 1 / 0 }}", "{{ messages[7].content }}", "{{ 'a' + 1 }}", "{{ missing.attribute }}", "{{ [1]['x'].y }}"],
)
def test_a_template_that_breaks_is_a_refused_request(source: str) -> None:
    with pytest.raises(RequestError, match="refuses these messages"):
        ChatTemplate(source).render(HI)


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages.append(1) }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ raise_exception.__globals__['json'] }}",
        "{{ range(10000000) | list }}",
    ],
)
def test_a_template_cannot_leave_the_sandbox(source: str) -> None:
    with pytest.raises(RequestError):
        ChatTemplate(source).render(HI)


def test_a_template_that_is_not_jinja_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="not valid jinja2"):
        ChatTemplate("{% for %}")


def test_a_model_without_a_template_says_what_to_send_instead() -> None:
    with pytest.raises(RequestError, match="no chat template: send a plain prompt"):
        ChatTemplate(None).render(HI)
