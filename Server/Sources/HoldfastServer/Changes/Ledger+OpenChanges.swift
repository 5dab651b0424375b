import HoldfastPublishing

extension Ledger.Proposal {
    /// Whether it skips the canary, so that everybody gets it at once.
    var isEmergency: Bool {
        forced.utf8.split(separator: UInt8(ascii: ",")).contains { $0.elementsEqual(Gate.canary.rawValue.utf8) }
    }
}

extension Ledger {
    /// The changes that people can still publish, the oldest first.
    /// - Parameter now: seconds since 1970.
    func openChanges(at now: Int64) -> [(change: RandomID, proposal: Proposal)] {
        proposals.filter { change, proposal in
            ended[change] == nil && proposal.baseGeneration == generation(of: proposal.app)
                && (now <= PublicationTiming.changeEnd(of: proposal.time) || canaries[proposal.app]?.change == change)
        }
        .map { (change: $0.key, proposal: $0.value) }
        .sorted { ($0.proposal.time, "\($0.change)") < ($1.proposal.time, "\($1.change)") }
    }
}
