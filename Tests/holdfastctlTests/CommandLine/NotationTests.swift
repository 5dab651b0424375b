import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("Words and notations that all verbs have in common", .timeLimit(.minutes(15)))
struct NotationTests {
    /// The digests in a text that break the notation: pins of keys are `sha256/BASE64`, pins of certificates
    /// `cert-sha256/HEX`, and other digests hexadecimal in lower case.
    private static func oddDigests(in text: String) -> [String] {
        var odd: [String] = []
        // The fingerprints of a list are repeated verbatim.
        let text = text.replacing(/"fingerprint":"[^"]*"/, with: "")
        for match in text.matches(of: /[A-Za-z0-9+\/_-]*[A-Za-z0-9+\/]{43}=(?![A-Za-z0-9+\/=])/) {
            let found = String(match.0)
            // Longer Base64 is a key or a certificate, and no digest.
            if found.count == 44 || found.hasPrefix("cert-sha256/") { odd.append(found) }
        }
        for match in text.matches(of: /[A-Za-z0-9\/_-]*[0-9A-Fa-f]{64}(?![0-9A-Fa-f])/) {
            let found = String(match.0)
            let digits = found.suffix(64)
            if digits.contains(where: \.isUppercase) || found.hasSuffix("/sha256/\(digits)")
                || found.hasPrefix("sha256/")
            {
                odd.append(found)
            }
        }
        odd += text.matches(of: /([0-9A-Fa-f]{2}:){31}[0-9A-Fa-f]{2}/).map { String($0.0) }
        return odd
    }

    @Test("The test finds what it looks for")
    func scanner() {
        let base64 = String(repeating: "A", count: 43) + "="
        let digits = String(repeating: "0a", count: 32)
        for good in ["sha256/\(base64)", "cert-sha256/\(digits)", "first root, SHA-256 \(digits)", "\"\(digits)\""] {
            #expect(Self.oddDigests(in: good).isEmpty, "\(good)")
        }
        let colons = (0..<32).map { _ in "0a" }.joined(separator: ":")
        for odd in [base64, "pin \(base64)", "cert-sha256/\(digits.uppercased())", "sha256/\(digits)", colons] {
            #expect(!Self.oddDigests(in: odd).isEmpty, "\(odd)")
        }
    }

    @Test("Digests have one notation in every output of every verb, as text and as JSON")
    func digests() async throws {
        try await SigningSite.with { site in
            let (leaf, next) = (try site.leaf("leaf.pem"), try site.leaf("next.pem"))
            try site.write("signer.pub", site.publicKey)
            try await site.beginPublishedRepository(active: leaf, backup: next)
            try FileManager.default.createDirectory(
                at: site.folder.appending(path: "data"), withIntermediateDirectories: false)
            try TrustServerSite.makeKey(in: site.folder)
            try await withLoopbackTLSServer(serving: leaf) { server in
                let place = ["--ca", "root.pem", "--connect-to", "127.0.0.1:\(server.port)", "--timeout", "60s"]
                let name = SigningSite.name
                func run(_ arguments: [String], _ status: Int32 = 0) async throws {
                    let run = try await site.run(arguments)
                    #expect(run.status == status, "\(arguments): \(run.output)\(run.errors)")
                    let odd = Self.oddDigests(in: run.output + run.errors)
                    #expect(odd.isEmpty, "\(arguments): \(odd)")
                    #expect(!run.output.isEmpty || status != 0)
                }
                try await run(["sign", name, "--key", "key.pem", "--list", "pins.json", "--no-shipped-pins"] + place)
                try await run([
                    "sign", "next.pem", "--key", "key.pem", "--ca", "root.pem", "--list", "pins.json", "--json",
                ])
                for json in [[], ["--json"]] {
                    try await run(["check", name] + place + json)
                    try await run(["check", name, "--pin", Pin.certificate(next.der).description] + place + json, 1)
                    try await run(["check", "--pins", "bank.pins.json"] + place + json)
                    try await run(["pin", name, "next.pem"] + place + json)
                    try await run(["show", "leaf.pem"] + json)
                    try await run(["show", "bank.pins.json"] + json)
                    try await run(["show", "site/public/metadata/1.root.json"] + json)
                    try await run(["verify", "pins.json", "--public-key", "signer.pub"] + json)
                    try await run(["list", "show", "pins.json"] + json)
                    try await run(["rollover", "--pins", "bank.pins.json", "--next", "next.pem"] + place + json)
                    try await run(
                        ["gate", name, "--next", "leaf.pem", "--pins", "bank.pins.json", "--first"] + place + json)
                    try await run(["pins", "diff", "bank.pins.json", "bank.pins.json"] + json)
                    try await run(["repository", "status", "site", "--no-shipped-pins"] + place + json)
                    try await run(
                        ["repository", "renew", "site", "--key", "online.pem", "--no-shipped-pins"] + place + json)
                    try await run(["trust-server", "show", "--customer", "acme"] + json)
                }
                for file in ["a.key", "b.key"] {
                    try await run(
                        ["keygen", "--tls", name, "-o", file, "--no-password"] + (file == "a.key" ? [] : ["--json"]))
                }
                try await run(
                    [
                        "list", "remove", "pins.json",
                        Pin.certificate(next.der).description.replacing("cert-sha256/", with: ""),
                    ]
                        + ["--public-key", "signer.pub", "--no-shipped-pins", "--json"] + place)
            }
        }
    }

