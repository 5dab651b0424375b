import Foundation
import Holdfast

/// Makes the findings about pins of issuers, one host at a time.
struct IssuerPinJudge {
    private let inputs: PublicationOutlook.Inputs
    private let given: AuthorityHierarchy?
    private let begins: Int64
    private let ends: Int64
    private let documents: [HeldDocument]
    private let periods: [[HoldingPeriod]]
    private let platforms: [ClientPlatform]
    /// For each platform, the scope that many hosts share.
    private var scopes: [ScopeKey: AuthorityScope] = [:]
    private(set) var findings: [IssuerPinCoverage.Finding] = []
    private(set) var untrusted: [IssuerPinCoverage.Untrusted] = []

    private struct ScopeKey: Hashable {
        let platform: Int
        let certificates: [X509Certificate]
    }

    /// The certificates that a host presents now.
    private struct Served {
        let leaf: X509Certificate
        let issuers: [X509Certificate]
    }

    init(_ inputs: PublicationOutlook.Inputs, _ hierarchy: AuthorityHierarchy?) throws(PublishingError) {
        try OutlookLimits.check(inputs)
        self.inputs = inputs
        given = hierarchy
        begins = inputs.now.wholeSeconds
        ends = begins + max(1, inputs.span.components.seconds)
        let documents = try inputs.documents.indices.map { index throws(PublishingError) in
            try HeldDocument(index, inputs)
        }
        platforms = try inputs.platforms.map { platform throws(PublishingError) in try ClientPlatform(platform) }
        periods = documents.map { held in
            HoldingPeriod.all(of: held, among: documents, isStuck: false, inputs)
                .filter { $0.holders == .current || $0.holders == .replaced }
        }
        self.documents = documents
    }

    mutating func judge(_ index: Int) throws(PublishingError) {
        let input = inputs.hosts[index]
        let host: DialedHost
        do throws(HostError) {
            host = try DialedHost(input.name, port: input.port)
        } catch {
            throw PublishingError(.invalidInput, of: input.name.quoted, expected: error.expected, found: error.found)
        }
        let served = Self.served(by: input)
        let isOfAuthority =
            served.isEmpty || served.allSatisfy { given?.hasIssued(anyOf: [$0.leaf] + $0.issuers) ?? false }
        let hierarchy = isOfAuthority ? given : nil
        for platform in platforms.indices {
            let authorities = try scope(of: served, hierarchy, on: platform)
            let shown = try chains(served, of: host, in: authorities)
            let clients = HeldDocument.deciding(about: host, among: documents).flatMap { held in
                relying(on: shown, held, of: host, in: authorities, platforms[platform], isShown: !input.shown.isEmpty)
            }
            // Most documents pin only servers' own keys, which need no further evaluation.
            guard !clients.isEmpty else { continue }
            let judged = try chains(of: host, in: authorities, isKnown: hierarchy != nil, on: platforms[platform])
            for client in clients {
                var (gaps, unannounced): ([IssuerPinCoverage.Gap], [IssuerPinCoverage.Gap]) = ([], [])
                for period in client.periods {
                    gaps += judged.known.compactMap {
                        gap(in: $0, client, period, host, authorities, platforms[platform])
                    }
                    unannounced += judged.unannounced.compactMap {
                        gap(in: $0, client, period, host, authorities, platforms[platform])
                    }
                }
                findings.append(
                    .init(
                        host: host.description, hostIndex: index, document: client.held.index, client: client.kind,
                        platform: platforms[platform].name, isOfAuthority: isOfAuthority || given == nil,
                        chains: judged.known.count, gaps: gaps, unannounced: unannounced))
            }
        }
    }

    private static func served(by host: PublicationOutlook.Host) -> [Served] {
        host.shown.filter { $0.start == nil }.compactMap { shown in
            let certificates = (shown.chain ?? []).compactMap { try? X509Certificate(der: [UInt8]($0)) }
            return certificates.first.map { Served(leaf: $0, issuers: certificates.dropFirst().filter(\.isAuthority)) }
        }
    }

    // MARK: Chains

    private mutating func scope(
        of served: [Served], _ hierarchy: AuthorityHierarchy?, on index: Int
    ) throws(PublishingError) -> AuthorityScope {
        // An anchor may have issued the server's certificate itself.
        let names = Set(served.map(\.leaf.issuer))
        let signers = platforms[index].validator.anchors.certificates.filter { names.contains($0.subject) }
        let key = ScopeKey(
            platform: index, certificates: served.flatMap(\.issuers) + (hierarchy?.certificates ?? []) + signers)
        if let known = scopes[key] { return known }
        let scope = try AuthorityScope(key.certificates, on: platforms[index], at: inputs.now)
        scopes[key] = scope
        return scope
    }

    /// The presented chains, with another server key.
    private func chains(
        _ served: [Served], of host: DialedHost, in scope: AuthorityScope
    ) throws(PublishingError) -> [AuthorityScope.Chain] {
        var chains: [AuthorityScope.Chain] = []
        for one in served {
            let signer = scope.hierarchy.certificates.first {
                $0.subject == one.leaf.issuer && one.leaf.isSigned(by: $0)
            }
            guard let signer,
                let chain = try scope.chain(to: host, through: one.issuers, signedBy: signer, unknown: 0)
            else { continue }
            chains.append(chain)
        }
        return chains
    }

