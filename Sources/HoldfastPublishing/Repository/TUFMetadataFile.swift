import Crypto
public import Foundation
import Holdfast
import HoldfastSigning
public import HoldfastTUF

/// A metadata file (section 4.2): not signed yet, signed by some of its keys, or by enough.
public struct TUFMetadataFile: Sendable {
    /// The content, as it is served and passed between keyholders.
    public let data: Data
    /// The role that it belongs to.
    public let role: TUFRole
    /// Its version.
    public let version: Int64
    /// The first instant at which it is no longer valid: the `expires` of the file.
    public let end: Date
    let file: SignedFile

    /// The SHA-256 of the file in hexadecimal, for people to compare.
    package var fingerprint: String { HexText.text(of: SHA256.hash(data: data)) }

    static let maximumBytes = TUFSettings.pythonTUF.targetsBytes

    /// Reads a file. It does not verify any signature.
    /// - Throws: `TUFError` if no client would accept the file, no matter who signed it.
    public init(_ data: Data) throws(TUFError) {
        let octets = [UInt8](data)
        let summary = try MetadataSummary(octets)
        file = try SignedFile(octets, maximumBytes: Self.maximumBytes)
        self.data = data
        role =
            switch summary.type {
            case "root": .root
            case "timestamp": .timestamp
            case "snapshot": .snapshot
            default: .targets
            }
        version = summary.version
        end = summary.expires
    }

    /// Combines content and signatures.
    /// - Parameters:
    ///   - signed: the content.
    ///   - signatures: the signatures by key id; empty ones are left out.
    init(_ signed: JSONTree, signatures: [[UInt8]: [UInt8]] = [:]) throws(TUFError) {
        let list = signatures.filter { !$0.value.isEmpty }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        let elements = list.map { id, signature in
            JSONTree(fields: ["keyid": .text(id[...]), "sig": JSONTree(text: HexText.text(of: signature))])
        }
        try self.init(Data(JSONTree(fields: ["signatures": .array(elements), "signed": signed]).json))
    }

    /// The content that the signatures cover.
    var signed: JSONTree { file.signed }

    /// Whether both have the same content, regardless of signatures.
    func saysTheSame(as other: TUFMetadataFile?) -> Bool { other.map { $0.file.canonical == file.canonical } ?? false }

    /// The key ids of the signatures, which are not verified.
    var keyIDs: Set<[UInt8]> { Set(file.signatures.filter { !$0.value.isEmpty }.keys) }

    /// Whether a key has signed the file.
    func isSigned(by key: TUFPublicKey) -> Bool {
        file.signatures[Array(key.id.utf8)].map { key.accepted($0, over: file.canonical) != nil } ?? false
    }

    /// A copy with the signatures of more keys. Existing signatures are kept.
    func signed(by keys: [TUFSigningKey]) throws(TUFRepositoryError) -> TUFMetadataFile {
        var signatures = file.signatures
        do {
            for key in keys { signatures[Array(key.publicKey.id.utf8)] = try key.signature(for: file.canonical) }
            return try TUFMetadataFile(signed, signatures: signatures)
        } catch let error as SigningError where error.code == .signerFailed || error.code == .wrongSignature {
            throw TUFRepositoryError(
                error.code == .signerFailed ? .signerFailed : .wrongSignature, of: role.rawValue,
                expected: error.expected, found: error.found, remedy: error.remedy)
        } catch {
            throw TUFRepositoryError(
                .cannotBeWritten, of: role.rawValue, expected: "\(role.rawValue) metadata that can be signed",
                found: "\(error)")
        }
    }

    /// Reads the file as root metadata.
    /// - Throws: `TUFError` if it is not root metadata.
    func root() throws(TUFError) -> RootMetadata { try RootMetadata(file) }
}

extension RootMetadata {
    /// The keys and the threshold of a role.
    func delegator(_ role: TUFRole) -> Delegator {
        switch role {
        case .root: root
        case .targets: targets
        case .snapshot: snapshot
        case .timestamp: timestamp
        }
    }
}
