import Holdfast
import HoldfastPublishing
import NIOSSL

/// Asks a host at every address of its name, because in a fleet, and while certificates are being renewed, each address
/// may show another certificate.
struct ServerSurvey: Sendable {
    /// The most addresses of a host that are asked.
    static let maximumAddresses = 64
    private static let addressesAtOnce = 8

    let probe: ServerProbe
    let resolver: AddressResolver
    /// How many connections are made to each address.
    let tries: Int
    /// How long each of them may take.
    let limit: Duration

    /// Asks a host, in bounded time.
    func ask(_ host: DialedHost) async -> PublishingRound.Answer {
        var places: [DialedHost?]
        do throws(CommandFailure) {
            places = try await ServerPlaces(probe: probe, resolver: resolver).places(of: host)
        } catch {
            return .unreachable(error.message)
        }
        let count = places.count
        places = Array(places.prefix(Self.maximumAddresses))
        let answers = await SideBySide.map(places, atMost: Self.addressesAtOnce) { await ask(host, at: $0) }
        var problems = answers.flatMap(\.problems)
        if count > places.count {
            problems.append(.init("of its \(count) addresses \(places.count) were asked", .unreachable))
        }
        return PublishingRound.Answer(paths: answers.flatMap(\.paths), problems: problems)
    }

    private enum Outcome: Sendable {
        case trusted(ValidatedPath)
        case untrusted(String)
        case failed(CommandFailure)
    }

    private func ask(_ host: DialedHost, at place: DialedHost?) async -> PublishingRound.Answer {
        var paths: [ValidatedPath] = []
        var untrusted: String?
        var failure: CommandFailure?
        for attempt in 0..<tries {
            // Many servers have a certificate for each kind of key, and show the one that suits the client.
            let other = attempt % 2 == 1 ? paths.last?.leaf.map(ServerPlaces.algorithmsOfOtherKind) : nil
            switch await connect(to: host, at: place, offering: other) {
            case .trusted(let path): paths.append(path)
            case .untrusted(let reason): untrusted = reason
            // It is fine if a server has only one kind of key.
            case .failed(let error): if other == nil { failure = error }
            }
        }
        let address = place.flatMap { $0 == host ? nil : "\($0.name): " } ?? ""
        if let untrusted { return .init(paths: paths, problems: [.init(address + untrusted, .untrusted)]) }
        guard paths.isEmpty, let failure else { return .init(paths: paths, problems: []) }
        return .init(paths: [], problems: [.init(failure.message, failure.isUnroutable ? .unroutable : .unreachable)])
    }

    private func connect(
        to host: DialedHost, at place: DialedHost?, offering algorithms: [SignatureAlgorithm]?
    ) async -> Outcome {
        let probe = probe.connecting(to: place, offering: algorithms)
        let name = place.map { $0.name + " gave " } ?? ""
        let late = CommandFailure(.timedOut, "\(name)no answer within \(limit.components.seconds) s")
        let answer = Task { () async -> Outcome in
            do throws(CommandFailure) {
                let decision = try await probe.ask(StandardPolicy(host: HostPattern(host)), about: host).decision
                if decision.isTrusted, let path = decision.path { return .trusted(path) }
                guard let failure = decision.failure else { return .untrusted("no validated path") }
                return .untrusted("\(failure.code.rawValue): expected \(failure.expected), found \(failure.found)")
            } catch {
                return .failed(error)
            }
        }
        return await TimeLimit.value(of: answer, within: limit) ?? .failed(late)
    }
}
