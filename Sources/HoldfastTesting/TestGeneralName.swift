/// A GeneralName (RFC 5280 4.2.1.6): an entry of a subjectAltName, or the base of a name constraint.
///
/// A string literal becomes an iPAddress if it can be read as an IPv4 or IPv6 address, and a dNSName otherwise. Nothing
/// is checked: any value is written.
public enum TestGeneralName: Sendable, Hashable {
    /// dNSName, such as `www.example.com` or `*.example.com`; in a name constraint, `example.com`.
    case dns(String)
    /// iPAddress: 4 or 16 bytes; in a name constraint 8 or 32, the address and the mask.
    case address([UInt8])
    /// rfc822Name.
    case email(String)
    /// uniformResourceIdentifier.
    case uri(String)
    /// directoryName.
    case directory(TestName)
    /// otherName, with its type and the DER of its value.
    case other(TestObjectIdentifier, [UInt8])
    /// Any identifier byte with any content.
    case raw(UInt8, [UInt8])

    /// Makes an iPAddress if the text can be read as an address without a zone (`127.0.0.1`, `::1`), and a dNSName
    /// otherwise.
    public init(_ text: String) {
        self = IPAddressText.octets(of: text).map(Self.address) ?? .dns(text)
    }

    /// The DER of the name.
    public var der: [UInt8] {
        switch self {
        case .other(let type, let value):
            TestDER.context(0, constructed: TestDER.objectIdentifier(type) + TestDER.context(0, constructed: value))
        case .email(let text): TestDER.context(1, primitive: Array(text.utf8))
        case .dns(let text): TestDER.context(2, primitive: Array(text.utf8))
        case .directory(let name): TestDER.context(4, constructed: name.der)
        case .uri(let text): TestDER.context(6, primitive: Array(text.utf8))
        case .address(let octets): TestDER.context(7, primitive: octets)
        case .raw(let tag, let content): TestDER.element(tag, content)
        }
    }
}

extension TestGeneralName: ExpressibleByStringLiteral {
    /// Makes an iPAddress if the text can be read as an address, and a dNSName otherwise.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

/// IP addresses in text form (RFC 4291 2.2), for literals in tests; the library has its own, stricter reader.
enum IPAddressText {
    static func octets(of text: String) -> [UInt8]? { version4(text) ?? version6(text) }

    private static func version4(_ text: some StringProtocol) -> [UInt8]? {
        let fields = text.split(separator: ".", omittingEmptySubsequences: false)
        let octets = fields.compactMap { UInt8($0) }
        return fields.count == 4 && octets.count == 4 ? octets : nil
    }

    private static func version6(_ text: String) -> [UInt8]? {
        guard text.contains(":") else { return nil }
        let halves = text.split(separator: "::", omittingEmptySubsequences: false).map(groups)
        switch halves.count {
        case 1:
            guard let all = halves[0], all.count == 16 else { return nil }
            return all
        case 2:
            guard let head = halves[0], let tail = halves[1], head.count + tail.count <= 14 else { return nil }
            return head + [UInt8](repeating: 0, count: 16 - head.count - tail.count) + tail
        default:
            return nil
        }
    }

    private static func groups(_ text: Substring) -> [UInt8]? {
        var octets: [UInt8] = []
        guard !text.isEmpty else { return octets }
        for field in text.split(separator: ":", omittingEmptySubsequences: false) {
            if let quad = version4(field) {
                octets += quad
            } else if field.count <= 4, let group = UInt16(field, radix: 16) {
                octets += [UInt8(group >> 8), UInt8(group & 0xFF)]
            } else {
                return nil
            }
        }
        return octets
    }
}
