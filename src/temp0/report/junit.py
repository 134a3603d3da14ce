"""An analysis as JUnit XML, one test case for each prompt: passed, failed, or neither.

What agreed passes, what diverged fails. What is undecided is an error where nothing came back, since an outage is never
a pass, and else skipped with its reason: a reader of the file can tell the four apart by `type`.
"""

from __future__ import annotations

from xml.etree import ElementTree

from temp0.core.analysis import Analysis, PromptAnalysis, Verdict
from temp0.report.answer import completions
from temp0.report.figure import some
from temp0.report.headline import headline, tested_pairs
from temp0.report.panel import panel
from temp0.report.screen import rendered
from temp0.report.visible import beginning, visible

_WIDTH = 100


def junit(analysis: Analysis) -> str:
    """The XML document; times are left out, since a prompt's attempts run among those of all others."""
    cases = [_case(analysis, prompt) for prompt in analysis.prompts]
    tags = [child.tag for case in cases for child in case]
    suite = ElementTree.Element(
        "testsuite",
        name="temp0",
        tests=str(len(cases)),
        failures=str(tags.count("failure")),
        errors=str(tags.count("error")),
        skipped=str(tags.count("skipped")),
        timestamp=visible(analysis.created),
    )
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(analysis):
        ElementTree.SubElement(properties, "property", name=name, value=visible(value))
    suite.extend(cases)
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=True) + "\n"


def _properties(analysis: Analysis) -> tuple[tuple[str, str], ...]:
    return (
        ("run", analysis.run),
        ("verdict", analysis.verdict),
        ("headline", headline(analysis).sentence),
        ("url", analysis.address.url),
        ("api", analysis.address.api),
        ("model", analysis.address.model),
        ("seed", str(analysis.seed)),
        ("requests", str(analysis.requests)),
        *(("cause", f"{cause.cause} ({cause.certainty})") for cause in analysis.causes),
    )


def _case(analysis: Analysis, prompt: PromptAnalysis) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname="temp0", name=beginning(prompt.id, 80))
    if prompt.verdict is Verdict.AGREED:
        return case
    told = "".join(rendered(part, width=_WIDTH) for part in panel(prompt, tested_pairs(analysis.prompts)))
    if not completions(prompt):
        tag, kind, words = "error", "not-measured", _problem(prompt)
    elif prompt.verdict is Verdict.DIVERGED:
        tag, kind, words = "failure", "diverged", f"{some(prompt.distinct.text, 'different text')}"
    else:
        tag, kind, words = "skipped", "undecided", "undecided: nothing unlike was seen, and too little to agree"
    child = ElementTree.SubElement(case, tag, type=kind, message=words)
    child.text = told
    return case


def _problem(prompt: PromptAnalysis) -> str:
    tallies = [tally for one in prompt.conditions for tally in (*one.failures, *one.excluded)]
    return f"{visible(tallies[0].reason)}: {visible(tallies[0].message)}" if tallies else "nothing was asked"
