import Foundation

@testable import Holdfast

/// Signed messages (CMS) and a trust server's signed content, as they are read before any signature is verified.
func examineMessage(_ input: [UInt8]) {
    if let der = try? CMSEncoding.der(of: input) {
        require((try? CMSEncoding.der(of: der)) == der, "DER stays as it is")
    }
    if let message = try? CMSSignedData(input, allowsLegacyDigests: true) {
        require(message.certificates.count <= CMSSignedData.certificates, "certificates are bounded")
        require(message.content.upperBound <= message.bytes.count, "the content is in the message")
        let again = try? CMSSignedData(message.bytes, allowsLegacyDigests: true)
        require(again?.bytes == message.bytes && again?.content == message.content, "one message, read twice")
    }
    let limits = DocumentLimits(bytes: 65_536, entries: 100)
    if let content = try? TrustServerContent(input, limits: limits) {
        require(content.entries.count <= limits.entries, "entries are bounded")
    }
    if let head = try? TrustServerContent.Head(input, limits: limits) {
        require(head.timestamp >= 0, "a time is Unix seconds")
        require(head.customer.utf8.count <= DocumentLimits.nameBytes, "a customer's name is short")
    }
}
