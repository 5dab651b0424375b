import Foundation
package import ServerFoundation
import ServiceLifecycle
import Synchronization

/// The right to do work that only one machine at a time does for a shared database, such as sending notifications. A
/// machine that was killed or stopped keeps it for at most ``span``, by the database's time; then the first that asks
/// gets it.
///
/// It avoids doing work twice, and no correctness depends on it: a machine that was suspended in the middle of
/// something may finish that while its successor does it too.
package final class ServiceLease: Service {
    private struct State {
        /// The time until which this process certainly has it; nil if it has not.
        var end: ContinuousClock.Instant?
        /// The number of times that this process has acquired it.
        var turn = 0
    }

    private let engine: any StorageEngine
    private let name: String
    private let holder: RandomID
    private let machine: String
    private let span: Duration
    private let state = Mutex(State())

    /// The duration of a lease.
    package static let span: Duration = .seconds(40)
    /// The interval of requests, also by the holder: after a machine was killed, another one has the lease within a
    /// minute.
    private static let pause: Duration = .seconds(10)
    /// The time by which this process considers it expired earlier than the database does: work in progress takes a
    /// while.
    private static let margin: Duration = .seconds(5)

    /// - Parameters:
    ///   - name: the name of the work.
    ///   - engine: the database.
    ///   - machine: the display name of this machine.
    ///   - span: the duration of a lease.
    ///   - generator: generates the id of this process.
    package init(
        _ name: String, in engine: any StorageEngine, machine: String, span: Duration = ServiceLease.span,
        using generator: inout some RandomNumberGenerator
    ) {
        self.name = name
        self.engine = engine
        self.machine = String(machine.prefix(255))
        self.span = span
        holder = RandomID(using: &generator)
    }

    /// The number of the current turn of this process; nil if it does not have the lease.
    package var turn: Int? {
        state.withLock { state in state.end.map { $0 > .now } ?? false ? state.turn : nil }
    }

    /// Acquires or renews the lease, unless another process has it. A lease in the table that lasts much longer than
    /// ``span`` is ignored: the database's clock was set back, or another program wrote to the table.
    /// - Throws: ``ServerError`` of the database; the lease of this process then expires.
    package func renew() async throws(ServerError) {
        let begin = ContinuousClock.now
        let (name, holder, machine, seconds) = (name, holder, machine, span.components.seconds)
        let isOurs = try await engine.write { session throws(ServerError) in
            try !session.run(
                """
                INSERT INTO service_lease (name, holder, machine, leased_until) VALUES ($1, $2, $3, {now} + $4) \
                ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, machine = excluded.machine, \
                leased_until = excluded.leased_until \
                WHERE service_lease.holder = excluded.holder OR service_lease.leased_until < {now} \
                OR service_lease.leased_until > {now} + $4 + $4 RETURNING name
                """, [.text(name), .bytes(holder.bytes), .text(machine), .integer(seconds)]
            ).isEmpty
        }
        state.withLock { state in
            guard isOurs else { return state.end = nil }
            if state.end.map({ $0 <= .now }) ?? true { state.turn += 1 }
            state.end = begin + span - Self.margin
        }
    }

    /// Releases it, so that another machine can acquire it at once.
    package func release() async {
        guard state.withLock({ state in state.end.take() != nil }) else { return }
        let (name, holder) = (name, holder)
        _ = try? await engine.write { session throws(ServerError) in
            try session.run(
                "DELETE FROM service_lease WHERE name = $1 AND holder = $2", [.text(name), .bytes(holder.bytes)])
        }
    }

    /// Keeps it, or requests it, until the task is canceled or asked to stop.
    package func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                // The publishing loop reports problems with the database.
                try? await renew()
                try? await Task.sleep(for: Self.pause)
            }
        }
        await release()
    }
}
