"""Find shortcuts in labeled text: columns, phrases and words that reveal the label without being evidence.

`rationalize.audit(data)` audits a data set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rationalize._rooms import open_room

if TYPE_CHECKING:
    from rationalize.audit.audit_config import AuditConfig as AuditConfig
    from rationalize.audit.audit_findings import LeaningColumn as LeaningColumn
    from rationalize.audit.audit_findings import LeaningValue as LeaningValue
    from rationalize.audit.audit_findings import LeaningWord as LeaningWord
    from rationalize.audit.audit_report import AuditView as AuditView
    from rationalize.audit.audit_report import write_audit as write_audit
    from rationalize.audit.audit_result import Audit as Audit
    from rationalize.audit.audit_result import Phrase as Phrase
    from rationalize.audit.whole_audit import audit_data as audit_data

_HOMES = {
    "Audit": "audit_result",
    "AuditConfig": "audit_config",
    "AuditView": "audit_report",
    "LeaningColumn": "audit_findings",
    "LeaningValue": "audit_findings",
    "LeaningWord": "audit_findings",
    "Phrase": "audit_result",
    "audit_data": "whole_audit",
    "write_audit": "audit_report",
}
__all__ = [
    "Audit",
    "AuditConfig",
    "AuditView",
    "LeaningColumn",
    "LeaningValue",
    "LeaningWord",
    "Phrase",
    "audit_data",
    "write_audit",
]
__getattr__ = open_room(__name__, _HOMES, verb="audit_data")
