import Foundation
import HoldfastSigning
import HoldfastTesting

@testable import ServerApprovals
@testable import ServerFoundation

/// The folder of a trust server, as the published script leaves it, or `holdfastctl`.
enum OldTrustServer {
    /// Writes the folder of the customer `old`.
    /// - Parameters:
    ///   - key: the customer's key.
    ///   - certificates: those of the host.
    ///   - folder: where to.
    ///   - time: of the document.
    ///   - keys: the folder for the key: `data`, or `certs` where the script has made it.
    ///   - mode: of the key's file.
    static func write(
        _ key: TrustServerKey, _ certificates: [TestCertificate], in folder: URL, at time: Date, keys: String = "data",
        mode: Int = 0o600
    ) throws {
        for name in ["data", "certs", "output"] {
            try FileManager.default.createDirectory(
                at: folder.appending(path: name), withIntermediateDirectories: true)
        }
        let host = TrustServerHost(
            hostname: World.host, port: 443,
            fingerprints: certificates.map { "\(Digest(of: $0.der))".uppercased() },
            publicKeys: try certificates.map { Base64.encode(try $0.subjectPublicKeyInfo) }, validated: time)
        let document = try TrustServerDraft(customer: "old", hosts: [host], timestamp: time).signed(by: key)
        try document.write(to: folder.appending(path: "output/old.json.signed"))
        try key.certificate.write(to: folder.appending(path: "output/old.crt"))
        try Data("\(World.host):443\nforgotten.example.com:8443 # soon\n".utf8)
            .write(to: folder.appending(path: "data/old.domains"))
        let file = folder.appending(path: "\(keys)/old.key")
        try Data(key.privateKeyPEM.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
    }
}
