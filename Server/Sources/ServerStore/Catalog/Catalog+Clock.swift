package import ServerFoundation
import ServerModel

extension Catalog {
    /// Maximum difference in seconds between the clock of a machine and its database. It bounds how far in the future
    /// of another machine a signature can be dated.
    private static let tolerance: Int64 = 60

    /// The number of seconds that the clock may be behind the last signature, which other machines date by the
    /// database's clock.
    private var lag: Int64 { engine.isOfOneMachine ? 0 : Self.tolerance }

    /// Compares the clock with that of a database of many machines.
    package func compareClocks(_ session: any StorageSession) throws(ServerError) {
        guard !engine.isOfOneMachine else { return }
        time.compare(try session.now(), within: Self.tolerance)
    }

    /// Requires the database's time in a transaction that writes.
    package func requireTime(_ now: Int64, after signed: Int64) throws(ServerError) {
        guard engine.isOfOneMachine else {
            time.compare(now, within: Self.tolerance)
            return try time.require(now, after: signed, within: Self.tolerance, lag: lag)
        }
        try time.require(now, after: signed)
    }

    /// The time at which responses may be signed, in seconds since 1970; nil while the clock is not trusted.
    package var signingTime: Int64? { try? time.now(after: ledger.latestTime - lag) }

    /// The reason why nothing may be signed or evaluated; nil if it may.
    package var clockProblem: ServerError? {
        do throws(ServerError) {
            _ = try time.now(after: ledger.latestTime - lag)
            return nil
        } catch {
            return error
        }
    }

    /// The result of confirming the clock.
    package struct Resumption: Sendable, Hashable {
        /// The problem that kept the clock from being trusted.
        let problem: ServerError
        /// The last signing time before, in seconds since 1970.
        package let signed: Int64
        /// The time from which the server continues, in seconds since 1970.
        package let now: Int64
        /// The changes whose proposal time is in the future by the confirmed clock; they have lapsed.
        package let lapsed: [RandomID]
    }

    /// Confirms the clock: from now on its time is trusted, no matter what was signed before. The audit records it, and
    /// running servers follow. State dated in the future by that clock ends: open changes, sightings, and the wait
    /// until the next probe of a host.
    /// - Parameter actor: the person who confirms it, for the audit.
    /// - Returns: nil if the clock was trusted anyway and nothing is written.
    /// - Throws: ``ServerError``.
    package func resumeClock(by actor: String) async throws(ServerError) -> Resumption? {
        // A person cannot confirm a clock that differs from that of all other machines.
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

    /// Saves the trusted time, unless another process is writing at the moment.
    /// - Throws: ``ServerError`` `file`.
    package func noteTime() throws(ServerError) {
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
