public import Holdfast
public import NIOCore
import NIOPosix
import NIOSSL

/// Probes hosts: at every address of a name, of both families, and for every kind of key, because each address may
/// present another certificate in a fleet and during a renewal of certificates.
///
/// ```swift
/// let probe = HostProbe(validator: PathValidator(anchors: try await TrustAnchors.system()))
/// let findings = await probe.ask(try DialedHost("www.example.com"), policy: policy)
/// for sighting in findings.sightings { print(sighting.address, sighting.result) }
/// ```
///
/// A probe is a value that specifies what to probe, and how. It resolves a name once, and dials the addresses that were
/// found. It sends nothing except the handshake. A probe never fails as a whole: the result includes what could not be
/// found out.
public struct HostProbe: Sendable {
    /// Validates the chains that servers present.
    public var validator: any ChainValidator
    /// Provides the time of each decision.
    public var clock: any WallClock = SystemWallClock()
    /// The maximum duration of each part.
    public var deadlines = ProbeDeadlines()
    /// Finds the addresses of names.
    public var resolver = AddressResolver.system
    /// The host or address to connect to instead of the host, with a port if it differs. The server is still evaluated
    /// for the host.
    public var connectTo: DialedHost?
    /// The only addresses to probe; empty for all addresses of the name.
    public var addresses: [IPAddress] = []
    /// The address families to probe. The given ``addresses`` are probed in any case.
    public var families: Set<IPAddress.Family> = [.ipv4, .ipv6]
    /// Decides which addresses may be probed; nil for all. Set it if strangers name the hosts. It does not apply to
    /// proxies, which strangers cannot name: the request to a proxy contains an address that passed, not a name.
    public var filter: AddressFilter?
    /// The proxies that forward connections.
    public var proxies = ProxySettings.none
    /// The certificate for servers that request a client certificate.
    public var clientCertificate: ClientCertificate?
    /// The number of connections to each address, at least one. Every second connection requests the other kind of key.
    /// More than two connections find out more about several servers behind one address.
    public var connectionsPerAddress = 2
    /// Whether to request the other kind of key. Only an alert, such as handshake_failure, proves that a server has no
    /// such key. A server that only closes the connection gives a failure with the code `otherKeyUnknown`. Set this to
    /// false for servers that are known to have one kind of key and to close such connections.
    public var asksForOtherKeys = true
    /// Maximum size of all certificates that one handshake presents, in bytes. A larger chain is a failure with the
    /// code `chainTooLarge`, and is discarded at once. Nil, the default, sets no limit except those of TLS and of
    /// ``validator``.
    public var maximumChainBytes: Int?
    /// The number of addresses of a host that are probed at the same time.
    public var addressesAtOnce = 8
    /// The threads for connections; by default those of `MultiThreadedEventLoopGroup.singleton`. A program that serves
    /// clients on these threads should give its probes others, so that no probed host delays its clients.
    public var eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton

    /// Maximum number of addresses of a host that are probed. For the others, a result states that they were not
    /// probed.
    public static let maximumAddresses = 64

    /// Makes a probe that connects directly to every address of a name.
    public init(validator: any ChainValidator) {
        self.validator = validator
    }

    /// Makes a probe that requires a valid path to one of these anchors.
    package init(trusting anchors: TrustAnchors) { self.init(validator: PathValidator(anchors: anchors)) }

    /// Probes a host.
    /// - Parameters:
    ///   - host: the host; without a port, 443.
    ///   - policy: evaluates the chains that the host presents; nil to require a valid path and no pins.
    public func ask(_ host: DialedHost, policy: (any TrustPolicy)? = nil) async -> HostFindings {
        let policy = policy ?? StandardPolicy(host: HostPattern(host))
        let end = ContinuousClock.now + deadlines.whole
        let host = (try? host.withPort(orDefault: HostAndPort.defaultPort)) ?? host
        let places: [Place]
        do throws(ProbeFailure) {
            places = try await self.places(of: host, until: end)
        } catch {
            return HostFindings(host: host, [Sighting(host: host, address: nil, result: .failure(error))])
        }
        let asked = places.prefix(Self.maximumAddresses)
        let sightings = await SideBySide.map(Array(asked), atMost: addressesAtOnce) { place in
            await ask(host, policy, at: place, until: end)
        }
        let others = places.dropFirst(Self.maximumAddresses).map { place in
            sighting(of: host, at: place, .failure(.tooMany(places.count, of: host)))
        }
        return HostFindings(host: host, sightings.flatMap(\.self) + others)
    }

