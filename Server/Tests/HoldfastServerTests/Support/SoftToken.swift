import Foundation
import Testing

@testable import PinChanges
@testable import ServerApprovals
@testable import ServerFoundation

/// A token of SoftHSM.
struct SoftToken {
    // Debian and its like, Fedora, Homebrew on either kind of Mac.
    private static let module = [
        "/usr/lib/softhsm", "/usr/lib64/softhsm", "/usr/lib64/pkcs11", "/usr/local/lib/softhsm",
        "/opt/homebrew/lib/softhsm",
    ].map { "\($0)/libsofthsm2.so" }.first { FileManager.default.fileExists(atPath: $0) }

    static let isTested =
        ForeignProgram.areRequired
        || (module != nil && ["softhsm2-util", "pkcs11-tool", "openssl"].allSatisfy { ForeignProgram.find($0) != nil })

    /// The type of a key.
    enum Kind: String {
        case p256 = "EC:prime256v1"
        case rsa = "rsa:2048"

        /// A line of the shell that signs standard input: r and s side by side, or PKCS #1 v1.5.
        fileprivate func line(_ tool: String) -> String {
            switch self {
            case .p256: "openssl dgst -sha256 -binary | \(tool) --sign --mechanism ECDSA 2>/dev/null"
            case .rsa: "\(tool) --sign --mechanism SHA256-RSA-PKCS 2>/dev/null"
            }
        }
    }

    /// A key that never leaves the token.
    struct Key {
        /// A program that signs what it reads.
        let command: [String]
        /// DER of the SubjectPublicKeyInfo.
        let publicKey: [UInt8]
        fileprivate let name: String
    }

    private let place: URL
    private let begin: String

    init(in folder: URL) async throws {
        place = folder.appending(path: "token")
        try FileManager.default.createDirectory(
            at: place.appending(path: "tokens"), withIntermediateDirectories: true)
        try Data("directories.tokendir = \(place.path)/tokens\n".utf8).write(to: place.appending(path: "softhsm2.conf"))
        begin = "export SOFTHSM2_CONF='\(place.path)/softhsm2.conf' PIN=1234"
        try await run("softhsm2-util --init-token --free --label pins --pin 1234 --so-pin 5678")
    }

    /// Makes a key in the token.
    /// - Parameter id: two hexadecimal digits, another for each key.
    func makeKey(_ kind: Kind = .p256, id: String) async throws -> Key {
        let module = try #require(Self.module)
        let tool = "pkcs11-tool --module '\(module)' --token-label pins --login --pin env:PIN --id \(id)"
        let name = "key-\(id)"
        try await run(
            """
            \(tool) --keypairgen --key-type \(kind.rawValue) --label \(name)
            \(tool) --read-object --type pubkey --output-file \(name)
            openssl pkey -pubin -inform der -in \(name) -out \(name).pem
            openssl pkey -pubin -in \(name).pem -outform der -out \(name).der
            """)
        let script = place.appending(path: "sign-\(id)")
        try Data("\(begin)\n\(kind.line(tool))\n".utf8).write(to: script)
        return Key(
            command: [try ForeignProgram.required("sh").path, script.path],
            publicKey: Array(try Data(contentsOf: place.appending(path: "\(name).der"))), name: name)
    }

    /// The certificate that clients of a trust server are configured with: one of RSA that its own key in the token signed.
    func certificate(of key: Key, customer: String) async throws -> [UInt8] {
        // openssl signs it with a key that is thrown away, and the token's signature, as long, takes its place. It begins in
        // 2000, since clocks of tests stand where they like.
        try await run(
            """
            printf 'subjectKeyIdentifier=none\nauthorityKeyIdentifier=none\n' > extensions
            openssl req -new -newkey rsa:2048 -nodes -keyout other.key -subj /CN=\(customer) -out request
            openssl x509 -req -in request -signkey other.key -force_pubkey \(key.name).pem -days 3650 -sha256 \
                -extfile extensions -outform der -out other.cer
            LC_ALL=C sed "s/[0-9]\\{6\\}\\([0-9]\\{6\\}Z\\)/000101\\1/" other.cer > older.cer
            openssl asn1parse -inform der -in older.cer -strparse 4 -noout -out signed
            head -c -256 older.cer > \(key.name).cer
            '\(key.command.joined(separator: "' '"))' < signed >> \(key.name).cer
            """)
        return Array(try Data(contentsOf: place.appending(path: "\(key.name).cer")))
    }

    private func run(_ script: String) async throws {
        let (status, output) = try await ForeignProgram.run(
            ForeignProgram.required("bash"), ["-euo", "pipefail", "-c", "\(begin)\n\(script)"], in: place,
            withErrors: true)
        try #require(status == 0, "\(String(decoding: output, as: UTF8.self))")
    }
}
