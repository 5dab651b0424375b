import Holdfast

/// A metadata file that was read but not yet verified (section 4.2).
package struct SignedFile: Sendable {
    /// The file as it was served, which is also how it is stored.
    let octets: [UInt8]
    package let signed: JSONTree
    /// The bytes that the signatures cover: canonical JSON.
    package let canonical: [UInt8]
    /// Signatures by key id. A signature is empty if it is not hexadecimal, or if the keyholder has not signed yet.
    package let signatures: [[UInt8]: [UInt8]]

    /// - Throws: ``TUFError`` if it is not a metadata file.
    package init(_ octets: [UInt8], maximumBytes: Int) throws(TUFError) {
        var comparisons = 0
        let tree = try JSONTree(octets, maximumBytes: maximumBytes, comparisons: &comparisons)
        let file = try Fields(tree, "metadata")
        guard let signed = tree["signed"] else { throw file.wrong("signed", "an object") }
        var signatures: [[UInt8]: [UInt8]] = [:]
        for element in try file.array("signatures") {
            let fields = try Fields(element, "signature")
            let id = Array(try fields.text("keyid"))
            guard signatures[id] == nil else {
                throw TUFError(
                    .duplicateSignature, section: "4.2.1", expected: "each key id once among the signatures",
                    found: "\(id.quotedName) twice")
            }
            let digits = try fields.text("sig")
            signatures[id] = digits.count <= Self.signatureDigits ? HexText.octets(of: digits) ?? [] : []
        }
        self.octets = octets
        self.signed = signed
        self.signatures = signatures
        canonical = signed.canonical
    }

    /// The longest signature in hexadecimal digits: that of an RSA key with 8192 bits.
    private static let signatureDigits = 2_048
}
