import Foundation
import HoldfastTestSupport
import HoldfastTesting

/// Programs of others that agree with us or not.
enum ForeignPeer {
    static func opensslPSS(_ message: [UInt8], key: TestKey, salt: String) throws -> [UInt8] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (keyFile, messageFile, signature) = (
            folder.appending(path: "key"), folder.appending(path: "message"), folder.appending(path: "signature")
        )
        try Data(key.privateKeyPEM.utf8).write(to: keyFile)
        try Data(message).write(to: messageFile)
        let process = try ChildProcess(
            "/usr/bin/env",
            [
                "openssl", "dgst", "-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:\(salt)",
                "-sign", keyFile.path, "-out", signature.path, messageFile.path,
            ])
        while process.octets() != nil {}
        guard process.wait() == 0 else { throw CocoaError(.featureUnsupported) }
        return Array(try Data(contentsOf: signature))
    }
}