    @Test(
        "A missing file is called missing, by its name, whatever verb reads it",
        arguments: [
            "show none.pem", "pin ./none.pem", "verify none.json --public-key signer.pub", "list show none.json",
            "list remove none.json www.example.com --public-key signer.pub", "export none.json --format ats",
            "import none.plist --from ats", "export --key none.pem", "sign ./none.pem --key key.pem",
            "check --pins none.json", "check www.example.com --ca none.pem", "rollover --pins none.json",
            "check --chain none.pem --host www.example.com", "gate www.example.com --next none.pem --pins none.json",
            "pins add none.json www.example.com leaf.pem", "pins diff none.json none.json",
            "repository pins site none.json --key key.pem", "keygen -o new.pem --password-file none",
            "check www.example.com --log-list none.json --ca root.pem",
            "check www.example.com --crl none.crl --ca root.pem",
            "verify pins.json --public-key none.pub", "show pins.json --public-key none.pub",
            "list show pins.json --public-key ./none", "list prune pins.json --public-key none.pub",
            "list remove pins.json www.example.com --public-key none.pub",
            "check --list pins.json --public-key none.pub --ca root.pem",
        ])
    func missing(line: String) async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            try site.write("signer.pub", site.publicKey)
            try site.list([("www.example.com", "a", 30)])
            if line.hasPrefix("repository") {
                for name in ["offline.pem", "online.pem"] { try site.write(name, SigningKey().pem, mode: 0o600) }
                try await site.repository(
                    "init", "site", "--small", "--offline-key", "offline.pem", "--online-key", "online.pem")
            }
            let run = try await site.run(line.split(separator: " ").map(String.init))
            #expect(run.status == 3 && run.output.isEmpty, "\(run.status): \(run.output)\(run.errors)")
            #expect(run.errors.contains("none") && run.errors.contains("no such file"), "\(run.errors)")
        }
    }

    @Test(
        "Where a connection is refused the address stands beside it, whatever verb connects",
        arguments: [
            "check www.example.com", "pin www.example.com", "sign www.example.com --key key.pem",
            "check --pins bank.pins.json", "rollover --pins bank.pins.json", "export bank.pins.json --format okhttp",
            "gate www.example.com --next leaf.pem --pins bank.pins.json --first",
            "repository status site", "repository publish site --key online.pem",
            "repository pins site bank.pins.json --key offline.pem",
            "check --pins https://127.0.0.1:1/bank.pins.json",
            "check --repository https://127.0.0.1:1 --app-root site/public/metadata/1.root.json",
            "repository status --url https://127.0.0.1:1 --app-root site/public/metadata/1.root.json",
            "repository renew site --key online.pem --url https://127.0.0.1:1",
        ])
    func refusedConnection(line: String) async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem")
            try await site.beginPublishedRepository(active: leaf, backup: try site.leaf("b.pem"))
            if line.hasPrefix("repository publish") {
                try await site.preparePins(active: leaf, backup: try site.leaf("c.pem"))
            }
            let run = try await site.run(
                line.split(separator: " ").map(String.init) + ["--ca", "root.pem", "--connect-to", "127.0.0.1:1"])
            #expect(run.status == 3, "\(run.status): \(run.output)\(run.errors)")
            #expect((run.output + run.errors).contains("127.0.0.1:1: connection refused"), "\(run.output)\(run.errors)")
        }
    }
}
