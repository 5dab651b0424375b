/// A name of the owner of a certificate in subjectAltName (GeneralName, RFC 5280 4.2.1.6).
///
/// A server that authorizes its clients compares it, without parsing text:
/// ```swift
/// let name = GeneralName.uniformResourceIdentifier("spiffe://example.org/billing")
/// guard client.leaf.subjectAlternativeNames.contains(name) else { return refuse() }
/// ```
/// Names compare character by character, as they are in the certificate. In a DNS name the case of letters does not
/// matter, and a wildcard matches only itself: to find out whether a server is the host that was dialed, use a policy.
/// ``description`` is for people; two different names can print alike.
public enum GeneralName: Sendable, Hashable {
    /// A mailbox, for example `ops@example.com`. It is ASCII.
    case rfc822Name(String)
    /// A DNS name, for example `www.example.com` or `*.example.com`. It is ASCII.
    case dNSName(String)
    /// A distinguished name.
    case directoryName(DistinguishedName)
    /// A URI, for example `spiffe://example.org/billing`. It is ASCII.
    case uniformResourceIdentifier(String)
    /// The 4 bytes of an IPv4 address, or the 16 of an IPv6 address.
    case iPAddress([UInt8])
    /// An object identifier in dotted form.
    case registeredID(String)
    /// A name in a private form, such as Microsoft's user principal name (`1.3.6.1.4.1.311.20.2.3`).
    /// - Parameters:
    ///   - type: the form, an object identifier in dotted form.
    ///   - value: DER, not decoded.
    case otherName(type: String, value: [UInt8])
    /// A name of another form: x400Address (3), ediPartyName (5), or an otherName (0) or registeredID (8) that cannot
    /// be read.
    /// - Parameters:
    ///   - number: the form's number in RFC 5280.
    ///   - content: the content bytes.
    case other(number: UInt8, content: [UInt8])

    init(_ slice: GeneralNameSlice) {
        self =
            switch slice {
            case .rfc822Name(let octets): .rfc822Name(String(decoding: octets, as: UTF8.self))
            case .dNSName(let octets): .dNSName(String(decoding: octets, as: UTF8.self))
            case .directoryName(let name): .directoryName(name)
            case .uniformResourceIdentifier(let octets):
                .uniformResourceIdentifier(String(decoding: octets, as: UTF8.self))
            case .iPAddress(let octets): .iPAddress(Array(octets))
            case .other(0, let content): Self.otherName(content) ?? .other(number: 0, content: Array(content))
            case .other(8, let content):
                ObjectIdentifier.dotted(content).map(Self.registeredID) ?? .other(number: 8, content: Array(content))
            case .other(let number, let content): .other(number: number, content: Array(content))
            }
    }

    /// OtherName: an object identifier, and a value in an explicit [0].
    private static func otherName(_ content: ArraySlice<UInt8>) -> GeneralName? {
        do throws(DERError) {
            let bytes = Array(content)
            var fields = DERReader(bytes)
            let type = bytes[try fields.next(DERTag.objectIdentifier).content]
            let explicit = try fields.next(DERTag.contextConstructed(0))
            try fields.finish()
            var inside = DERReader(bytes, in: explicit.content)
            let value = try inside.next().encoded
            try inside.finish()
            return ObjectIdentifier.dotted(type).map { .otherName(type: $0, value: Array(bytes[value])) }
        } catch {
            return nil
        }
    }
}

extension GeneralName: CustomStringConvertible {
    /// The name for people, for example `DNS:www.example.com`: shortened and escaped, so it cannot forge a line,
    /// and in quotation marks if it has spaces or commas.
    public var description: String {
        switch self {
        case .rfc822Name(let text): "email:" + Self.printable(text)
        case .dNSName(let text): "DNS:" + Self.printable(text)
        case .directoryName(let name): "dirName:\(name)"
        case .uniformResourceIdentifier(let text): "URI:" + Self.printable(text)
        case .iPAddress(let octets): "IP:" + Self.addressText(octets)
        case .registeredID(let identifier): "registeredID:" + Self.printable(identifier)
        case .otherName(let type, _): "otherName:" + Self.printable(type)
        case .other(let number, _): "[\(number)]"
        }
    }

    /// Maximum length of a valid DNS name (RFC 1035 2.3.4).
    private static let maximumPrintedOctets = 253

    private static func printable(_ text: String) -> String {
        let octets = text.utf8
        let isPlain = octets.count <= maximumPrintedOctets && octets.allSatisfy(isPrintable)
        // A space at an edge is invisible, and a comma looks like the end of a name in a list of them.
        if isPlain { return octets.contains(where: { " ,\"".utf8.contains($0) }) ? "\"\(text)\"" : text }
        let shown = octets.prefix(maximumPrintedOctets)
        // Invalid UTF-8 is decoded as the replacement character.
        let printed = String(decoding: shown.map { isPrintable($0) ? $0 : 0xFF }, as: UTF8.self)
        return shown.count < octets.count ? printed + "…" : printed
    }

    private static func isPrintable(_ octet: UInt8) -> Bool { 0x20..<0x7F ~= octet }

    private static func addressText(_ octets: [UInt8]) -> String {
        if octets.count == 4 { return octets.map { String($0) }.joined(separator: ".") }
        return stride(from: 0, to: octets.count - 1, by: 2)
            .map { String(UInt16(octets[$0]) << 8 | UInt16(octets[$0 + 1]), radix: 16) }.joined(separator: ":")
    }
}
