/// A name of a certificate, prepared once for comparisons with many subtrees.
struct ConstrainedName: Sendable {
    enum Form: Sendable {
        case dns(ArraySlice<UInt8>)
        case address(ArraySlice<UInt8>)
        case mailbox(local: ArraySlice<UInt8>, host: ArraySlice<UInt8>)
        /// The host of a URI.
        case uri(host: ArraySlice<UInt8>)
        case directory(FoldedName)
        /// A name that cannot be compared with subtrees.
        case other
    }

    let name: GeneralNameSlice
    let form: Form

    /// - Parameter work: increased by the cost of preparing, in the unit of ``ValidationLimits/work``.
    init(_ name: GeneralNameSlice, work: inout Int) {
        self.name = name
        work += 1
        form =
            switch name {
            case .dNSName(let octets): .dns(octets)
            case .iPAddress(let octets): .address(octets)
            case .rfc822Name(let octets): Self.mailbox(octets, &work).map { .mailbox(local: $0, host: $1) } ?? .other
            case .uniformResourceIdentifier(let octets): Self.host(of: octets, &work).map(Form.uri) ?? .other
            case .directoryName(let name): name.folded(work: &work).map(Form.directory) ?? .other
            case .other: .other
            }
    }

    /// All names of a certificate: its subjectAltName entries, its subject, and without a subjectAltName the e-mail
    /// addresses in its subject. nil if the budget is not sufficient.
    static func all(of certificate: X509Certificate, meter: inout WorkMeter) throws(DERError) -> [ConstrainedName]? {
        let length = certificate.value(of: .subjectAltName)?.count ?? certificate.subject.der.count
        guard meter.spend(2 + length / 2) else { return nil }
        var prepared: [ConstrainedName] = []
        for name in try names(of: certificate) {
            var work = 0
            prepared.append(ConstrainedName(name, work: &work))
            guard meter.account(work) else { return nil }
        }
        return prepared
    }

    static func names(of certificate: X509Certificate) throws(DERError) -> [GeneralNameSlice] {
        let alternatives = try certificate.subjectAltName
        var names = alternatives ?? []
        let subject = certificate.subject
        if !subject.isEmpty { names.append(.directoryName(subject)) }
        if alternatives == nil {
            var addresses: [GeneralNameSlice] = []
            let isName = subject.forEachAttribute { attribute, _ in
                if let attribute, attribute.type.elementsEqual(emailAddress) {
                    addresses.append(.rfc822Name(attribute.value))
                }
                return true
            }
            if isName { names += addresses }
        }
        return names
    }

    /// 1.2.840.113549.1.9.1
    private static let emailAddress: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x01]

    /// Local part and host of a mailbox with exactly one `@` between them.
    static func mailbox(
        _ octets: ArraySlice<UInt8>, _ work: inout Int
    ) -> (local: ArraySlice<UInt8>, host: ArraySlice<UInt8>)? {
        work += octets.count / 8
        guard let at = octets.firstIndex(of: UInt8(ascii: "@")), at > octets.startIndex,
            octets.index(after: at) < octets.endIndex, !octets[(at + 1)...].contains(UInt8(ascii: "@"))
        else { return nil }
        return (octets[..<at], octets[(at + 1)...])
    }

    /// The host of a URI (RFC 3986 3.2.2); nil without one, and for an address, to which no constraint can apply.
    private static func host(of uri: ArraySlice<UInt8>, _ work: inout Int) -> ArraySlice<UInt8>? {
        work += uri.count / 4
        guard let colon = uri.firstIndex(of: UInt8(ascii: ":")),
            uri[(colon + 1)...].starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")])
        else { return nil }
        var authority = uri[(colon + 3)...]
        authority = authority.prefix {
            $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
        }
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
        let host = authority.prefix { $0 != UInt8(ascii: ":") }
        guard let last = host.last, host.first != UInt8(ascii: "["),
            !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(last)
        else { return nil }
        return host
    }
}