    /// Probes several hosts concurrently.
    /// - Parameters:
    ///   - hosts: the hosts.
    ///   - limit: the number of hosts that are probed at the same time.
    ///   - policy: evaluates the chains that each host presents.
    /// - Returns: the findings, in the order of the hosts.
    public func ask(
        _ hosts: [DialedHost], atOnce limit: Int = 8, policy: @escaping @Sendable (DialedHost) -> any TrustPolicy
    ) async -> [HostFindings] {
        await SideBySide.map(hosts, atMost: limit) { await ask($0, policy: policy($0)) }
    }

    // MARK: Places

    /// A destination, and how it is reported.
    private struct Place: Sendable {
        let address: PeerAddress?
        let target: Handshake.Target?
        /// Why it is not probed.
        var refusal: ProbeFailure?
    }

    private func places(of host: DialedHost, until end: ContinuousClock.Instant) async throws(ProbeFailure) -> [Place] {
        let target = connectTo ?? host
        let port = target.port ?? host.port ?? HostAndPort.defaultPort
        let proxy = proxies.proxy(for: (try? target.withPort(orDefault: port)) ?? target)
        // If the addresses matter, the proxy must not choose them.
        if let proxy, filter == nil, addresses.isEmpty, families.count == IPAddress.Family.allCases.count {
            let destination = HostAndPort.text(target.name, port: port)
            return [Place(address: nil, target: .proxy(proxy, destination: destination))]
        }
        return try await found(target, until: end).map { address in
            let peer = PeerAddress(address, port: port)
            if let refusal = filter?.refusal(of: address) {
                let failure = ProbeFailure.notAllowed("\(peer)", found: refusal.description)
                return Place(address: peer, target: nil, refusal: failure)
            }
            return Place(
                address: peer,
                target: proxy.map { .proxy($0, destination: "\(peer)") } ?? .address(peer))
        }
    }

    private func found(
        _ target: DialedHost, until end: ContinuousClock.Instant
    ) async throws(ProbeFailure) -> [IPAddress] {
        if !addresses.isEmpty { return addresses }
        if let address = IPAddress(target) { return [address] }
        let name = target.name
        let search = Task { () async -> Result<[IPAddress], ProbeFailure> in
            do throws(ProbeFailure) {
                return .success(try await resolver.addresses(name))
            } catch {
                return .failure(error)
            }
        }
        let limit = min(deadlines.resolving, end - ContinuousClock.now)
        guard let result = await TimeLimit.value(of: search, within: limit) else {
            throw ProbeFailure(
                .timedOut, at: name, expected: "addresses within \(deadlines.resolving.inWords)", found: "none",
                sentence: "the addresses of \(name) were not found within \(deadlines.resolving.inWords)")
        }
        var known: Set<IPAddress> = []
        let found = try result.get().filter { families.contains($0.family) && known.insert($0).inserted }
        guard !found.isEmpty else { throw .noAddress(of: name) }
        return found
    }

    // MARK: One address

    private func ask(
        _ host: DialedHost, _ policy: any TrustPolicy, at place: Place, until end: ContinuousClock.Instant
    ) async -> [Sighting] {
        var sightings: [Sighting] = []
        var leaf: X509Certificate?
        for attempt in 0..<max(1, connectionsPerAddress) {
            let other = attempt % 2 == 1 && asksForOtherKeys ? leaf.map(KeyOffer.other) : nil
            // The first connection presented no certificate, so the other kind of key is unknown.
            if attempt == 1, connectionsPerAddress == 2, other == nil { break }
            let next = await connect(to: host, policy, at: place, offering: other ?? .any, until: end)
            if let found = next.shown?.leaf { leaf = found }
            if place.target == nil { return [next] }
            if isWorthTelling(next, after: sightings) { sightings.append(next) }
        }
        // An address that answered once can be probed: an earlier or later failure adds nothing.
        return sightings.contains { $0.shown != nil }
            ? sightings.filter { $0.shown != nil || $0.offer != .any } : Array(sightings.prefix(1))
    }

