/// The hosts that a policy applies to: one host, `*.example.com` or `**.example.com`.
///
/// - an exact name or address is that host alone
/// - `*.example.com` is every name with exactly one more label, not `example.com` itself
/// - `**.example.com` is `example.com` and every name under it, at any depth
///
/// Patterns are ordered by precedence: if two match the same host, the smaller one decides. An exact name comes first,
/// then the pattern with the most labels, then `*.` before `**.`.
public struct HostPattern: Hashable, Sendable {
    /// The range of names that a pattern covers.
    public enum Scope: String, Hashable, Sendable, CaseIterable {
        /// The host itself.
        case exact
        /// Names with one more label: `*.`.
        case oneLabel
        /// The name itself and everything under it: `**.`.
        case subtree

        var prefix: String {
            switch self {
            case .exact: ""
            case .oneLabel: "*."
            case .subtree: "**."
            }
        }
    }

    /// The range of names, starting at ``base``, that the pattern covers.
    public let scope: Scope
    /// The host, or the name after the wildcard; without a port.
    public let base: DialedHost
    /// The number of labels of the name after the wildcard; 0 for an address.
    let labelCount: Int

    /// Reads a pattern.
    ///
    /// - Parameters:
    ///   - text: a host, or a name after `*.` or `**.`, in ASCII or Unicode, without a port.
    ///   - allowingTopLevel: accepts a wildcard before a single label, for suffixes that belong to one organization
    ///     (`**.internal`). A label that `publicSuffixes` lists is still refused.
    ///   - publicSuffixes: refuses wildcards over a suffix under which strangers register names, such as `co.uk`.
    /// - Throws: ``HostPatternError``.
    public init(
        _ text: String, allowingTopLevel: Bool = false, publicSuffixes: PublicSuffixList? = nil
    ) throws(HostPatternError) {
        let scope: Scope
        let name: String
        if let rest = text.after(octets: Scope.subtree.prefix) {
            (scope, name) = (.subtree, rest)
        } else if let rest = text.after(octets: Scope.oneLabel.prefix) {
            (scope, name) = (.oneLabel, rest)
        } else {
            (scope, name) = (.exact, text)
        }
        guard !name.isEmpty else {
            throw HostPatternError(
                .empty, expected: "a host, *.DOMAIN or **.DOMAIN", found: text.quotedAddress,
                remedy: "Name a host or a domain.")
        }
        guard !name.utf8.contains(UInt8(ascii: "*")) else {
            throw HostPatternError(
                .misplacedWildcard, expected: "a host, *.DOMAIN or **.DOMAIN", found: text.quotedAddress,
                remedy: "Write *. for one label more, **. for the domain and everything under it.")
        }
        let host = Result { () throws(HostError) in try DialedHost(name) }
        base = try host.mapError { HostPatternError($0, in: text) }.get()
        self.scope = scope
        labelCount = Self.labelCount(of: base)
        guard case .name(let canonical) = base.kind else {
            guard scope == .exact else {
                throw HostPatternError(
                    .addressWithWildcard, expected: "an address alone", found: text.quotedAddress,
                    remedy: "Add a pattern for each address.")
            }
            return
        }
        guard scope != .exact else { return }
        if labelCount == 1, !allowingTopLevel {
            throw HostPatternError(
                .topLevel, expected: "a domain of two labels or more", found: text.quotedAddress,
                remedy: "Name your own domain; for a private suffix pass allowingTopLevel.")
        }
        if let publicSuffixes, publicSuffixes.listsSuffix(atOrUnder: canonical) {
            throw HostPatternError(
                .publicSuffix, expected: "a domain that somebody registered", found: text.quotedAddress,
                remedy: "Name your own domain under the public suffix.")
        }
    }

    /// Makes a pattern from a host and a flag for its subdomains, as other pinning configurations do. The flag means
    /// `**.`.
    ///
    /// - Throws: ``HostPatternError``.
    public init(
        host: String, includeSubdomains: Bool, allowingTopLevel: Bool = false,
        publicSuffixes: PublicSuffixList? = nil
    ) throws(HostPatternError) {
        try self.init(
            (includeSubdomains ? Scope.subtree : .exact).prefix + host, allowingTopLevel: allowingTopLevel,
            publicSuffixes: publicSuffixes)
    }

    /// Makes the pattern of one host; its port is ignored.
    public init(_ host: DialedHost) {
        scope = .exact
        base = host.withoutPort
        labelCount = Self.labelCount(of: host)
    }

    private static func labelCount(of host: DialedHost) -> Int {
        guard case .name(let name) = host.kind else { return 0 }
        return name.utf8.reduce(1) { $1 == UInt8(ascii: ".") ? $0 + 1 : $0 }
    }

    /// Whether the pattern covers a host. Ports are ignored, and a name never covers an address.
    public func matches(_ host: DialedHost) -> Bool {
        if scope == .exact { return base.kind == host.kind }
        guard case .name(let domain) = base.kind, case .name(let name) = host.kind else { return false }
        let (domainOctets, nameOctets) = (domain.utf8, name.utf8)
        let extra = nameOctets.count - domainOctets.count
        if extra == 0 { return scope == .subtree && domain == name }
        // The part before the base needs at least one character and a dot.
        guard extra >= 2, nameOctets.suffix(domainOctets.count).elementsEqual(domainOctets) else { return false }
        let labels = nameOctets.prefix(extra)
        guard labels.last == UInt8(ascii: ".") else { return false }
        return scope == .subtree || !labels.dropLast().contains(UInt8(ascii: "."))
    }
}

extension HostPattern: Comparable {
    /// Whether `left` takes precedence if both match; patterns of equal precedence, which never match the same host,
    /// are ordered by their text.
    public static func < (left: HostPattern, right: HostPattern) -> Bool {
        if (left.scope == .exact) != (right.scope == .exact) { return left.scope == .exact }
        if left.scope == .exact { return left.base.name < right.base.name }
        if left.labelCount != right.labelCount { return left.labelCount > right.labelCount }
        if left.scope != right.scope { return left.scope == .oneLabel }
        return left.base.name < right.base.name
    }
}

extension HostPattern: CustomStringConvertible {
    /// The pattern in its canonical form, which reads back as the same pattern.
    public var description: String { scope.prefix + base.name }
}
