import Foundation
import Holdfast
import HoldfastCompatibility
import HoldfastSigning

/// A store with its document on disk, of any length: to measure the memory of a store.
///
/// Signing and verifying a million entries would take minutes, and leaves nothing in memory: here every signature is
/// the same, and a crypto provider that accepts all signatures replaces the verifier.
public struct StoredList: Sendable {
    private let count: Int
    private let folder: URL

    /// A list of this number of entries, stored in a folder.
    public init(entries count: Int, in folder: URL) {
        self.count = count
        self.folder = folder
    }

    /// Writes it as a store does after a download.
    public func write() async throws {
        let key = SigningKey()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try key.publicKey.base64.write(to: publicKeyFile, atomically: true, encoding: .utf8)
        let signature = try key.signature(for: [])
        let document = StoreWorkloads.document(entries: count, signature: Data(signature))
        _ = try await store(FixedProvider(document: document)).update()
    }

    /// A store that reads it.
    public func read() throws -> any Sendable {
        let store = try store(FixedProvider(document: Data()))
        try require(store.entryCount == count, "\(store.entryCount) entries instead of \(count)")
        return store
    }

    /// A store reads only what was stored under its own public key, and another process reads what this one writes.
    private var publicKeyFile: URL { folder.appending(path: "public-key") }

    private func store(_ provider: FixedProvider) throws -> CertStore {
        var configuration = CertStoreConfiguration(
            serviceURL: try StoreWorkloads.url(), publicKey: try String(contentsOf: publicKeyFile, encoding: .utf8),
            identifier: "memory")
        configuration.limits.entries = 2_000_000
        configuration.limits.bytes = 1 << 30
        return CertStore(
            configuration: configuration, cryptoProvider: CredulousProvider(),
            secureDataStore: FileDataStore(folder: folder, maximumBytes: 1 << 30), remoteDataProvider: provider)
    }
}

/// Accepts every signature.
private struct CredulousProvider: CryptoProvider {
    private let real = SwiftCryptoProvider()

    func ecdsaValidateSignatures(signedData: SignedData, publicKey: any ECPublicKey) -> Bool { true }
    func importECPublicKey(publicKey: Data) -> (any ECPublicKey)? { real.importECPublicKey(publicKey: publicKey) }
    func hashSha256(data: Data) -> Data { real.hashSha256(data: data) }
    func getRandomData(length: Int) -> Data { real.getRandomData(length: length) }
}
