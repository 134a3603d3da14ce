"""Certificates that the environment names: used in the place of the system's, or said to be of no use."""

from pathlib import Path

import pytest

from temp0.errors import EndpointError
from temp0.probe.trust import FILES, trust


@pytest.mark.parametrize("name", [*FILES, "SSL_CERT_DIR"])
def test_a_place_that_is_not_there_is_named_with_its_variable(name: str, tmp_path: Path) -> None:
    with pytest.raises(EndpointError, match=rf"{name} names .*gone.pem, which is not there"):
        trust({name: str(tmp_path / "gone.pem")})


def test_a_file_without_a_certificate_is_refused(tmp_path: Path) -> None:
    (tmp_path / "no.pem").write_text("hello")
    with pytest.raises(EndpointError, match="holds no certificate"):
        trust({"CURL_CA_BUNDLE": str(tmp_path / "no.pem")})


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EndpointError, match="is empty"):
        trust({"SSL_CERT_DIR": str(tmp_path)})


def test_an_empty_variable_names_nothing() -> None:
    assert trust({"SSL_CERT_FILE": ""}).verify_mode.name == "CERT_REQUIRED"
