#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("Signing keys", .timeLimit(.minutes(15)))
struct SigningKeyTests {
    private let password = Array("correct horse 🐴".utf8)

    /// The private key of the published vectors, in its export form.
    private static let exported = "TqkO8z2fD4uCLn0S5IwbK0y8UN24cOVean+ndd3YiSo="
    private static let publicKey =
        "BC3kV9OIDnMuVoCdDR9nEA/JidJLTTDLuSA2TSZsGgODSshfbZg31MS90WC/HdbU/A5WL5GmyDkE/iks6INv+XE="

    private func code(_ body: () throws(SigningError) -> Void) -> SigningError.Code? {
        do throws(SigningError) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    @Test("The published test key has the published public key, and is exported as it was read")
    func vector() throws {
        let key = try SigningKey(exportedPrivateKey: Self.exported)
        #expect(try key.publicKey.base64 == Self.publicKey)
        #expect(key.exportedPrivateKey == Self.exported)
    }

    @Test(
        "A number of 31 or 33 octets, as Java writes it, is the key of 32",
        arguments: [0x00, 0x01, 0x7F, 0x80, 0xC0] as [UInt8])
    func lengths(first: UInt8) throws {
        let number = [first] + (1...31).map { UInt8($0) }
        let java =
            switch first {
            case 0: Array(number.dropFirst())
            case 0x80...: [0] + number
            default: number
            }
        let text = Data(java).base64EncodedString()
        let key = try SigningKey(exportedPrivateKey: text)
        #expect(key.exportedPrivateKey == text)
        // Padded to 32 bytes it is the same key.
        #expect(try SigningKey(exportedPrivateKey: Data(number).base64EncodedString()).publicKey == key.publicKey)
    }

    @Test(
        "What is no number of a key is refused",
        arguments: [
            "", "AA==", "not Base64", Data(repeating: 0, count: 32).base64EncodedString(),
            Data(repeating: 0xFF, count: 32).base64EncodedString(), Data(repeating: 1, count: 33).base64EncodedString(),
            Data([0] + [0] + [UInt8](repeating: 1, count: 32)).base64EncodedString(),
        ])
    func otherNumbers(text: String) {
        #expect(code { () throws(SigningError) in _ = try SigningKey(exportedPrivateKey: text) } == .invalidNumber)
    }

    @Test("A key survives its file, encrypted and not, and its description says nothing")
    func roundTrip() throws {
        let key = SigningKey()
        let publicKey = try key.publicKey
        #expect(try SigningKey(pem: key.pem).publicKey == publicKey)
        let encrypted = try key.pem(password: password, rounds: 1_000)
        #expect(encrypted.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
        #expect(try SigningKey(pem: encrypted, password: password).publicKey == publicKey)
        #expect(try key.pem(password: password, rounds: 1_000) != encrypted)
        #expect("\(key)" == "a private key")
    }

    @Test("A wrong password, none, and other files are told apart")
    func otherFiles() throws {
        let key = SigningKey()
        let encrypted = try key.pem(password: password, rounds: 1_000)
        #expect(code { () throws(SigningError) in _ = try SigningKey(pem: encrypted) } == .passwordNeeded)
        for wrong in ["", "correct horse", "x"] {
            #expect(
                code { () throws(SigningError) in _ = try SigningKey(pem: encrypted, password: Array(wrong.utf8)) }
                    == .wrongPassword)
        }
        #expect(code { () throws(SigningError) in _ = try SigningKey(pem: "junk") } == .notAKeyFile)
        #expect(code { () throws(SigningError) in _ = try key.pem(password: []) } == .passwordNeeded)
        #expect(code { () throws(SigningError) in _ = try key.pem(password: [1], rounds: 0) } == .unsupportedEncryption)
        let certificate = try TestAuthority.root().certificate.pem
        #expect(code { () throws(SigningError) in _ = try SigningKey(pem: certificate) } == .notAKeyFile)
        let other = try TestKey(.p384).privateKeyPEM
        #expect(code { () throws(SigningError) in _ = try SigningKey(pem: other) } == .unsupportedKey)
    }

