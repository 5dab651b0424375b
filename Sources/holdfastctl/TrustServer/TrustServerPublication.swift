import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// One round of a trust server, as the command runs it: it probes the hosts concurrently, and publishes their answers
/// while it holds the lock of the files.
struct TrustServerPublication: Sendable {
    typealias Report = TrustServerPublisher.Report

    let customer: String
    let key: TrustServerKey
    let files: TrustServerFiles
    /// The list of hosts. If it cannot be read, the hosts of the last round are probed.
    let hosts: Result<[DialedHost], CommandFailure>
    /// The backups. If they cannot be read, those of the last round are published.
    let backups: Result<TrustServerBackups, CommandFailure>
    /// The information about clients. If it cannot be read, it is unknown whether they can connect.
    let clients: Result<RoundClients, CommandFailure>
    /// The rules for every round; the backups are added later.
    let rules: PublishingRound.Rules
    let hostsAtOnce: Int
    let clock: any WallClock
    let gate: StopGate
    /// Reports problems that do not end the round.
    var complain: @Sendable (String) -> Void = { Output.standard.complain($0) }
    /// Probes one host, in bounded time.
    let ask: @Sendable (DialedHost) async -> PublishingRound.Answer

    private var publisher: TrustServerPublisher {
        TrustServerPublisher(
            customer: customer, key: key, storage: files, rules: rules, clock: clock, gate: gate, complain: complain)
    }

    func run() async throws(CommandFailure) -> Report {
        let (ask, publisher) = (ask, publisher)
        let answers = await SideBySide.map(
            try await hostsToAsk(publisher), atMost: hostsAtOnce
        ) { (host: $0, answer: await ask($0)) }
        let now = clock.now
        // Results of another command in the meantime must not be lost. So the memory is locked from reading to writing.
        let lock = try ChangeLock.on(files.memory, for: files.memory.path)
        defer { withExtendedLifetime(lock) {} }
        if case .failure(let error) = backups {
            complain(error.message)
            complain("the backups of the last round are published")
        }
        if case .failure(let error) = clients {
            complain(error.message)
            complain("whether clients get in is unknown")
        }
        do throws(PublishingError) {
            return try await publisher.publish(
                answers, backups: try? backups.get(), of: (try? clients.get()) ?? RoundClients(),
                isImpaired: hosts.isFailure || backups.isFailure || clients.isFailure, at: now)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Signs the published document again with the current time, and probes no host.
    func resign() async throws(CommandFailure) -> Report {
        let now = clock.now
        let lock = try ChangeLock.on(files.memory, for: files.memory.path)
        defer { withExtendedLifetime(lock) {} }
        do throws(PublishingError) {
            return try await publisher.resign(at: now)
        } catch {
            throw CommandFailure(error)
        }
    }

    private func hostsToAsk(_ publisher: TrustServerPublisher) async throws(CommandFailure) -> [DialedHost] {
        guard case .failure(let error) = hosts else { return try hosts.get() }
        let known = await publisher.rememberedHosts()
        guard !known.isEmpty else { throw error }
        complain(error.message)
        complain("the hosts of the last round are asked")
        return known
    }
}

extension TrustServerPublisher.Report {
    /// The exit code; nil if all is well. Untrusted or unsigned results outweigh unknown ones.
    var status: CommandFailure.Status? {
        isNegative ? .negativeAnswer : isIncomplete ? .couldNotFindOut : ending.isEmpty ? nil : .endsSoon
    }
}

extension Result {
    fileprivate var isFailure: Bool {
        if case .failure = self { true } else { false }
    }
}
