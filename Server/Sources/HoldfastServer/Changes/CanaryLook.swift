/// What clients with a canary's documents met in one look at the hosts.
struct CanaryLook: Sendable, Hashable {
    /// Who was refused where, and why: the client, the host with its address, and the reason.
    private(set) var refusals: [String] = []
    /// What nobody could find out, such as a host that nobody has seen within the hour. It holds nothing up for longer than
    /// it lasts, and lets nothing pass.
    private(set) var unknown: [String] = []

    /// More than anybody reads, and less than an entry of the audit has room for.
    private static let (maximumCount, maximumLength) = (16, 480)

    /// Whether every client got in.
    var isGood: Bool { refusals.isEmpty && unknown.isEmpty }

    mutating func refuse(_ words: String) { Self.add(words, to: &refusals) }

    mutating func leaveOpen(_ words: String) { Self.add(words, to: &unknown) }

    private static func add(_ words: String, to list: inout [String]) {
        guard list.count < maximumCount else { return }
        // What a certificate says of itself is in them: as long as it likes, in any script.
        let scalars = words.unicodeScalars.prefix(maximumLength).map { $0 == "\n" ? " " : $0 }
        let line = String(String.UnicodeScalarView(scalars))
        if !list.contains(where: { $0.utf8.elementsEqual(line.utf8) }) { list.append(line) }
    }
}

extension Catalog {
    /// How long clients get in before that is said once more, in seconds: often enough for all of the time to count.
    private static let repetition: Int64 = 2_700

    /// Says in the audit how clients with the canary's documents fared, where that is news: the first time, when it is other
    /// than before, and every three quarters of an hour.
    /// - Parameter isDeciding: whether it is said in any case, because a change is about to be published.
    func note(
        _ look: CanaryLook, of change: RandomID, _ app: AppName, isDeciding: Bool = false
    ) async throws(ServerError) {
        // What is unknown is no news about any client.
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