    @Test("openssl opens our encrypted key and has its public key", .needs(.openSSL))
    func opensslReads() async throws {
        try await withTemporaryFolder { folder in
            let key = SigningKey()
            try Data(try key.pem(password: Array("secret".utf8)).utf8).write(to: folder.appending(path: "key.pem"))
            let output = try await OpenSSLProgram.run(
                ["pkey", "-in", "key.pem", "-passin", "pass:secret", "-out", "plain.pem"], in: folder)
            #expect(output.status == 0, "\(output.text)")
            let plain = try String(contentsOf: folder.appending(path: "plain.pem"), encoding: .utf8)
            #expect(try SigningKey(pem: plain).publicKey == key.publicKey)
            let parsed = try await OpenSSLProgram.run(["asn1parse", "-in", "key.pem"], in: folder)
            for name in ["PBES2", "PBKDF2", "hmacWithSHA256", "aes-128-cbc"] { #expect(parsed.text.contains(name)) }
        }
    }

    @Test(
        "We open what openssl encrypts, with the ciphers and functions that are in use",
        .needs(.openSSL),
        arguments: [
            ["-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA256"], ["-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA256"],
            ["-v2", "aes-128-cbc", "-v2prf", "hmacWithSHA1", "-iter", "100000"], [],
        ])
    func opensslWrites(options: [String]) async throws {
        try await withTemporaryFolder { folder in
            let key = SigningKey()
            try Data(key.pem.utf8).write(to: folder.appending(path: "plain.pem"))
            let output = try await OpenSSLProgram.run(
                ["pkcs8", "-topk8", "-in", "plain.pem", "-out", "key.pem", "-passout", "pass:secret"] + options,
                in: folder)
            #expect(output.status == 0, "\(output.text)")
            let pem = try String(contentsOf: folder.appending(path: "key.pem"), encoding: .utf8)
            #expect(try SigningKey(pem: pem, password: Array("secret".utf8)).publicKey == key.publicKey)
        }
    }

    @Test(
        "An encryption that nobody should use is named, not tried", .needs(.openSSL),
        arguments: [
            ["-v2", "des3"], ["-scrypt"],
        ])
    func otherEncryption(options: [String]) async throws {
        try await withTemporaryFolder { folder in
            try Data(SigningKey().pem.utf8).write(to: folder.appending(path: "plain.pem"))
            let output = try await OpenSSLProgram.run(
                ["pkcs8", "-topk8", "-in", "plain.pem", "-out", "key.pem", "-passout", "pass:secret"] + options,
                in: folder)
            #expect(output.status == 0, "\(output.text)")
            let pem = try String(contentsOf: folder.appending(path: "key.pem"), encoding: .utf8)
            #expect(
                code { () throws(SigningError) in _ = try SigningKey(pem: pem, password: Array("secret".utf8)) }
                    == .unsupportedEncryption)
        }
    }

    @Test("A key of openssl's own is read, in SEC 1 and in PKCS #8", .needs(.openSSL))
    func opensslKeys() async throws {
        try await withTemporaryFolder { folder in
            for arguments in [
                ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem"],
                ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "key.pem"],
            ] {
                _ = try await OpenSSLProgram.run(arguments, in: folder)
                let pem = try String(contentsOf: folder.appending(path: "key.pem"), encoding: .utf8)
                _ = try SigningKey(pem: pem).publicKey
            }
        }
    }

    @Test("openssl verifies our signature, and we verify openssl's", .needs(.openSSL))
    func signatures() async throws {
        try await withTemporaryFolder { folder in
            let key = SigningKey()
            let entry = try FingerprintEntry(
                name: "www.example.com", pin: Pin.certificate([1]), expires: 2_000_000_000)
            try Data(key.pem.utf8).write(to: folder.appending(path: "key.pem"))
            try Data(entry.signedBytes).write(to: folder.appending(path: "message"))
            try Data(try key.signature(for: entry.signedBytes)).write(to: folder.appending(path: "ours"))
            let verified = try await OpenSSLProgram.run(
                ["dgst", "-sha256", "-prverify", "key.pem", "-signature", "ours", "message"], in: folder)
            #expect(verified.status == 0, "\(verified.text)")
            let signed = try await OpenSSLProgram.run(
                ["dgst", "-sha256", "-sign", "key.pem", "-out", "theirs", "message"], in: folder)
            #expect(signed.status == 0, "\(signed.text)")
            let signature = try Data(contentsOf: folder.appending(path: "theirs")).base64EncodedString()
            let list = Data(
                #"{"fingerprints":[{"name":"www.example.com","fingerprint":"\#(entry.fingerprint)","expires":2000000000,"signature":"\#(signature)"}]}"#
                    .utf8)
            #expect(try FingerprintList(verifying: list, with: key.publicKey).entries == [entry])
        }
    }
}
#endif
