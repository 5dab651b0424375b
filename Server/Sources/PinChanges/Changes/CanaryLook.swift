package import ServerFoundation
import ServerModel
import ServerStore

/// The results of clients with a canary's documents in one probe of the hosts.
package struct CanaryLook: Sendable, Hashable {
    /// The refused clients: the client, the host with its address, and the reason.
    package private(set) var refusals: [String] = []
    /// Unknown results, such as those of a host that was not seen within the hour. They hold a change only while they
    /// last, and never pass one.
    package private(set) var unknown: [String] = []

    package init(refusals: [String] = [], unknown: [String] = []) {
        self.refusals = refusals
        self.unknown = unknown
    }

    /// Maximum number and length of the sentences: they must fit into an entry of the audit.
    private static let (maximumCount, maximumLength) = (16, 480)

    /// Whether every client could connect.
    package var isGood: Bool { refusals.isEmpty && unknown.isEmpty }

    package mutating func refuse(_ words: String) { Self.add(words, to: &refusals) }

    package mutating func leaveOpen(_ words: String) { Self.add(words, to: &unknown) }

    private static func add(_ words: String, to list: inout [String]) {
        guard list.count < maximumCount else { return }
        // The text contains certificate fields chosen by the server: limit their length and remove line feeds.
        let scalars = words.unicodeScalars.prefix(maximumLength).map { $0 == "\n" ? " " : $0 }
        let line = String(String.UnicodeScalarView(scalars))
        if !list.contains(where: { $0.utf8.elementsEqual(line.utf8) }) { list.append(line) }
    }
}

extension Catalog {
    /// The number of seconds after which a good result is recorded again, so that the whole time is covered.
    private static let repetition: Int64 = 2_700

    /// Records the results of clients with the canary's documents in the audit, if they are new: the first time, after
    /// a change, and every three quarters of an hour.
    /// - Parameter isDeciding: whether to record them in any case, because a change is about to be published.
    package func note(
        _ look: CanaryLook, of change: RandomID, _ app: AppName, isDeciding: Bool = false
    ) async throws(ServerError) {
        // An unknown result says nothing about any client.
        guard look.isGood || !look.refusals.isEmpty else { return }
        guard Self.isNews(look, ledger.canaries[app], at: try await now(), isDeciding) else { return }
        try await transact { step throws(ServerError) in
            let canary = step.ledger.canaries[app]
            guard canary?.change == change, Self.isNews(look, canary, at: step.now, isDeciding) else { return }
            var facts = ["app": "\(app)", "change": "\(change)"]
            if !look.refusals.isEmpty { facts["refusals"] = look.refusals.joined(separator: CanaryProbes.separator) }
            try step.record(.probed, by: "server", facts)
        }
    }

    private static func isNews(
        _ look: CanaryLook, _ canary: Ledger.Canary?, at now: Int64, _ isDeciding: Bool
    ) -> Bool {
        guard let known = canary?.probes else { return false }
        guard look.refusals.isEmpty else {
            return !known.refusals.elementsEqual(look.refusals) { $0.utf8.elementsEqual($1.utf8) }
        }
        guard let latest = known.latest else { return true }
        return now - latest >= (isDeciding ? 1 : repetition)
    }
}
