/// A distinguished name (RFC 5280 4.1.2.4): a list of attributes, which may be empty.
///
/// A string literal becomes a name with only that common name.
public struct TestName: Sendable, Hashable {
    /// The string types in which names are written (RFC 5280 4.1.2.4). The characters are not checked.
    public enum StringType: UInt8, Sendable, Hashable {
        /// UTF8String, which today's authorities use.
        case utf8 = 0x0C
        /// PrintableString, mandatory for countries and serial numbers.
        case printable = 0x13
        /// TeletexString, from old roots.
        case teletex = 0x14
        /// IA5String, for e-mail addresses and domain components.
        case ia5 = 0x16
    }

    /// One attribute: its type, its text, and the encoding of the text.
    public struct Attribute: Sendable, Hashable {
        /// The kind of attribute, such as `.organization`.
        public var type: TestObjectIdentifier
        /// The text.
        public var value: String
        /// The string type in which the text is written.
        public var stringType: StringType

        /// Makes an attribute. Without a string type, countries and serial numbers become PrintableString, e-mail
        /// addresses and domain components IA5String, and all others UTF8String.
        public init(_ type: TestObjectIdentifier, _ value: String, as stringType: StringType? = nil) {
            self.type = type
            self.value = value
            self.stringType = stringType ?? Self.usual(for: type)
        }

        private static func usual(for type: TestObjectIdentifier) -> StringType {
            switch type {
            case .country, .serialNumber: .printable
            case .emailAddress, .domainComponent: .ia5
            default: .utf8
            }
        }

        var der: [UInt8] {
            TestDER.sequence([
                TestDER.objectIdentifier(type), TestDER.element(stringType.rawValue, Array(value.utf8)),
            ])
        }
    }

    /// The relative distinguished names in order. Each is a set that usually has one attribute.
    public var relativeNames: [[Attribute]]

    /// Makes a name from relative names with one attribute each.
    public init(_ attributes: [Attribute]) {
        relativeNames = attributes.map { [$0] }
    }

    /// Makes a name from sets of attributes.
    public init(relativeNames: [[Attribute]]) {
        self.relativeNames = relativeNames
    }

    /// The name without any attribute.
    public static let empty = TestName([])

    /// A name with only a common name.
    public static func commonName(_ value: String) -> TestName { TestName([Attribute(.commonName, value)]) }

    /// The DER of the name.
    public var der: [UInt8] { TestDER.sequence(relativeNames.map { TestDER.set($0.map(\.der)) }) }
}

extension TestName: ExpressibleByStringLiteral {
    /// Makes a name with only this common name.
    public init(stringLiteral value: String) {
        self = .commonName(value)
    }
}
