import Foundation
import Testing

@testable import HoldfastServer

/// A token of SoftHSM with a key of P-256.
struct SoftToken {
    // Debian and its like, Fedora, Homebrew on either kind of Mac.
    private static let module = [
        "/usr/lib/softhsm", "/usr/lib64/softhsm", "/usr/lib64/pkcs11", "/usr/local/lib/softhsm",
        "/opt/homebrew/lib/softhsm",
    ].map { "\($0)/libsofthsm2.so" }.first { FileManager.default.fileExists(atPath: $0) }

    static let isTested =
        ForeignProgram.areRequired
        || (module != nil && ["softhsm2-util", "pkcs11-tool", "openssl"].allSatisfy { ForeignProgram.find($0) != nil })

    /// A program that signs what it reads: r and s side by side.
    let command: [String]
    /// DER of the SubjectPublicKeyInfo.
    let publicKey: [UInt8]

    init(in folder: URL) async throws {
        let place = folder.appending(path: "token")
        try FileManager.default.createDirectory(
            at: place.appending(path: "tokens"), withIntermediateDirectories: true)
        try Data("directories.tokendir = \(place.path)/tokens\n".utf8).write(to: place.appending(path: "softhsm2.conf"))
        let tool =
            "pkcs11-tool --module '\(try #require(Self.module))' --token-label pins --login --pin env:PIN --id 01"
        let begin = "export SOFTHSM2_CONF='\(place.path)/softhsm2.conf' PIN=1234"
        let (status, output) = try await ForeignProgram.run(
            ForeignProgram.required("bash"),
            [
                "-euo", "pipefail", "-c",
                """
                \(begin)
                softhsm2-util --init-token --free --label pins --pin 1234 --so-pin 5678
                \(tool) --keypairgen --key-type EC:prime256v1 --label pins
                \(tool) --read-object --type pubkey --output-file key
                openssl pkey -pubin -inform der -in key -outform der -out public.der
                """,
            ], in: place, withErrors: true)
        try #require(status == 0, "\(String(decoding: output, as: UTF8.self))")
        publicKey = Array(try Data(contentsOf: place.appending(path: "public.der")))
        let script = place.appending(path: "sign")
        try Data(
            "\(begin)\nopenssl dgst -sha256 -binary | \(tool) --sign --mechanism ECDSA 2>/dev/null\n".utf8
        ).write(to: script)
        command = [try ForeignProgram.required("sh").path, script.path]
    }
}
