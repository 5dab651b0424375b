import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@Suite("Files of other kinds", .timeLimit(.minutes(15)))
struct ForeignFileTests {
    @Test(
        "Each is named, and the command that is told makes a file of it that can be read",
        .needs(.openSSL),
        arguments: [
            ("PKCS #12", "openssl pkcs12 -export -in leaf.pem -inkey key.pem -passout pass: -out it"),
            ("PKCS #7", "openssl crl2pkcs7 -nocrl -certfile leaf.pem -out it"),
            ("PKCS #7", "openssl crl2pkcs7 -nocrl -certfile leaf.pem -outform DER -out it"),
            ("trust settings", "openssl x509 -in leaf.pem -trustout -out it"),
            ("encrypted private key", "openssl pkcs8 -topk8 -in key.pem -passout pass:x -out it"),
            ("encrypted private key", "openssl ec -in key.pem -aes128 -passout pass:x -out it"),
        ])
    func conversion(name: String, making: String) async throws {
        try await withTemporaryFolder { folder in
            let leaf = try TestAuthority.root().leaf(names: ["www.example.com"])
            try Data(leaf.pem.utf8).write(to: folder.appending(path: "leaf.pem"))
            try Data(leaf.key.privateKeyPEM.utf8).write(to: folder.appending(path: "key.pem"))
            let made = try await CommandRun.shell("\(making) && mv it 'a file'", in: folder)
            #expect(made.status == 0, "\(made.errors)")
            let run = try await CommandRun.inProcess(["pin", "./a file"], in: folder)
            #expect(run.status == 3 && run.output.isEmpty && run.errors.contains(name), "\(run.errors)")
            let command = try #require(run.errors.firstRange(of: "openssl ").map { run.errors[$0.lowerBound...] })
                .trimmingCharacters(in: .newlines)
            let password = command.contains("pkcs12") ? " -passin pass:" : " -passin pass:x"
            let needsPassword = command.contains("pkcs12") || command.contains("pkey")
            let script =
                "\(command)\(needsPassword ? password : "") && \"$HOLDFASTCTL\" pin \(command.split(separator: " ").last ?? "")"
            let converted = try await CommandRun.shell(script, in: folder)
            #expect(converted.status == 0, "\(converted.errors)")
            #expect(converted.output.contains(try Pin.publicKey(of: leaf.der).description))
        }
    }

    @Test(
        "What openssl does not make is named too",
        arguments: [
            ("", "is empty"), (" \r\n\t\n", "is empty"),
            (
                "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n",
                "ssh-keygen -e -m PKCS8 -f it"
            ),
            ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA me@here\n", "ssh-keygen -e -m PKCS8 -f it"),
            ("\u{FE}\u{ED}\u{FE}\u{ED}", "key store of Java"),
        ])
    func named(content: String, words: String) async throws {
        try await withTemporaryFolder { folder in
            let octets = content.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            try Data(octets).write(to: folder.appending(path: "it"))
            for verb in [["pin"], ["check", "127.0.0.1:1", "--ca"], ["sign", "--key", "it"]] {
                let run = try await CommandRun.inProcess(verb + ["./it"], in: folder)
                #expect(run.status == 3 && run.output.isEmpty, "\(verb): \(run.errors)")
                let isAboutKey = verb[0] == "sign" && words.hasPrefix("ssh-keygen") && content.hasPrefix("-")
                #expect(
                    run.errors.replacing("./it", with: "it").contains(isAboutKey ? "ssh-keygen -p" : words),
                    "\(run.errors)")
            }
        }
    }

    @Test(
        "Whoever looks for a document is told what the file is instead",
        arguments: [
            ["export", "it", "--format", "ats"], ["import", "it", "--from", "trustkit"],
            ["import", "it", "--from", "android"], ["list", "show", "it"], ["show", "it"],
            ["rollover", "--pins", "it"],
            ["check", "--chain", "leaf.pem", "--host", "www.example.com", "--ca", "leaf.pem", "--pins", "it"],
        ])
    func documents(arguments: [String]) async throws {
        try await withTemporaryFolder { folder in
            let leaf = try TestAuthority.root().leaf(names: ["www.example.com"])
            try Data(leaf.pem.utf8).write(to: folder.appending(path: "leaf.pem"))
            // A PFX begins with its version (RFC 7292 4).
            for (octets, words) in [([], "it is empty"), ([0x30, 4, 2, 1, 3, 0x30], "it is a PKCS #12 file")]
                as [([UInt8], String)]
            {
                try Data(octets).write(to: folder.appending(path: "it"))
                let run = try await CommandRun.inProcess(arguments, in: folder)
                #expect(run.status == 3 && run.output.isEmpty && run.errors.contains(words), "\(run.errors)")
            }
        }
    }

    @Test("A certificate beside what cannot be read is read, and the other block is named")
    func beside() async throws {
        try await withTemporaryFolder { folder in
            let leaf = try TestAuthority.root().leaf(names: ["www.example.com"])
            let foreign = "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"
            try Data((foreign + leaf.pem).utf8).write(to: folder.appending(path: "both.pem"))
            let run = try await CommandRun.inProcess(["pin", "both.pem"], in: folder)
            #expect(run.status == 0 && run.errors.contains("skipped a block of OPENSSH PRIVATE KEY in line 1"))
        }
    }
}
