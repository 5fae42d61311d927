"""The newest record of each audit file is noted in the store, on both stores."""

from pathlib import Path

import pytest

from toolmd._call.audit.log import AuditLog
from toolmd._call.audit.reader import AuditReader, Verified
from toolmd._store.store import Store
from toolmd._types.settings import Settings


def test_records_of_several_writers_agree_with_the_store(
    tmp_path: Path, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    settings = Settings(root=tmp_path, state=tmp_path, store=place)
    for number in range(3):
        store = Store(place, tmp_path)
        log = AuditLog(tmp_path / "audit", lambda store=store: store.audit_heads)
        log.open()
        assert log.append(f'{{"at":"","n":{number}}}')
        log.close()
        store.close()

    assert "does not agree" not in caplog.text
    assert len(list((tmp_path / "audit").glob("*.jsonl"))) == 1
    assert AuditReader(settings).verify() == Verified(3)
    (file,) = (tmp_path / "audit").glob("*.jsonl")
    file.unlink()
    assert not AuditReader(settings).verify().sound
