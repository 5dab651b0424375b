/// A base of a name constraint and the names in its subtree, prepared once. The initializer returns nil for an
/// unsupported form or an invalid base.
struct Subtree: Sendable {
    private enum Base: Sendable {
        /// `strictly`: covers every name below the domain, not the domain itself. Tools have always written that with a
        /// leading period, which RFC 5280 does not define.
        case dns(below: ArraySlice<UInt8>, strictly: Bool)
        case address(network: ArraySlice<UInt8>, mask: ArraySlice<UInt8>)
        case mailbox(local: ArraySlice<UInt8>, host: ArraySlice<UInt8>)
        /// A host; with a leading period the hosts of a domain; if empty, every host.
        case hosts(ArraySlice<UInt8>)
        case directory(FoldedName)
        case unusable
    }

    let name: GeneralNameSlice
    private let base: Base
    /// The cost of one comparison, in the unit of ``ValidationLimits/work``.
    let comparisonWork: Int

    /// - Parameter work: increased by the cost of preparing.
    init(_ name: GeneralNameSlice, work: inout Int) {
        self.name = name
        work += 1
        let octets: Int
        switch name {
        case .dNSName(let base):
            octets = base.count
            self.base = Self.dns(base)
        case .iPAddress(let base):
            octets = base.count
            self.base = Self.network(base)
        case .rfc822Name(let base):
            octets = base.count
            if base.contains(UInt8(ascii: "@")) {
                self.base =
                    ConstrainedName.mailbox(base, &work).map { .mailbox(local: $0.local, host: $0.host) } ?? .unusable
            } else {
                self.base = .hosts(base)
            }
        case .uniformResourceIdentifier(let base):
            octets = base.count
            self.base = .hosts(base)
        case .directoryName(let name):
            let folded = name.folded(work: &work)
            octets = folded?.octets.count ?? 0
            base = folded.map(Base.directory) ?? .unusable
        case .other:
            octets = 0
            base = .unusable
        }
        work += octets / 8
        comparisonWork = 1 + octets / 8
    }

    /// Whether everything that `name` stands for is in the subtree.
    func permits(_ name: ConstrainedName) -> Bool? {
        guard case .dns(let below, let strictly) = base, case .dns(let name) = name.form else { return contains(name) }
        // A name with an empty first label is invalid and in no subtree.
        if name.first == UInt8(ascii: ".") { return false }
        // A wildcard below X is in a subtree when X is.
        if let parent = Self.wildcardParent(name) { return Self.isWithin(parent, below, strictly: false) }
        return Self.isWithin(name, below, strictly: strictly)
    }

    /// Whether anything that `name` stands for is in the subtree.
    func reaches(_ name: ConstrainedName) -> Bool? {
        guard case .dns(let below, let strictly) = base, case .dns(let name) = name.form else { return contains(name) }
        guard let parent = Self.wildcardParent(name) else { return Self.isWithin(name, below, strictly: strictly) }
        if Self.isWithin(parent, below, strictly: false) { return true }
        // `*.example.com` stands for bar.example.com too, so it extends into that subtree.
        guard !strictly, let dot = below.firstIndex(of: UInt8(ascii: ".")) else { return false }
        return DNSOctets.equal(below[(dot + 1)...], parent)
    }

    private func contains(_ name: ConstrainedName) -> Bool? {
        switch (base, name.form) {
        case (.address(let network, let mask), .address(let address)):
            guard address.count == network.count else { return false }
            let (networkStart, maskStart) = (network.startIndex, mask.startIndex)
            for (offset, octet) in address.enumerated() {
                let bits = mask[maskStart + offset]
                guard network[networkStart + offset] & bits == octet & bits else { return false }
            }
            return true
        case (.mailbox(let wantedLocal, let wantedHost), .mailbox(let local, let host)):
            return local.count == wantedLocal.count && DNSOctets.equal(host, wantedHost)
                && local.elementsEqual(wantedLocal)
        case (.hosts(let base), .mailbox(_, let host)), (.hosts(let base), .uri(let host)):
            if base.first == UInt8(ascii: ".") { return Self.isWithin(host, base.dropFirst(), strictly: true) }
            return base.isEmpty || DNSOctets.equal(host, base)
        case (.directory(let base), .directory(let name)):
            return name.isWithin(base)
        default:
            return nil
        }
    }

    // MARK: DNS names

    /// A base with a wildcard, a trailing period or an empty label is invalid.
    private static func dns(_ base: ArraySlice<UInt8>) -> Base {
        let isStrict = base.first == UInt8(ascii: ".")
        let below = isStrict ? base.dropFirst() : base
        return isDomain(below) ? .dns(below: below, strictly: isStrict) : .unusable
    }

    /// Whether names below it can exist: labels with neither wildcards nor spaces, or an empty base. A base that no
    /// name can match would exclude nothing.
    private static func isDomain(_ base: ArraySlice<UInt8>) -> Bool {
        var previous = UInt8(ascii: ".")
        for octet in base {
            guard octet > 0x20, octet < 0x7F, octet != UInt8(ascii: "*") else { return false }
            if octet == UInt8(ascii: "."), previous == octet { return false }
            previous = octet
        }
        return base.isEmpty || previous != UInt8(ascii: ".")
    }

    /// Returns X for `*.X`.
    private static func wildcardParent(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard name.count > 1, name[name.startIndex] == UInt8(ascii: "*"),
            name[name.startIndex + 1] == UInt8(ascii: ".")
        else { return nil }
        return name.dropFirst(2)
    }

    private static func isWithin(_ name: ArraySlice<UInt8>, _ base: ArraySlice<UInt8>, strictly: Bool) -> Bool {
        // The empty base is the root, which is above every name.
        if base.isEmpty { return true }
        return DNSOctets.isWithin(name, base) && !(strictly && name.count == base.count)
    }

    // MARK: Addresses

    private static func network(_ base: ArraySlice<UInt8>) -> Base {
        let half = base.count / 2
        let mask = base.suffix(half)
        // A mask must be ones, then zeros, as in RFC 4632.
        var seenZero = false
        for octet in mask {
            guard seenZero ? octet == 0 : (~octet & (~octet &+ 1)) == 0 else { return .unusable }
            seenZero = seenZero || octet != 0xFF
        }
        return .address(network: base.prefix(half), mask: mask)
    }
}
