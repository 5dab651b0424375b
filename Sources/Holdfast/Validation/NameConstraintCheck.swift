/// Compares the names of a certificate with the constraints of an issuer above it (RFC 5280 4.2.1.10, 6.1.4 (b), (c)).
///
/// Work is counted in comparisons of 16 octets, so that long names and names that must be folded cost what they cost.
struct NameConstraintCheck {
    enum Outcome {
        case allowed
        case violation(TrustFailure.Code, expected: String, found: String)
        case overBudget
    }

    let constraints: NameConstraints
    let limit: Int
    var comparisons: Int

    /// All names by which a certificate goes: its subjectAltName entries, its subject, and without a subjectAltName
    /// the e-mail addresses in its subject.
    static func names(of certificate: X509Certificate) throws(DERError) -> [GeneralName] {
        let alternatives = try certificate.subjectAlternativeNames
        var names = alternatives ?? []
        let subject = certificate.subject
        if !subject.isEmpty { names.append(.directoryName(subject)) }
        if alternatives == nil {
            for attribute in (subject.relativeNames ?? []).joined() where attribute.type == emailAddress {
                names.append(.rfc822Name(attribute.value[...]))
            }
        }
        return names
    }

    /// 1.2.840.113549.1.9.1
    private static let emailAddress: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01]

    mutating func check(_ names: [GeneralName]) -> Outcome {
        for name in names {
            comparisons += 1
            guard comparisons <= limit else { return .overBudget }
            let permitted = constraints.permittedByForm[name.form] ?? []
            var isPermitted = permitted.isEmpty
            for base in permitted {
                guard spend(on: base, and: name) else { return .overBudget }
                switch Subtree(base).permits(name) {
                case true?: isPermitted = true
                case false?: break
                case nil: return unsupported(base, name)
                }
                if isPermitted { break }
            }
            if !isPermitted {
                return .violation(
                    .nameConstraintViolated, expected: "a name within the permitted subtrees of the issuer",
                    found: name.text)
            }
            for base in constraints.excludedByForm[name.form] ?? [] {
                guard spend(on: base, and: name) else { return .overBudget }
                switch Subtree(base).reaches(name) {
                case false?: break
                case true?:
                    return .violation(
                        .nameConstraintViolated, expected: "no name within the excluded subtree \(base.text)",
                        found: name.text)
                case nil: return unsupported(base, name)
                }
            }
        }
        return .allowed
    }

    private func unsupported(_ base: GeneralName, _ name: GeneralName) -> Outcome {
        .violation(
            .unsupportedNameConstraint, expected: "a name constraint that can be applied to \(name.text)",
            found: base.text)
    }

    private mutating func spend(on base: GeneralName, and name: GeneralName) -> Bool {
        switch (base, name) {
        // Folding two names for comparison costs about as much as fifty comparisons, and more the longer they are.
        case (.directoryName(let left), .directoryName(let right)):
            comparisons += 64 + (left.der.count + right.der.count) / 2
        case (.dNSName(let base), _):
            comparisons += 1 + base.count / 16
        // These are searched for their host, from end to end.
        case (.rfc822Name(let base), .rfc822Name(let octets)),
            (.uniformResourceIdentifier(let base), .uniformResourceIdentifier(let octets)):
            comparisons += 1 + (base.count + octets.count) / 16
        default:
            comparisons += 1
        }
        return comparisons <= limit
    }
}

/// A base of a name constraint and the names that lie in its subtree. nil: the question cannot be answered, for a form
/// that is not processed or a base that is none.
struct Subtree {
    private let base: GeneralName

    init(_ base: GeneralName) {
        self.base = base
    }

    /// Whether all that `name` stands for lies in the subtree.
    func permits(_ name: GeneralName) -> Bool? {
        switch (base, name) {
        case (.dNSName(let base), .dNSName(let name)):
            return dns(base) { below, strictly in
                // A name with an empty first label is none, and so lies in no subtree.
                if name.first == UInt8(ascii: ".") { return false }
                // What stands for every label below X lies in a subtree when X does.
                if let parent = Self.wildcardParent(name) { return Self.isWithin(parent, below, strictly: false) }
                return Self.isWithin(name, below, strictly: strictly)
            }
        default:
            return contains(name)
        }
    }

    /// Whether anything that `name` stands for lies in the subtree.
    func reaches(_ name: GeneralName) -> Bool? {
        switch (base, name) {
        case (.dNSName(let base), .dNSName(let name)):
            return dns(base) { below, strictly in
                guard let parent = Self.wildcardParent(name) else {
                    return Self.isWithin(name, below, strictly: strictly)
                }
                if Self.isWithin(parent, below, strictly: false) { return true }
                // `*.example.com` stands for bar.example.com too, and so reaches into its subtree.
                guard !strictly, let dot = below.firstIndex(of: UInt8(ascii: ".")) else { return false }
                return DNSOctets.equal(below[(dot + 1)...], parent)
            }
        default:
            return contains(name)
        }
    }

