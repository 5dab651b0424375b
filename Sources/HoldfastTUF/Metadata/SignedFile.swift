import Holdfast

/// A file of metadata, read and not yet verified (section 4.2).
package struct SignedFile: Sendable {
    /// As it was served; so it is kept.
    let octets: [UInt8]
    package let signed: JSONTree
    /// What the signatures are over.
    package let canonical: [UInt8]
    /// By key id. One that is no hexadecimal is empty, as those of keyholders who have not signed yet are.
    package let signatures: [[UInt8]: [UInt8]]

    /// - Throws: ``TUFError`` for what is no file of metadata.
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

    /// Of the longest RSA keys that are looked at.
    private static let signatureDigits = 2_048
}
