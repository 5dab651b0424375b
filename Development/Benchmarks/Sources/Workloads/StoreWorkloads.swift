import Crypto
import Foundation
import Holdfast
import HoldfastCompatibility
import HoldfastSigning

/// Stores of pins from a document.
public enum StoreWorkloads {
    private static let expires: Int64 = 4_000_000_000

    private static func name(_ index: Int) -> String { "host-\(index).example.com" }

    /// The fingerprint of the entry at `index`.
    private static func fingerprint(_ index: Int) -> Data {
        withUnsafeBytes(of: UInt64(index)) { Data(SHA256.hash(data: $0)) }
    }

    /// JSON of a list, unsigned as an application ships one, or with one signature for all.
    static func document(entries count: Int, signature: Data? = nil) -> Data {
        var json = Data()
        json.reserveCapacity(count * 256)
        let signed = signature.map { #","signature":"\#($0.base64EncodedString())""# } ?? ""
        json.append(contentsOf: Data(#"{"fingerprints":["#.utf8))
        for index in 0..<count {
            let text =
                #"{"name":"\#(name(index))","fingerprint":"\#(fingerprint(index).base64EncodedString())","#
                + #""expires":\#(expires)\#(signed)}"#
            json.append(contentsOf: Data((index == 0 ? text : "," + text).utf8))
        }
        json.append(contentsOf: Data("]}".utf8))
        return json
    }

    private static func store(_ document: Data) throws -> CertStore {
        var configuration = CertStoreConfiguration(
            serviceURL: try url(), publicKey: try SigningKey().publicKey.base64, identifier: "benchmark",
            fallbackCertificatesData: document)
        configuration.limits.entries = 2_000_000
        configuration.limits.bytes = 1 << 30
        return try CertStore(checking: configuration, secureDataStore: InMemoryDataStore())
    }

    /// Evaluating a fingerprint by name in a store of this number of entries.
    public static func lookup(entries count: Int) throws -> Workload {
        let store = try store(document(entries: count))
        try require(store.entryCount == count, "\(store.entryCount) entries instead of \(count)")
        let asked = (0..<4_096).map { index in
            let place = index &* 7_919 &* 131 % count
            return (name: name(place), fingerprint: fingerprint(place))
        }
        return Workload("store of \(count.formatted()) entries") { times in
            for index in 0..<times {
                let one = asked[index % asked.count]
                try require(
                    store.validate(commonName: one.name, fingerprint: one.fingerprint) == .trusted, "not trusted")
            }
        }
    }

    /// Entries, their signatures, and the bare work of verifying these.
    public struct SignedList: Sendable {
        private let document: Data
        private let key: SigningKey
        private let signatures: [(message: [UInt8], signature: [UInt8])]
        private let count: Int

        /// Signs a list of this number of entries.
        public init(entries count: Int) throws {
            let key = SigningKey()
            let entries = try (0..<count).map { index in
                try FingerprintEntry(
                    name: name(index), pin: try Pin(subject: .certificate, digest: fingerprint(index)),
                    until: Date(timeIntervalSince1970: Double(expires + 1)))
            }
            self.key = key
            self.count = count
            document = try PinListDraft(entries).signed(by: key)
            signatures = try entries.map { ($0.signedBytes, try key.signature(for: $0.signedBytes)) }
        }

        /// One P-256 verification for each entry, one after the other on one core.
        public func bareVerifications() throws -> Workload {
            let octets = Data(base64Encoded: try key.publicKey.base64) ?? Data()
            let key = try P256.Signing.PublicKey(x963Representation: octets)
            let signatures = signatures
            return Workload("\(count.formatted()) bare P-256 verifications, one core") {
                for (message, signature) in signatures {
                    let value = try P256.Signing.ECDSASignature(derRepresentation: signature)
                    try require(key.isValidSignature(value, for: SHA256.hash(data: message)), "a bad signature")
                }
            }
        }

        /// Making a store that has the list on disk: reading, verifying, indexing.
        /// - Parameter folder: the folder of the store.
        public func coldStart(in folder: URL) async throws -> Workload {
            let configuration = CertStoreConfiguration(
                serviceURL: try url(), publicKey: try key.publicKey.base64, identifier: "benchmark")
            let storage = FileDataStore(folder: folder)
            let provider = FixedProvider(document: document)
            let first = try CertStore(
                checking: configuration, secureDataStore: storage, remoteDataProvider: provider)
            _ = try await first.update()
            let count = count
            return Workload("store with \(count.formatted()) entries on disk, cold start", clock: .wall) {
                let store = try CertStore(
                    checking: configuration, secureDataStore: storage, remoteDataProvider: provider)
                try require(store.entryCount == count, "\(store.entryCount) entries")
            }
        }

        /// Reading and verifying the whole list.
        public func verification() throws -> Workload {
            let (document, key, count) = (document, try key.publicKey, count)
            return Workload("list of \(count.formatted()) entries, read and verified", clock: .wall) {
                let list = try FingerprintList(verifying: document, with: key)
                try require(list.entries.count == count, "\(list.entries.count) entries")
            }
        }
    }

    static func url() throws -> URL {
        guard let url = URL(string: "https://pins.example.com/list.json") else { throw WorkloadError("no URL") }
        return url
    }
}

/// Answers with one document.
struct FixedProvider: RemoteDataProvider {
    let document: Data

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        RemoteDataResponse(.body(document))
    }
}