    /// The chains that the authority may issue.
    private mutating func chains(
        of host: DialedHost, in scope: AuthorityScope, isKnown: Bool, on platform: ClientPlatform
    ) throws(PublishingError) -> (known: [AuthorityScope.Chain], unannounced: [AuthorityScope.Chain]) {
        var (known, unannounced): ([AuthorityScope.Chain], [AuthorityScope.Chain]) = ([], [])
        let (first, last) = (Date(wholeSeconds: begins), Date(wholeSeconds: ends))
        if isKnown {
            var trusted: Set<X509Certificate> = []
            for way in scope.hierarchy.waysOfServers {
                guard let chain = try scope.chain(to: host, through: way, unknown: 0),
                    scope.isTrusted(chain, of: host, from: first, until: last)
                else { continue }
                trusted.insert(way[0])
                known.append(chain)
            }
            note(trusted, of: scope.hierarchy, on: platform)
        }
        for way in scope.hierarchy.waysOfAuthorities {
            for unknown in 1...2 {
                guard let chain = try scope.chain(to: host, through: way, unknown: unknown),
                    scope.isTrusted(chain, of: host, from: first, until: last)
                else { continue }
                unannounced.append(chain)
            }
        }
        return (known, unannounced)
    }

    /// Records the authorities that issue server certificates and that a platform does not trust, unless they have
    /// expired.
    private mutating func note(
        _ trusted: Set<X509Certificate>, of hierarchy: AuthorityHierarchy, on platform: ClientPlatform
    ) {
        func isOfOne(_ certificate: X509Certificate, among others: some Sequence<X509Certificate>) -> Bool {
            others.contains {
                $0.subject == certificate.subject && $0.subjectPublicKeyInfo == certificate.subjectPublicKeyInfo
            }
        }
        for certificate in hierarchy.waysOfServers.compactMap(\.first)
        where begins < certificate.validityEnd.wholeSeconds && !isOfOne(certificate, among: trusted)
            && !isOfOne(certificate, among: untrusted.filter { $0.platform == platform.name }.map(\.issuer))
        {
            untrusted.append(.init(platform: platform.name, issuer: certificate))
        }
    }

    // MARK: Clients

    /// Clients whose pins of issuers accept the presented chain.
    private struct Relying {
        let held: HeldDocument
        let kind: PublicationOutlook.Client
        let pinning: Pin.Subject?
        /// The periods in which they hold the document and can connect. The outlook reports what ends them.
        var periods: [Range<Int64>] = []
    }

    private func relying(
        on shown: [AuthorityScope.Chain], _ held: HeldDocument, of host: DialedHost, in scope: AuthorityScope,
        _ platform: ClientPlatform, isShown: Bool
    ) -> [Relying] {
        held.clients.compactMap { kind, pinning in
            var client = Relying(held: held, kind: kind, pinning: pinning)
            for period in periods[held.index] {
                let (first, last) = (max(begins, period.begins), min(ends, period.ends))
                guard first < last else { continue }
                var end = last
                if isShown {
                    let served = shown.map { spans(of: $0, client, first..<last, host, scope, platform).spans }
                        .filter { $0.first?.getsIn == true }
                    guard !served.isEmpty else { continue }
                    end = served.joined().filter { !$0.getsIn }.map(\.start.wholeSeconds).min() ?? last
                }
                client.periods.append(first..<end)
            }
            return client.periods.isEmpty ? nil : client
        }
    }

    private func spans(
        of chain: AuthorityScope.Chain, _ client: Relying, _ period: Range<Int64>, _ host: DialedHost,
        _ scope: AuthorityScope, _ platform: ClientPlatform
    ) -> (trial: ClientTrial, spans: [PublicationOutlook.Span]) {
        let trial = ClientTrial(
            client.held, pinning: client.pinning, isBeginning: false, host: host, chain: chain.presented,
            validator: scope.validator)
        let boundaries = Set(
            ClientPlatform.boundaries(of: chain.issuers) + platform.boundaries + client.held.boundaries
        ).filter { period.lowerBound < $0 && $0 < period.upperBound }.sorted()
        let search = SpanSearch(begins: period.lowerBound, ends: period.upperBound, boundaries: boundaries)
        return (trial, search.spans(of: trial))
    }

    /// The gap if pins refuse a chain; nil if they accept it as long as its certificates are valid.
    private func gap(
        in chain: AuthorityScope.Chain, _ client: Relying, _ period: Range<Int64>, _ host: DialedHost,
        _ scope: AuthorityScope, _ platform: ClientPlatform
    ) -> IssuerPinCoverage.Gap? {
        let judged = spans(of: chain, client, period, host, scope, platform)
        let refused = judged.spans.first { span in
            !span.getsIn && span.cause?.code != .certificate && span.cause?.code != .list
        }
        guard let refused else { return nil }
        let paths = judged.trial.decision(at: refused.start.wholeSeconds)?.failure?.paths ?? []
        return .init(
            issuers: chain.issuers, unknownAuthorities: chain.unknown, instant: refused.start,
            words: refused.cause?.words ?? "",
            // The server's own and the unannounced certificates are stand-ins.
            paths: paths.map { Array($0.certificates.dropFirst(1 + chain.unknown)) })
    }
}
