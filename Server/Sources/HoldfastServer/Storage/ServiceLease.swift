import Foundation
import ServiceLifecycle
import Synchronization

/// The right to do what one machine at a time does for a database that many serve from, such as telling people. A machine
/// that was killed or stopped has it for ``span`` at most, by the database's own time; then the first that asks gets it.
///
/// It keeps work from being done twice; nothing is decided by it. Who was stopped in the middle of something may finish that
/// one thing while its successor does it too.
final class ServiceLease: Service {
    private struct State {
        /// Until when this process surely has it; nil if it has not.
        var end: ContinuousClock.Instant?
        /// How often it was got by this process.
        var turn = 0
    }

    private let engine: any StorageEngine
    private let name: String
    private let holder: RandomID
    private let machine: String
    private let span: Duration
    private let state = Mutex(State())

    /// For how long it is had at a time.
    static let span: Duration = .seconds(40)
    /// How often it is asked for, also by whoever has it: after a machine was killed another one has it within a minute.
    private static let pause: Duration = .seconds(10)
    /// How much earlier than the database this process counts it as lost: what was begun before takes a while.
    private static let margin: Duration = .seconds(5)

    /// - Parameters:
    ///   - name: what is done.
    ///   - engine: the database.
    ///   - machine: what people call this machine.
    ///   - span: for how long it is had at a time.
    ///   - generator: makes the number of this process.
    init(
        _ name: String, in engine: any StorageEngine, machine: String, span: Duration = ServiceLease.span,
        using generator: inout some RandomNumberGenerator
    ) {
        self.name = name
        self.engine = engine
        self.machine = String(machine.prefix(255))
        self.span = span
        holder = RandomID(using: &generator)
    }

    /// Which time it is that this process has it; nil if it has not.
    var turn: Int? {
        state.withLock { state in state.end.map { $0 > .now } ?? false ? state.turn : nil }
    }

    /// Takes it, or takes it again, unless another process has it. Nobody has it for much longer than ``span``,
    /// whatever the table says: the database's clock was set back then, or somebody wrote to the table.
    /// - Throws: ``ServerError`` of the database; what this process has ends by itself then.
    func renew() async throws(ServerError) {
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

    /// Gives it back, for another machine to take at once.
    func release() async {
        guard state.withLock({ state in state.end.take() != nil }) else { return }
        let (name, holder) = (name, holder)
        _ = try? await engine.write { session throws(ServerError) in
            try session.run(
                "DELETE FROM service_lease WHERE name = $1 AND holder = $2", [.text(name), .bytes(holder.bytes)])
        }
    }

    /// Keeps it, or asks for it, until the task is canceled or asked to stop.
    func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                // The publishing loop says what is wrong with the database.
                try? await renew()
                try? await Task.sleep(for: Self.pause)
            }
        }
        await release()
    }
}
