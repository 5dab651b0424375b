import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import Logging
import NIOSSL

/// An authority made on the spot, and what the examples need from it.
struct Stage {
    let authority: TestAuthority
    let anchors: TrustAnchors
    let server: TestCertificate

    init() throws {
        authority = try TestAuthority.root()
        anchors = try TrustAnchors(der: [authority.root])
        server = try authority.leaf(names: ["localhost", "127.0.0.1"])
    }

    /// The pins of the server's key and of one that is kept offline.
    func pins() throws -> (inUse: String, backup: String) {
        let spare = try authority.leaf(names: ["localhost"])
        return ("\(try Pin.publicKey(of: server.der))", "\(try Pin.publicKey(of: spare.der))")
    }

    /// The same name under the same authority, with another key.
    func impostor() throws -> TestCertificate { try authority.impersonate(server) }

    static func certificates(of certificate: TestCertificate) throws -> [NIOSSLCertificate] {
        try certificate.chain.map { try NIOSSLCertificate(bytes: $0, format: .der) }
    }

    static func key(of certificate: TestCertificate) throws -> NIOSSLPrivateKey {
        try NIOSSLPrivateKey(bytes: certificate.key.privateKeyDER, format: .der)
    }

    /// A test run logs nothing.
    static let logger = Logger(label: "examples") { _ in SwiftLogNoOpLogHandler() }
}