    private func contains(_ name: GeneralName) -> Bool? {
        switch (base, name) {
        case (.iPAddress(let base), .iPAddress(let address)):
            return Self.network(base, contains: address)
        case (.rfc822Name(let base), .rfc822Name(let mailbox)):
            return Self.mail(base, contains: mailbox)
        case (.uniformResourceIdentifier(let base), .uniformResourceIdentifier(let uri)):
            return Self.host(of: uri).map { Self.hosts(base, contain: $0) }
        case (.directoryName(let base), .directoryName(let name)):
            return name.isWithin(base)
        default:
            return nil
        }
    }

    // MARK: DNS names

    /// A base with a wildcard, a trailing period or an empty label is none. One with a leading period is not of RFC 5280 either; tools have always written it
    /// and read it as «every name below, not the domain itself».
    private func dns(_ base: ArraySlice<UInt8>, _ answer: (ArraySlice<UInt8>, _ strictly: Bool) -> Bool) -> Bool? {
        let isStrict = base.first == UInt8(ascii: ".")
        let below = isStrict ? base.dropFirst() : base
        guard Self.isDomain(below) else { return nil }
        return answer(below, isStrict)
    }

    /// Whether names can lie below it at all: labels with neither wildcards nor spaces, or nothing. What no name can match
    /// would exclude nothing.
    private static func isDomain(_ base: ArraySlice<UInt8>) -> Bool {
        var previous = UInt8(ascii: ".")
        for octet in base {
            guard octet > 0x20, octet < 0x7F, octet != UInt8(ascii: "*") else { return false }
            if octet == UInt8(ascii: "."), previous == octet { return false }
            previous = octet
        }
        return base.isEmpty || previous != UInt8(ascii: ".")
    }

    /// X of `*.X`.
    private static func wildcardParent(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        name.starts(with: [UInt8(ascii: "*"), UInt8(ascii: ".")]) ? name.dropFirst(2) : nil
    }

    private static func isWithin(_ name: ArraySlice<UInt8>, _ base: ArraySlice<UInt8>, strictly: Bool) -> Bool {
        // Every name lies below the root, which the empty base stands for.
        if base.isEmpty { return true }
        return DNSOctets.isWithin(name, base) && !(strictly && name.count == base.count)
    }

    // MARK: Addresses

    private static func network(_ base: ArraySlice<UInt8>, contains address: ArraySlice<UInt8>) -> Bool? {
        let half = base.count / 2
        let network = base.prefix(half)
        let mask = base.suffix(half)
        // RFC 4632 style: ones, then zeros.
        var seenZero = false
        for octet in mask {
            guard seenZero ? octet == 0 : (~octet & (~octet &+ 1)) == 0 else { return nil }
            seenZero = seenZero || octet != 0xFF
        }
        guard address.count == half else { return false }
        return zip(zip(network, mask), address).allSatisfy { $0.0 & $0.1 == $1 & $0.1 }
    }

    // MARK: Mailboxes and hosts

    /// A base is a mailbox, a host, or with a leading period the hosts of a domain.
    private static func mail(_ base: ArraySlice<UInt8>, contains mailbox: ArraySlice<UInt8>) -> Bool? {
        guard let (local, host) = split(mailbox) else { return nil }
        guard base.contains(UInt8(ascii: "@")) else { return hosts(base, contain: host) }
        guard let (wantedLocal, wantedHost) = split(base) else { return nil }
        return local.elementsEqual(wantedLocal) && DNSOctets.equal(host, wantedHost)
    }

    /// Local part and host of a mailbox with exactly one `@` between them.
    private static func split(_ mailbox: ArraySlice<UInt8>) -> (local: ArraySlice<UInt8>, host: ArraySlice<UInt8>)? {
        guard let at = mailbox.firstIndex(of: UInt8(ascii: "@")), at > mailbox.startIndex,
            mailbox.index(after: at) < mailbox.endIndex, !mailbox[(at + 1)...].contains(UInt8(ascii: "@"))
        else { return nil }
        return (mailbox[..<at], mailbox[(at + 1)...])
    }

    private static func hosts(_ base: ArraySlice<UInt8>, contain host: ArraySlice<UInt8>) -> Bool {
        if base.first == UInt8(ascii: ".") { return isWithin(host, base.dropFirst(), strictly: true) }
        return base.isEmpty || DNSOctets.equal(host, base)
    }

    /// The host of a URI (RFC 3986 3.2.2); nil without one and for an address, to which no constraint can apply.
    private static func host(of uri: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let colon = uri.firstIndex(of: UInt8(ascii: ":")),
            uri[(colon + 1)...].starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")])
        else { return nil }
        var authority = uri[(colon + 3)...]
        authority = authority.prefix { ![UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
        let host = authority.prefix { $0 != UInt8(ascii: ":") }
        guard let last = host.last, host.first != UInt8(ascii: "["),
            !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(last)
        else { return nil }
        return host
    }
}
