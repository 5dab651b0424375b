import struct Foundation.Date

extension DocumentStore {
    /// Whether an update is under way that a mismatch caused.
    package var isAnsweringMismatch: Bool { state.withLock { $0.followsMismatch } }

    /// Reports a host that was trusted by a document in its grace period, and starts an update if the decision requires
    /// one or one is due.
    func tell(_ decision: TrustDecision) {
        if decision.isTrusted, let host = decision.host {
            for age in decision.findings.compactMap(\.age) {
                tell(StoreEvent(.usedInGrace, span: age, name: host.name))
            }
        }
        updateIfAsked(by: decision.findings)
        updateIfDue()
    }

    /// Starts the update that findings of a decision require.
    ///
    /// A newer document may resolve a mismatch or have pins for a host without usable ones. Only one such update runs
    /// at a time, and the next waits for its interval and the back-off. A valid document that does not cover the host
    /// is no reason for an early update, and a mismatch in report mode, which may last for months, starts one update
    /// per document.
    package func updateIfAsked(by findings: [PinFinding]) {
        for finding in findings {
            switch (finding.kind, finding.absence, finding.enforcement) {
            case (.mismatch, _, .reportOnly): updateAfterReport()
            case (.noPins, .notCovered, _), (.pastTheirTime, _, _): updateIfDue()
            case (.mismatch, _, _), (.noPins, _, _): updateAfterMismatch()
            default: break
            }
        }
    }

    private func updateAfterReport() {
        let isFirst = state.withLock { state in
            defer { state.reportedRevision = state.revision }
            return state.reportedRevision != state.revision
        }
        if isFirst { updateAfterMismatch() }
    }
}