    private func isWorthTelling(_ next: Sighting, after earlier: [Sighting]) -> Bool {
        switch next.result {
        case .failure(let failure):
            // Report each such failure once.
            let isKnown = earlier.contains { $0.offer == next.offer && $0.failure?.code == failure.code }
            return next.offer == .any || !failure.saysNoKey(of: next.offer) && !isKnown
        case .success(let shown):
            // A TLS 1.2 server may present its only certificate although the client cannot use it.
            return !earlier.contains { $0.shown?.decision.chain == shown.decision.chain }
        }
    }

    private func connect(
        to host: DialedHost, _ policy: any TrustPolicy, at place: Place, offering offer: KeyOffer,
        until end: ContinuousClock.Instant
    ) async -> Sighting {
        let late = ProbeFailure.late(place.address, host)
        guard let target = place.target else { return sighting(of: host, at: place, .failure(place.refusal ?? late)) }
        var configuration = TLSConfiguration.makeClientConfiguration()
        clientCertificate?.apply(to: &configuration)
        configuration.verifySignatureAlgorithms = offer.algorithms
        let handshake = Handshake(
            host: host, policy: policy, validator: validator, clock: clock, configuration: configuration,
            filter: filter, deadlines: deadlines, group: eventLoopGroup)
        let run = Task { await handshake.run(to: target) }
        let answer = await TimeLimit.value(of: run, within: end - ContinuousClock.now)
        var result = answer?.result ?? .failure(late)
        if let limit = maximumChainBytes, case .success(let shown) = result, shown.chainBytes > limit {
            return sighting(
                of: host, at: place, .failure(.tooLarge(shown.chainBytes, limit, place.address, host)), offer,
                proxy: answer?.proxy)
        }
        // The address has presented a certificate, so it is reachable.
        if case .failure(let failure) = result, offer != .any, !failure.saysNoKey(of: offer) {
            result = .failure(failure.ofOtherKey(offer))
        }
        return sighting(of: host, at: place, result, offer, proxy: answer?.proxy)
    }

    private func sighting(
        of host: DialedHost, at place: Place, _ result: Result<ShownChain, ProbeFailure>, _ offer: KeyOffer = .any,
        proxy: PeerAddress? = nil
    ) -> Sighting {
        Sighting(host: host, address: place.address, proxy: proxy, offer: offer, result: result)
    }
}

extension ProbeFailure {
    fileprivate static func late(_ address: PeerAddress?, _ host: DialedHost) -> ProbeFailure {
        let place = address?.description ?? host.description
        return ProbeFailure(
            .timedOut, at: place, expected: "an answer before the time for the whole host was up", found: "none",
            sentence: "\(place) gave no answer before the time for \(host) was up")
    }

    fileprivate static func tooLarge(
        _ size: Int, _ limit: Int, _ address: PeerAddress?, _ host: DialedHost
    ) -> ProbeFailure {
        let place = address?.description ?? host.description
        return ProbeFailure(
            .chainTooLarge, at: place, expected: "at most \(limit) bytes of certificates", found: "\(size)",
            sentence: "\(place) presented \(size) bytes of certificates; at most \(limit) are read")
    }

    fileprivate static func tooMany(_ count: Int, of host: DialedHost) -> ProbeFailure {
        ProbeFailure(
            .tooManyAddresses, at: host.description, expected: "at most \(HostProbe.maximumAddresses) addresses",
            found: "\(count)",
            sentence: "of the \(count) addresses of \(host) \(HostProbe.maximumAddresses) were asked")
    }
}
