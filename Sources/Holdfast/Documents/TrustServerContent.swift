/// The JSON inside a trust-server document, read and checked; its signer is checked elsewhere.
package struct TrustServerContent {
    /// The fields that are needed before the signer is checked. Fields before them are skipped, and those after them
    /// not read.
    package struct Head {
        /// The customer as written in the document; at most ``DocumentLimits/nameBytes`` bytes.
        package let customer: String
        /// The time of the document, in Unix seconds.
        package let timestamp: Int64

        package init(_ octets: [UInt8], limits: DocumentLimits) throws(DocumentError) {
            var reader = try StrictJSONReader(octets, maximumBytes: limits.bytes)
            var customer: String?
            var timestamp: Int64?
            try reader.beginObject()
            while customer == nil || timestamp == nil, let field = try reader.nextKey() {
                switch field {
                case "customer": customer = try reader.customer()
                case "timestamp": timestamp = try reader.timestamp()
                default: try reader.skipValue()
                }
            }
            guard let customer else { throw reader.missing("customer") }
            guard let timestamp else { throw reader.missing("timestamp") }
            self.customer = customer
            self.timestamp = timestamp
        }
    }

    package let entries: [TrustServerEntry]

    /// Reads the whole object, after its ``Head`` was read.
    package init(_ octets: [UInt8], limits: DocumentLimits) throws(DocumentError) {
        var reader = try StrictJSONReader(octets, maximumBytes: limits.bytes)
        var entries: [TrustServerEntry]?
        try reader.beginObject()
        while let field = try reader.nextKey() {
            guard field == "hashes" else {
                // Skips customer and timestamp: keys are unique, so these are the values that were read before.
                try reader.skipValue()
                continue
            }
            entries = try reader.list(atMost: limits.entries, of: "entries") { reader throws(DocumentError) in
                try reader.trustServerEntry()
            }
        }
        guard let entries else { throw reader.missing("hashes") }
        try reader.finish()
        self.entries = entries
    }
}

extension StrictJSONReader {
    fileprivate mutating func customer() throws(DocumentError) -> String {
        String(decoding: try octets(atMost: DocumentLimits.nameBytes), as: UTF8.self)
    }

    /// Reads the time at which a document was made, in seconds of Unix time.
    mutating func timestamp() throws(DocumentError) -> Int64 {
        let seconds = try integer()
        guard seconds >= 0 else { throw error(.invalidValue, "Unix seconds", "\(seconds)") }
        return seconds
    }

    fileprivate mutating func trustServerEntry() throws(DocumentError) -> TrustServerEntry {
        var hostname: String?
        var port: Int?
        var certificatePins: [Pin]?
        var publicKeyPins: [Pin]?
        try beginObject()
        while let key = try nextKey() {
            switch key {
            case "hostname": hostname = try hostName()
            case "port":
                if takeNull() { continue }
                port = try portNumber()
            case "fp": certificatePins = try pins { (reader) throws(DocumentError) in try reader.fingerprint() }
            case "pk": publicKeyPins = try pins { (reader) throws(DocumentError) in try reader.publicKey() }
            default: try skipValue()
            }
        }
        guard let hostname else { throw missing("hostname") }
        guard let certificatePins else { throw missing("fp") }
        guard let publicKeyPins else { throw missing("pk") }
        return TrustServerEntry(
            hostname: hostname, port: port, certificatePins: certificatePins, publicKeyPins: publicKeyPins)
    }

    private mutating func pins(
        _ read: (inout StrictJSONReader) throws(DocumentError) -> Pin
    ) throws(DocumentError) -> [Pin] {
        try list(atMost: DocumentLimits.pinsOfHost, of: "pins of a host", read)
    }

    /// Reads a port. The reference implementation writes it as a string.
    private mutating func portNumber() throws(DocumentError) -> Int {
        guard nextKind == .text else {
            let number = try integer()
            guard (1...65_535).contains(number) else { throw error(.invalidValue, Self.portRule, "\(number)") }
            return Int(clamping: number)
        }
        let text = try string()
        guard text.utf8.count <= 5, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text.utf8.first != 0x30,
            let number = Int(text, radix: 10), (1...65_535).contains(number)
        else { throw error(.invalidValue, Self.portRule, text.quoted) }
        return number
    }

    private static let portRule = "a port from 1 to 65535"

    private mutating func fingerprint() throws(DocumentError) -> Pin {
        let text = try string()
        guard text.utf8.count == 2 * Pin.digestLength, let pin = try? Pin("\(PinText.certificatePrefix)\(text)") else {
            throw error(.invalidValue, "a SHA-256 in \(2 * Pin.digestLength) hexadecimal digits", text.quoted)
        }
        return pin
    }

    private mutating func publicKey() throws(DocumentError) -> Pin {
        let der = try base64()
        do throws(CertificateError) {
            return try Pin.publicKey(spkiDER: der)
        } catch {
            throw self.error(.invalidValue, "the DER of a SubjectPublicKeyInfo", error.found)
        }
    }
}
