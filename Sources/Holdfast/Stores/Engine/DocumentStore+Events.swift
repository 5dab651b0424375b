import Foundation
import Logging

extension DocumentStore: StoreDriver {
    var name: String { format.storeName }

    var currentState: StoreState {
        let snapshot = snapshot
        return format.state(of: snapshot.content, at: snapshot.trustedTime.time(clock: clock.now))
    }

    /// Tells the log and the observers, with no lock held.
    func tell(_ kind: StoreEvent.Happening) {
        log(kind)
        follow(kind)
        let event = StoreEvent(
            kind, store: name, url: format.documentURL, authority: format.authority, revision: revision)
        for observer in observers.all { observer(event) }
    }

    private func log(_ kind: StoreEvent.Happening) {
        switch kind {
        case .updateStarted(let kind): write(.debug, "an update begins", ["kind": kind.rawValue])
        case .updateFinished(let report):
            let next = report.nextUpdate
            guard let error = report.error else {
                return write(.debug, "an update has ended", ["next": next.formatted(.iso8601)])
            }
            write(
                .warning, error.code == .notStored ? "a document was not stored" : "an update failed",
                ["error": "\(error)", "next": next.formatted(.iso8601)])
        case .replaced(let entries, let issued):
            write(
                .info, "a new document is in use",
                [
                    "entries": "\(entries)", "issued": issued?.formatted(.iso8601) ?? "not stated",
                    "next": nextUpdate.formatted(.iso8601),
                ])
            if let caveat = format.caveat, state.withLock({ $0.hasSaidCaveat.setFirst() }) { write(.notice, caveat) }
        case .loaded: write(.info, "what was stored could be read, and is in use")
        case .issuedAheadOfClock(let lead):
            // Small differences between the clocks of two machines are normal.
            write(
                lead > Self.ordinaryDifference ? .warning : .info,
                "a document was issued after what the clock says; at most a day of that counts",
                ["seconds": "\(lead.inSeconds)"])
        case .signerExpired(let end):
            write(
                .warning, "the signer's certificate has ended; configure its successor",
                ["end": end.formatted(.iso8601)])
        case .unsignedDomainsConfigurationIgnored:
            write(.warning, "domainsConfig of a static list is not signed and not followed")
        case .usedInGrace(_, let age): logGrace(age)
        case .validated(let name, let result):
            write(.debug, "a certificate was validated", ["name": name.quoted, "result": result.rawValue])
        case .placeFound: break
        case .reset: write(.info, "the store was reset")
        }
    }

    /// Between two clocks.
    private static var ordinaryDifference: Duration { .seconds(300) }

    /// Once a document.
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

    /// Logs what an operator should look at.
    func write(
        _ level: Logger.Level, _ message: String, _ facts: @autoclosure () -> [String: String] = [:]
    ) {
        logger.log(
            level: level, "\(message)",
            metadata: facts().merging(["store": format.logName]) { $1 }.mapValues { .string($0) })
    }
}

extension Bool {
    /// Makes it true.
    /// - Returns: whether it was not.
    mutating func setFirst() -> Bool {
        defer { self = true }
        return !self
    }
}
