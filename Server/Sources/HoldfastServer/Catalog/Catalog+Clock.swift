extension Catalog {
    /// In seconds: how far the clocks of machines may be from their database's, so that what one of them signs is never of
    /// a time that has not come for another.
    private static let tolerance: Int64 = 60

    /// For how many seconds the clock may be behind what others have signed, which they did by the database's.
    private var lag: Int64 { engine.isOfOneMachine ? 0 : Self.tolerance }

    /// Compares the clock with that of a database of many machines.
    func compareClocks(_ session: any StorageSession) throws(ServerError) {
        guard !engine.isOfOneMachine else { return }
        time.compare(try session.now(), within: Self.tolerance)
    }

    /// Requires the database's time in a transaction that writes.
    func requireTime(_ now: Int64, after signed: Int64) throws(ServerError) {
        guard engine.isOfOneMachine else {
            time.compare(now, within: Self.tolerance)
            return try time.require(now, after: signed, within: Self.tolerance, lag: lag)
        }
        try time.require(now, after: signed)
    }

    /// The time at which answers may be signed, in seconds since 1970; nil while the clock cannot be believed.
    public var signingTime: Int64? { try? time.now(after: ledger.latestTime - lag) }

    /// Why nothing may be signed or judged; nil if it may.
    public var clockProblem: ServerError? {
        do throws(ServerError) {
            _ = try time.now(after: ledger.latestTime - lag)
            return nil
        } catch {
            return error
        }
    }

    /// What vouching for the clock led to.
    public struct Resumption: Sendable, Hashable {
        /// What could not be believed before.
        public let problem: ServerError
        /// The last time that was signed before, in seconds since 1970.
        public let signed: Int64
        /// The time from which on the server goes on, in seconds since 1970.
        public let now: Int64
        /// The changes that were proposed at a time which is still to come; they have lapsed.
        public let lapsed: [RandomID]
    }

    /// A person says that the clock is right: from now on its time counts, whatever was signed before. The audit has it,
    /// and servers that run follow. What is still to come by that clock and was believed already ends: open changes,
    /// sightings, and the time until a host is looked at again.
    /// - Parameter actor: who says it, for the audit.
    /// - Returns: nil if the clock was believed anyway, when nothing is written.
    /// - Throws: ``ServerError``.
    public func resumeClock(by actor: String) async throws(ServerError) -> Resumption? {
        // Nobody vouches for a clock against that of all other machines.
        if let apart = time.apart { throw apart }
        guard let problem = clockProblem else { return nil }
        return try await transact(vouchingForClock: true) { step throws(ServerError) in
            let before = step.ledger
            try step.record(
                .resumed, by: actor, ["what": "clock", "signed": ClockGuard.text(before.latestTime)])
            let now: [StorageValue] = [.integer(step.now)]
            for query: Query in [
                "UPDATE host SET next_poll_at = $1, lease_token = NULL, leased_until = NULL",
                "UPDATE place SET held_until = $1 WHERE held_until > $1",
                "UPDATE place SET due_at = $1 WHERE due_at > $1",
                "DELETE FROM observation WHERE last_seen_at > $1",
            ] {
                try step.session.run(query, now)
            }
            try Self.dropUnnamedChains(step.session)
            let lapsed = step.ledger.ended.keys.filter { before.ended[$0] == nil }
            return Resumption(
                problem: problem, signed: before.latestTime, now: step.now,
                lapsed: lapsed.sorted { "\($0)" < "\($1)" })
        }
    }

    /// Keeps what is believed of the clock, unless another process writes right now.
    /// - Throws: ``ServerError`` `file`.
    func noteTime() throws(ServerError) {
        guard clockProblem == nil else { return }
        do throws(ServerError) {
            let lock = try head.lockAtOnce()
            defer { withExtendedLifetime(lock) {} }
            try time.note()
        } catch {
            guard error.code == .folderInUse else { throw error }
        }
    }
}
