import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation
@testable import ServerImport

/// The tables of a mobile utility server, and the CSV that PostgreSQL makes of them.
struct OldUtilityServer: Sendable {
    /// A row of `mus_certificate`.
    struct Certificate: Sendable {
        var domain = 1
        var fingerprint: String
        var expires: Int64
        var pem: String?
        var depth = 0
    }

    var name = "mobile"
    var displayName = "Mobile, \"the\" app"
    var privateKey: String
    var publicKey: String
    var domains = [World.host]
    /// The domains that need no pins, for the columns of version 2.0; nil for an earlier version.
    var bypassed: [String]?
    var certificates: [Certificate] = []

    init(_ key: SigningKey) throws {
        privateKey = key.exportedPrivateKey
        publicKey = try key.publicKey.base64
    }

    /// The server with the key of the vectors in FORMATS.md.
    static func withVectorKey() throws -> OldUtilityServer {
        try OldUtilityServer(SigningKey(exportedPrivateKey: "TqkO8z2fD4uCLn0S5IwbK0y8UN24cOVean+ndd3YiSo="))
    }

    mutating func add(_ certificate: TestCertificate, withPEM: Bool = true) throws {
        let read = try X509Certificate(der: certificate.der)
        certificates.append(
            Certificate(
                fingerprint: Base64.encode(Digest(of: certificate.der).bytes),
                expires: Int64(read.notAfter.timeIntervalSince1970),
                pem: withPEM ? TestCertificate.pem(certificate.der) : nil))
    }

    /// The files by the names of their tables.
    var tables: [(name: String, csv: String)] {
        func quoted(_ text: String) -> String { "\"\(text.replacing("\"", with: "\"\""))\"" }
        func needs(_ domain: String) -> String { bypassed.map { $0.contains(domain) ? ",f" : ",t" } ?? "" }
        func later(_ text: String) -> String { bypassed == nil ? "" : text }
        return [
            (
                "mus_mobile_app",
                "id,name,display_name,sign_private_key,sign_public_key\n"
                    + "7,\(name),\(quoted(displayName)),\(privateKey),\(publicKey)\n"
            ),
            (
                "mus_mobile_domain",
                "id,app_id,domain\(later(",ssl_pinning_required"))\n"
                    + domains.enumerated().map { "\($0 + 1),7,\($1)\(needs($1))\n" }.joined()
            ),
            (
                "mus_certificate",
                "id,fingerprint,expires,mobile_domain_id,pem\(later(",depth"))\n"
                    + certificates.enumerated().map { index, row in
                        "\(index + 1),\(row.fingerprint),\(row.expires),\(row.domain),\(row.pem.map(quoted) ?? "")\(later(",\(row.depth)"))\n"
                    }.joined()
            ),
        ]
    }

    /// All tables, each behind its name.
    var stream: [UInt8] { Array(tables.map { "\($0.name)\n\($0.csv)" }.joined().utf8) }

    func takeover(at now: Int64) throws(ServerError) -> Takeover {
        try MobileUtilityTables(stream: stream).takeover(at: now, refresh: 3_600)
    }

    /// Writes a file for each table.
    func write(to folder: URL, mode: Int = 0o600) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, csv) in tables {
            let file = folder.appending(path: "\(name).csv")
            try Data(csv.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        }
    }
}
