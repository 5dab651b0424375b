public import Foundation
import Holdfast
public import HoldfastTUF

/// A file of metadata (section 4.2): signed by nobody yet, by some of its keys or by enough.
public struct TUFMetadataFile: Sendable {
    /// The octets, as they are served and passed around.
    public let data: Data
    /// Whose it is.
    public let role: TUFRole
    /// Its version.
    public let version: Int64
    /// The instant from which on it has expired.
    public let expires: Date
    let file: SignedFile

    static let maximumBytes = TUFSettings.pythonTUF.targetsBytes

    /// Reads a file, without asking who signed it.
    /// - Throws: `TUFError` for what no client accepts, whoever signed it.
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
        expires = summary.expires
    }

    /// Puts signatures to a content.
    /// - Parameters:
    ///   - signed: the content.
    ///   - signatures: by key id.
    init(_ signed: JSONTree, signatures: [[UInt8]: [UInt8]] = [:]) throws(TUFError) {
        let list = signatures.filter { !$0.value.isEmpty }.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        let elements = list.map { id, signature in
            JSONTree(fields: ["keyid": .text(id[...]), "sig": JSONTree(text: HexText.text(of: signature))])
        }
        try self.init(Data(JSONTree(fields: ["signatures": .array(elements), "signed": signed]).json))
    }

    /// The content that the signatures are over.
    var signed: JSONTree { file.signed }

    /// Whether both say the same, whoever signed them.
    func saysTheSame(as other: TUFMetadataFile?) -> Bool { other.map { $0.file.canonical == file.canonical } ?? false }

    /// The ids of the keys that signed, by their own word.
    var keyIDs: Set<[UInt8]> { Set(file.signatures.filter { !$0.value.isEmpty }.keys) }

    /// The same with signatures of more keys; those that have signed already stay.
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

    /// What a client reads in a root.
    /// - Throws: `TUFError` where it is none.
    func root() throws(TUFError) -> RootMetadata { try RootMetadata(file) }
}

extension RootMetadata {
    /// Who signs a role.
    func delegator(_ role: TUFRole) -> Delegator {
        switch role {
        case .root: root
        case .targets: targets
        case .snapshot: snapshot
        case .timestamp: timestamp
        }
    }
}
