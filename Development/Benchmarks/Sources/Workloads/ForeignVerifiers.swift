import COpenSSLVerifier
import SwiftASN1
import X509

/// Other verifiers on the same chains. Each has parsed its root before, as in a long-running process.
public enum ForeignVerifiers {
    /// OpenSSL's `X509_verify_cert`, including the parsing of the presented chain.
    public static func openSSL(_ chain: ChainMaterial) throws -> Workload {
        let verifier = try OpenSSLVerifier(root: chain.root)
        let certificates = chain.presented.flatMap { $0 }
        let lengths = chain.presented.map(\.count)
        let (host, time) = (chain.host.name, chain.unixTime)
        return Workload("OpenSSL X509_verify_cert") {
            try require(
                verifier.verifies(certificates, lengths: lengths, host: host, time: time), "OpenSSL refuses the chain")
        }
    }

    /// OpenSSL's verdict on a chain that it must refuse.
    public static func openSSL(refusing material: RefusedMaterial) throws -> Workload {
        guard let root = material.anchors.certificates.first else { throw WorkloadError("no anchor") }
        let verifier = try OpenSSLVerifier(root: root.der)
        let certificates = material.presented.flatMap { $0 }
        let lengths = material.presented.map(\.count)
        let (host, time) = (material.host.name, Int64(material.time.timeIntervalSince1970))
        return Workload("OpenSSL X509_verify_cert") {
            try require(
                !verifier.verifies(certificates, lengths: lengths, host: host, time: time), "OpenSSL takes the chain")
        }
    }

    /// The version of the OpenSSL that is measured.
    public static var openSSLVersion: String { String(cString: openssl_verifier_version()) }

    /// swift-certificates' `Verifier` with RFC 5280 and server identity, including the parsing of the presented chain.
    public static func swiftCertificates(_ chain: ChainMaterial) throws -> Workload {
        let roots = CertificateStore([try Certificate(derEncoded: chain.root)])
        let presented = chain.presented
        let host = chain.host.name
        return Workload("swift-certificates Verifier") { times in
            for _ in 0..<times {
                guard let first = presented.first else { return }
                let leaf = try Certificate(derEncoded: first)
                let others = CertificateStore(try presented.dropFirst().map { try Certificate(derEncoded: $0) })
                var verifier = Verifier(rootCertificates: roots) {
                    RFC5280Policy()
                    ServerIdentityPolicy(serverHostname: host, serverIP: nil)
                }
                let result = await verifier.validate(leaf: leaf, intermediates: others)
                guard case .validCertificate = result else { throw WorkloadError("swift-certificates: \(result)") }
            }
        }
    }
}

/// A root that OpenSSL holds.
private final class OpenSSLVerifier: Sendable {
    private nonisolated(unsafe) let handle: OpaquePointer

    init(root: [UInt8]) throws {
        guard let handle = openssl_verifier_new(root, root.count) else {
            throw WorkloadError("OpenSSL cannot read the root")
        }
        self.handle = handle
    }

    deinit { openssl_verifier_free(handle) }

    func verifies(_ certificates: [UInt8], lengths: [Int], host: String, time: Int64) -> Bool {
        openssl_verifier_verify(handle, certificates, lengths, lengths.count, host, time) == 1
    }
}
