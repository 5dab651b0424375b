import Crypto
import Holdfast

/// The length and the hashes that trusted metadata states for a file (sections 4.4, 4.5).
struct FileDescription: Sendable {
    enum Algorithm: String, Sendable, CaseIterable {
        case sha256, sha384, sha512

        fileprivate func digest(_ octets: [UInt8]) -> [UInt8] {
            switch self {
            case .sha256: Array(SHA256.hash(data: octets))
            case .sha384: Array(SHA384.hash(data: octets))
            case .sha512: Array(SHA512.hash(data: octets))
            }
        }
    }

    static let algorithms = "SHA-256, SHA-384 or SHA-512"

    let length: Int?
    /// The hashes by known algorithms, in the order in which they were served. A target without any of them can be
    /// listed but never used, because nothing would prove its content. It does not affect the other targets.
    let hashes: [(algorithm: Algorithm, digest: [UInt8])]
    /// Whether the hashes alone prove the content. Metadata has signatures too.
    private let needsHash: Bool

    /// - Parameter isTarget: whether both fields are required.
    init(_ fields: Fields, isTarget: Bool) throws(TUFError) {
        needsHash = isTarget
        length = isTarget || fields.has("length") ? Int(clamping: try fields.integer("length", atLeast: 0)) : nil
        guard isTarget || fields.has("hashes") else {
            hashes = []
            return
        }
        var known: [(Algorithm, [UInt8])] = []
        for member in try fields.object("hashes").members {
            guard case .text(let digits) = member.value else {
                throw fields.wrong("hashes", "texts", member.value.kind)
            }
            guard let algorithm = Algorithm.allCases.first(where: { member.key.elementsEqual($0.rawValue.utf8) }) else {
                continue
            }
            guard let digest = HexText.octets(of: digits), digest.count == algorithm.digest([]).count,
                HexText.text(of: digest).utf8.elementsEqual(digits)
            else { throw fields.wrong("hashes", "digests in lower-case hexadecimal", "another text") }
            known.append((algorithm, digest))
        }
        guard isTarget || !known.isEmpty else { throw fields.wrong("hashes", Self.algorithms, "none of them") }
        hashes = known
    }

    /// The digest before the file's name with consistent snapshots; any of the file's digests is correct (section 6.2).
    var prefix: String? { hashes.first.map { HexText.text(of: $0.digest) } }

    /// Requires a hash by a known algorithm if nothing else proves the content: without one, the server or the
    /// transport would choose the content of a signed target.
    /// - Throws: ``TUFError`` `malformed`.
    func requireHash(subject: String) throws(TUFError) {
        guard !needsHash || !hashes.isEmpty else {
            throw TUFError(.malformed, of: subject, section: "5.7", expected: Self.algorithms, found: "none of them")
        }
    }

    /// - Throws: ``TUFError`` `mismatch`; `malformed` for a target without a hash by a known algorithm.
    func verify(_ octets: [UInt8], subject: String, section: String) throws(TUFError) {
        try requireHash(subject: subject)
        if let length, octets.count != length {
            throw TUFError(
                .mismatch, of: subject, section: section, expected: "\(length) bytes", found: "\(octets.count)")
        }
        for (algorithm, digest) in hashes where algorithm.digest(octets) != digest {
            throw TUFError(
                .mismatch, of: subject, section: section,
                expected: "the \(algorithm.rawValue) \(HexText.text(of: digest))", found: "another")
        }
    }

    func matches(_ octets: [UInt8]) -> Bool {
        (try? verify(octets, subject: "", section: "")) != nil
    }
}

/// The entry for a metadata file in a timestamp or a snapshot (sections 4.4, 4.6).
struct MetadataDescription: Sendable {
    let version: Int64
    let file: FileDescription

    init(_ fields: Fields) throws(TUFError) {
        version = try fields.integer("version", atLeast: 1)
        file = try FileDescription(fields, isTarget: false)
    }
}
