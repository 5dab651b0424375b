import Foundation
import Holdfast

/// Makes the findings about pins of issuers, host by host.
struct IssuerPinJudge {
    private typealias Coverage = IssuerPinCoverage

    private let inputs: PublicationOutlook.Inputs
    private let given: AuthorityHierarchy?
    private let begins: Int64
    private let ends: Int64
    private let documents: [HeldDocument]
    private let periods: [[HoldingPeriod]]
    private let platforms: [ClientPlatform]
    /// Of each platform, what many hosts have in common.
    private var scopes: [ScopeKey: AuthorityScope] = [:]
    private(set) var findings: [IssuerPinCoverage.Finding] = []
    private(set) var untrusted: [IssuerPinCoverage.Untrusted] = []

    private struct ScopeKey: Hashable {
        let platform: Int
        let certificates: [X509Certificate]
    }

    /// What a host shows now, and whether the authority has issued it.
    private struct Served {
        let leaf: X509Certificate
        let issuers: [X509Certificate]
    }

    /// The chains that are judged for a host on a platform.
    private struct Chains {
        let scope: AuthorityScope
        /// What is shown, as if it had another key.
        var served: [AuthorityScope.Chain] = []
        var known: [AuthorityScope.Chain] = []
        var unannounced: [AuthorityScope.Chain] = []
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
            let chains = try chains(to: host, served, hierarchy, on: platform)
            for held in documents where held.isDialed(host) {
                for (client, pinning) in held.clients {
                    judge(
                        chains, held, client, pinning, of: host, index, on: platforms[platform],
                        isOfAuthority: isOfAuthority || given == nil)
                }
            }
        }
    }

    private static func served(by host: PublicationOutlook.Host) -> [Served] {
        host.shown.filter { $0.begins == nil }.compactMap { shown in
            let certificates = (shown.chain ?? []).compactMap { try? X509Certificate(der: [UInt8]($0)) }
            return certificates.first.map { Served(leaf: $0, issuers: certificates.dropFirst().filter(\.isAuthority)) }
        }
    }

    // MARK: Chains

    private mutating func chains(
        to host: DialedHost, _ served: [Served], _ hierarchy: AuthorityHierarchy?, on index: Int
    ) throws(PublishingError) -> Chains {
        // The names above what is shown lead to the anchors that have signed it.
        let key = ScopeKey(
            platform: index, certificates: served.flatMap(\.issuers) + (hierarchy?.certificates ?? []))
        let platform = platforms[index]
        let names = Set(served.map(\.leaf.issuer))
        let above = platform.validator.anchors.certificates.filter { names.contains($0.subject) }
        let scope: AuthorityScope
        if let known = scopes[key] {
            scope = known
        } else {
            scope = try AuthorityScope(key.certificates + above, on: platform, at: inputs.now)
        }
        if above.isEmpty { scopes[key] = scope }
        let (first, last) = (Date(wholeSeconds: begins), Date(wholeSeconds: ends))
        var chains = Chains(scope: scope)
        for one in served {
            let signer = scope.hierarchy.certificates.first {
                $0.subject == one.leaf.issuer && one.leaf.isSigned(by: $0)
            }
            guard let signer else { continue }
            if let chain = try scope.chain(to: host, through: one.issuers, signedBy: signer, unknown: 0) {
                chains.served.append(chain)
            }
        }
        if hierarchy != nil {
            var trusted: Set<X509Certificate> = []
            for way in scope.hierarchy.waysOfServers {
                guard let chain = try scope.chain(to: host, through: way, unknown: 0),
                    scope.isTrusted(chain, of: host, from: first, until: last)
                else { continue }
                trusted.insert(way[0])
                chains.known.append(chain)
            }
            note(trusted, of: scope.hierarchy, on: platform)
        }
        for way in scope.hierarchy.waysOfAuthorities {
            for unknown in 1...2 {
                guard let chain = try scope.chain(to: host, through: way, unknown: unknown),
                    scope.isTrusted(chain, of: host, from: first, until: last)
                else { continue }
                chains.unannounced.append(chain)
            }
        }
        return chains
    }

    /// Notes the authorities that issue to servers and that a platform does not trust, unless their time is over.
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

    private mutating func judge(
        _ chains: Chains, _ held: HeldDocument, _ client: PublicationOutlook.Client, _ pinning: Pin.Subject?,
        of host: DialedHost, _ hostIndex: Int, on platform: ClientPlatform, isOfAuthority: Bool
    ) {
        var (gaps, unannounced): ([IssuerPinCoverage.Gap], [IssuerPinCoverage.Gap]) = ([], [])
        var isFound = false
        for period in periods[held.index] {
            let first = max(begins, period.begins)
            var last = min(ends, period.ends)
            guard first < last else { continue }
            func spans(_ chain: AuthorityScope.Chain) -> (ClientTrial, [PublicationOutlook.Span]) {
                let trial = ClientTrial(
                    held, pinning: pinning, isBeginning: false, host: host, chain: chain.presented,
                    validator: chains.scope.validator)
                let boundaries = Set(
                    ClientPlatform.boundaries(of: chain.issuers) + platform.boundaries + held.boundaries
                ).filter { first < $0 && $0 < last }.sorted()
                return (trial, SpanSearch(begins: first, ends: last, boundaries: boundaries).spans(of: trial))
            }
            // Whether pins of issuers let in what is shown, and until when: what ends then is for the outlook to say.
            if !chains.served.isEmpty || !inputs.hosts[hostIndex].shown.isEmpty {
                let served = chains.served.map { spans($0).1 }.filter { $0.first?.getsIn == true }
                guard !served.isEmpty else { continue }
                let refusals = served.flatMap(\.self).filter { !$0.getsIn }.map(\.begins.wholeSeconds)
                last = min(last, refusals.min() ?? last)
            }
            isFound = true
            gaps += chains.known.compactMap { Self.gap(in: $0, spans($0)) }
            unannounced += chains.unannounced.compactMap { Self.gap(in: $0, spans($0)) }
        }
        guard isFound else { return }
        findings.append(
            .init(
                host: host.description, hostIndex: hostIndex, document: held.index, client: client,
                platform: platform.name, isOfAuthority: isOfAuthority, chains: chains.known.count, gaps: gaps,
                unannounced: unannounced))
    }

    /// Where pins refuse a chain; nil if they let it in as long as its certificates are valid.
    private static func gap(
        in chain: AuthorityScope.Chain, _ judged: (trial: ClientTrial, spans: [PublicationOutlook.Span])
    ) -> IssuerPinCoverage.Gap? {
        let refused = judged.spans.first { span in
            !span.getsIn && span.cause?.code != .certificate && span.cause?.code != .list
        }
        guard let refused else { return nil }
        let paths = judged.trial.decision(at: refused.begins.wholeSeconds)?.failure?.paths ?? []
        return .init(
            issuers: chain.issuers, unknownAuthorities: chain.unknown, instant: refused.begins,
            words: refused.cause?.words ?? "",
            // The server's own and what nobody has announced are stand-ins.
            paths: paths.map { Array($0.certificates.dropFirst(1 + chain.unknown)) })
    }
}
