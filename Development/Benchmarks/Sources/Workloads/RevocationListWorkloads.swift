import COpenSSLVerifier
import Foundation
import Holdfast
import HoldfastTesting
import Logging
import SwiftASN1

/// A revocation list of any length. Reading does not verify it, so its signature is a dummy.
public struct RevocationListWorkloads: Sendable {
    private let der: [UInt8]
    private let entries: Int

    /// A list of this number of entries, with serial numbers of 16 bytes.
    public init(entries: Int) throws {
        self.entries = entries
        var serializer = DER.Serializer()
        let algorithm: ASN1ObjectIdentifier = [1, 2, 840, 10_045, 4, 3, 2]
        func sequence(_ serializer: inout DER.Serializer, _ body: (inout DER.Serializer) throws -> Void) throws {
            try serializer.appendConstructedNode(identifier: .sequence, body)
        }
        func time(_ serializer: inout DER.Serializer, _ text: String) {
            serializer.appendPrimitiveNode(identifier: .utcTime) { $0.append(contentsOf: text.utf8) }
        }
        try sequence(&serializer) { list in
            try sequence(&list) { fields in
                try fields.serialize(1)
                try sequence(&fields) { try $0.serialize(algorithm) }
                try sequence(&fields) { _ in }
                time(&fields, "260101000000Z")
                time(&fields, "270101000000Z")
                try sequence(&fields) { revoked in
                    for number in 0..<entries {
                        try sequence(&revoked) { entry in
                            entry.appendPrimitiveNode(identifier: .integer) {
                                $0.append(contentsOf: Self.serialNumber(number))
                            }
                            time(&entry, "250101000000Z")
                        }
                    }
                }
            }
            try sequence(&list) { try $0.serialize(algorithm) }
            list.appendPrimitiveNode(identifier: .bitString) { $0.append(0) }
        }
        der = serializer.serializedBytes
    }

    /// The length of its DER.
    public var byteCount: Int { der.count }

    /// Distributed like an authority's random numbers.
    private static func serialNumber(_ number: Int) -> [UInt8] {
        var state = UInt64(number) ^ 0x5DEE_CE66_D1CE_4E5B
        var octets: [UInt8] = [0x11]
        for _ in 0..<15 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            octets.append(UInt8(truncatingIfNeeded: state >> 24))
        }
        return octets
    }

    /// Reads the list.
    public func reading() -> Workload {
        Workload("read a list of \(entries) entries") { [der] in
            let list = try CertificateRevocationList(der: der)
            consume(list)
        }
    }

    /// OpenSSL's `d2i_X509_CRL` of the list.
    public func openSSLReading() -> Workload {
        Workload("read a list of \(entries) entries, OpenSSL") { [der] in
            guard let list = openssl_revocation_list_new(der, der.count) else {
                throw WorkloadError("OpenSSL reads none")
            }
            openssl_revocation_list_free(list)
        }
    }

    /// Looks up numbers all over the list, which is read before.
    public func lookup() throws -> Workload {
        let list = try CertificateRevocationList(der: der)
        let serials = Self.sample(of: entries)
        return Workload("look up in a list of \(entries) entries") { times in
            for time in 0..<times {
                try require(list.lists(serials[time % serials.count][...]), "a number that is listed is not found")
            }
        }
    }

    /// OpenSSL's `X509_CRL_get0_by_serial`, of the same list.
    public func openSSLLookup() throws -> Workload {
        let list = OpenSSLList(der)
        let serials = Self.sample(of: entries)
        return Workload("look up in a list of \(entries) entries, OpenSSL") { times in
            for time in 0..<times {
                let serial = serials[time % serials.count]
                try require(
                    openssl_revocation_list_lists(list.pointer, serial, serial.count) == 1,
                    "OpenSSL does not find a number")
            }
        }
    }

    /// The work of a store on a downloaded list that a stranger signed: it reads none of its entries.
    public static func refusal(entries: Int) throws -> (workload: Workload, byteCount: Int) {
        let authority = try TestAuthority.root()
        let stranger = try TestKey()
        let list = Data(
            try authority.revocationList {
                $0.serialNumbers = (0..<entries).map(serialNumber)
                $0.signer = stranger
            })
        guard let url = URL(string: "http://lists.example.com/1.crl") else { throw WorkloadError("no URL") }
        var configuration = RevocationConfiguration(authorities: [
            .init(certificate: try X509Certificate(der: authority.root), urls: [url])
        ])
        configuration.remoteDataProvider = Served(list: list)
        configuration.secureDataStore = InMemoryDataStore()
        let quiet = Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
        let store = try RevocationStore(configuration: configuration, logger: quiet)
        let name = "refuse a downloaded list of \(entries.formatted()) entries that a stranger signed"
        let workload = Workload(name, clock: .wall) { times in
            for _ in 0..<times {
                do throws(StoreError) {
                    _ = try await store.update(mode: .forced)
                } catch {
                    try require(error.code == .invalidSignature, "it is refused with \(error.code)")
                    continue
                }
                throw WorkloadError("it is taken")
            }
        }
        return (workload, list.count)
    }

    private static func sample(of entries: Int) -> [[UInt8]] {
        (0..<4_096).map { serialNumber($0 * 7_919 % entries) }
    }

    /// Reads it and keeps it, to measure its memory.
    public func read() throws -> any Sendable { try CertificateRevocationList(der: der) }
}

private final class OpenSSLList: Sendable {
    // OpenSSL's list is only read after it is made.
    nonisolated(unsafe) let pointer: OpaquePointer?

    init(_ der: [UInt8]) { pointer = openssl_revocation_list_new(der, der.count) }

    deinit { openssl_revocation_list_free(pointer) }
}

/// Answers every request with one list.
private struct Served: RemoteDataProvider {
    let list: Data

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse { RemoteDataResponse(.body(list)) }
}
