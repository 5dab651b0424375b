import Foundation
import Holdfast

/// An element of another system's XML configuration, with its line, so that a message can name the position of
/// something that is not understood.
struct ConfigurationElement {
    let name: String
    let attributes: [String: String]
    let line: Int
    let children: [ConfigurationElement]
    /// The text of the element, including CDATA sections. An element with child elements has only white space as text.
    let text: String

    /// Reads a document, and returns its outermost element.
    /// - Parameter wanted: the expected kind of document, for the error.
    static func document(_ data: Data, wanted: String) throws(PublishingError) -> ConfigurationElement {
        let bytes = [UInt8](data)
        try ConfigurationDeclarations.refuse(in: bytes)
        var parser = ConfigurationParser(bytes)
        do {
            return try parser.document()
        } catch {
            throw PinImport.failure("\(error.problem ?? "is not \(wanted), or ends early") (line \(error.line))")
        }
    }

    func isNamed(_ other: String) -> Bool { name.hasSameOctets(as: other) }

    /// An error about the element.
    func failure(_ what: String) -> PublishingError { PinImport.failure("\(what) (line \(line))") }

    /// The error for an element or an attribute with an unknown effect on pins.
    func unknown(_ what: String) -> PublishingError {
        failure("has \(what), which is not understood: remove it from a copy if pins do not depend on it")
    }

    /// The text of the element, if it has no child elements.
    func plainText() throws(PublishingError) -> String {
        guard children.isEmpty else { throw failure("has elements inside of \(name.quotedAddress)") }
        return text
    }
}

/// A document's own declarations can change anything: entities stand for texts, and attributes get defaults.
private enum ConfigurationDeclarations {
    private static let known = ["amp", "lt", "gt", "quot", "apos"]
    private static let longestName = 64

    static func refuse(in octets: [UInt8]) throws(PublishingError) {
        var line = 1
        guard String(strictUTF8: octets) != nil, !octets.contains(0) else {
            throw PinImport.failure("is not UTF-8; convert a copy of it")
        }
        for (index, octet) in octets.enumerated() {
            switch octet {
            case UInt8(ascii: "\n"): line += 1
            case UInt8(ascii: "<"):
                for declaration in ["<!ENTITY", "<!ATTLIST"] where octets[index...].starts(with: declaration.utf8) {
                    throw PinImport.failure("has declarations of its own (line \(line))")
                }
            case UInt8(ascii: "&"):
                let name = octets[(index + 1)...].prefix(longestName).prefix { isOfName($0) }
                guard !name.isEmpty, name.endIndex < octets.count, octets[name.endIndex] == UInt8(ascii: ";"),
                    !known.contains(where: { $0.utf8.elementsEqual(name) })
                else { continue }
                throw PinImport.failure("has a reference to a declaration (line \(line))")
            default: continue
            }
        }
    }

    private static func isOfName(_ octet: UInt8) -> Bool {
        octet >= 0x80 || (0x30...0x3A).contains(octet) || (0x61...0x7A).contains(octet | 0x20)
            || [0x2D, 0x2E, 0x5F].contains(octet)
    }
}
