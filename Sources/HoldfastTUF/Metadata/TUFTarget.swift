/// A target that trusted metadata lists.
public struct TUFTarget: Sendable {
    /// Its name in the repository.
    public let name: String
    let description: FileDescription

    /// - Throws: ``TUFError`` `malformed` for a target without a hash by a known algorithm.
    init(name: String, description: FileDescription) throws(TUFError) {
        (self.name, self.description) = (name, description)
        try description.requireHash(subject: Array(name.utf8).quotedName)
    }

    /// Its length in bytes.
    public var length: Int { description.length ?? 0 }
    /// The target's hashes in lower-case hexadecimal, by the name of the algorithm: those of `sha256`, `sha384` and
    /// `sha512` that the metadata contains.
    public var hashes: [String: String] {
        Dictionary(description.hashes.map { ($0.algorithm.rawValue, HexText.text(of: $0.digest)) }) { first, _ in first
        }
    }

    var quotedName: String { Array(name.utf8).quotedName }
}
