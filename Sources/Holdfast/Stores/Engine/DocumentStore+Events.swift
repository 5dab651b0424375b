import Foundation
import Logging

extension DocumentStore: StoreDriver {
    var name: String { format.storeName }

    var currentState: StoreState {
        let snapshot = snapshot
        return format.state(of: snapshot.content, at: snapshot.trustedTime.time(clock: clock.now))
    }

    /// Notifies the log and the observers, with no lock held.
    func tell(_ happening: StoreEvent) {
        log(happening)
        follow(happening)
        let observers = observers.all
        guard !observers.isEmpty else { return }
        var event = happening
        (event.store, event.url, event.authority, event.revision) = (
            name, format.documentURL, format.authority, revision
        )
        for observer in observers { observer(event) }
    }

    private func log(_ event: StoreEvent) {
        let date = event.date?.formatted(.iso8601) ?? "not stated"
        switch event.kind {
        case .validated:
            write(
                .debug, "a certificate was validated",
                ["name": (event.name ?? "").quoted, "result": event.result?.rawValue ?? ""])
        case .updateStarted: write(.debug, "an update begins", ["kind": event.updateKind?.rawValue ?? ""])
        case .updateFinished: log(event.report)
        case .replaced:
            write(
                .info, "a new document is in use",
                ["entries": "\(event.entries ?? 0)", "issued": date, "next": nextUpdate.formatted(.iso8601)])
            if let caveat = format.caveat, state.withLock({ $0.hasSaidCaveat.setFirst() }) { write(.notice, caveat) }
        case .loaded: write(.info, "what was stored could be read, and is in use")
        case .issuedAheadOfClock:
            let lead = event.span ?? .zero
            // Small differences between the clocks of two machines are normal.
            write(
                lead > Self.ordinaryDifference ? .warning : .info,
                "a document was issued after what the clock says; at most a day of that counts",
                ["seconds": "\(lead.inSeconds)"])
        case .signerExpired:
            write(.warning, "the signer's certificate has ended; configure its successor", ["end": date])
        case .unsignedDomainsConfigurationIgnored:
            write(.warning, "domainsConfig of a static list is not signed and not followed")
        case .usedInGrace: logGrace(event.span ?? .zero)
        case .reset: write(.info, "the store was reset")
        default: break
        }
    }

    private func log(_ report: StoreUpdateReport?) {
        guard let report else { return }
        let next = report.nextUpdate.formatted(.iso8601)
        guard let error = report.error else { return write(.debug, "an update has ended", ["next": next]) }
        write(
            .warning, error.code == .notStored ? "a document was not stored" : "an update failed",
            ["error": "\(error)", "next": next])
    }

    /// A normal difference between two clocks.
    private static var ordinaryDifference: Duration { .seconds(300) }

    /// Logs the use of a document in its grace period, once for each document.
    private func logGrace(_ age: Duration) {
        let issued = snapshot.content.flatMap(format.issueTime)
        let isFirst = state.withLock { state in
            defer { state.loggedGrace = issued }
            return state.loggedGrace != issued || issued == nil
        }
        guard isFirst else { return }
        write(
            .warning, "a document is past its time and still counts",
            ["age": "\(age)", "lastUpdate": lastUpdate?.error?.description ?? "none"])
    }

    /// Logs a fact for operators.
    func write(_ level: Logger.Level, _ message: String, _ facts: @autoclosure () -> [String: String] = [:]) {
        logger.log(
            level: level, "\(message)",
            metadata: facts().merging(["store": format.logName]) { $1 }.mapValues { .string($0) })
    }
}
