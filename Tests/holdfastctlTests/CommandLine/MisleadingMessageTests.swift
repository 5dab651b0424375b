import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

/// Messages of public bug reports that led people astray: each names the cause now, and what to do.
@Suite("Messages that misled people", .timeLimit(.minutes(15)))
struct MisleadingMessageTests {
    /// Checks a chain in a file against an authority in a file.
    private static func check(
        _ site: SigningSite, host: String = SigningSite.name, ca: String = "root.pem", _ more: [String] = []
    ) async throws -> CommandRun {
        try await site.run(["check", "--chain", "chain.pem", "--host=\(host)", "--ca", ca] + more)
    }

    @Test("A certificate by an authority's other key is not called altered, and what is missing is named")
    func renewedAuthority() async throws {
        try await SigningSite.with { site in
            let (old, new) = (try TestAuthority.root(name: "CA"), try TestAuthority.root(name: "CA"))
            try site.write("chain.pem", try new.leaf(names: [.dns(SigningSite.name)]).chainPEM)
            try site.write("old.pem", old.certificate.pem)
            let run = try await Self.check(site, ca: "old.pem", ["--json"])
            #expect(run.status == 1 && !run.output.contains("altered"), "\(run.output)")
            #expect(run.output.contains("authorityKeyIdentifier") && run.output.contains("more than one key"))
            try site.write("new.pem", new.certificate.pem)
            #expect(try await Self.check(site, ca: "new.pem").status == 0)
        }
    }

    @Test("A list that is signed with its fields in another order is not called altered, and the order is said")
    func swappedFields() async throws {
        try await SigningSite.with { site in
            let end = SystemWallClock().now.wholeSeconds + 40 * 86_400
            let fingerprint = Data(SigningSite.digest(7)).base64EncodedString()
            func list(_ signed: String) throws -> String {
                let signature = Data(try site.key.signature(for: Array(signed.utf8))).base64EncodedString()
                return "{\"fingerprints\":[{\"name\":\"\(SigningSite.name)\",\"fingerprint\":\"\(fingerprint)\","
                    + "\"expires\":\(end),\"signature\":\"\(signature)\"}]}"
            }
            let verify = ["verify", "pins.json", "--public-key", site.publicKey]
            try site.write("pins.json", try list("\(SigningSite.name)&\(end)&\(fingerprint)"))
            let swapped = try await site.run(verify)
            #expect(swapped.status == 1 && !swapped.errors.contains("was altered"), "\(swapped.errors)")
            #expect(swapped.errors.contains("in the order name, fingerprint, expires"), "\(swapped.errors)")
            try site.write("pins.json", try list("\(SigningSite.name)&\(fingerprint)&\(end)"))
            #expect(try await site.run(verify).status == 0)
            try site.write("pins.json", try list("\(SigningSite.name)&\(fingerprint)&\(end + 1)"))
            #expect(try await site.run(verify).errors.contains("altered, or signed with another key"))
        }
    }

    @Test("status of a repository that has ended names the command that renews it, its root and its pins")
    func endedRepository() async throws {
        for (days, commands) in [
            (20.0, ["renew site --key"]),
            (400, ["rotate site --role root --key", "pins site FILE", "publish site --key"]),
        ] as [(Double, [String])] {
            try await SigningSite.with { site in
                let repository = try await PublishedRepository(in: site, daysAgo: days)
                let run = try await site.run(["repository", "status", "site", "--no-shipped-pins", "--offline"])
                #expect(run.status == 1 && !run.output.contains("device's clock"), "\(run.output)\(run.errors)")
                for command in commands {
                    #expect(run.output.contains("Next: holdfastctl repository \(command)"), "\(run.output)")
                }
                // Each verb that reads the repository by its address alone names a command as well.
                try await repository.served { url in
                    let app = ["--app-root", "site/public/metadata/1.root.json"]
                    let status = try await site.run(
                        ["repository", "status", "--url", url, "--no-shipped-pins", "--offline"] + app)
                    #expect(status.output.contains("holdfastctl repository re") || days > 30, "\(status.output)")
                    #expect(status.output.contains("holdfastctl repository"), "\(status.output)")
                    let check = try await site.run(
                        ["check", SigningSite.name, "--repository", url, "--ca", "root.pem", "--no-shipped-pins"] + app)
                    #expect(check.status == 1 || check.status == 3)
                    #expect(!check.errors.contains("device's clock"), "\(check.errors)")
                    #expect(check.errors.contains("holdfastctl repository r"), "\(check.errors)")
                }
            }
        }
    }

    @Test("A certificate that cannot be read is described by its field, and text or a web page by what it is")
    func unreadableCertificates() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("chain.pem")
            var der = leaf.der
            // The Z at the end of notBefore, which is a UTCTime.
            let validity = try #require(der.firstRange(of: [0x17, 0x0D]))
            der[validity.lowerBound + 14] = UInt8(ascii: "X")
            let body = Data(der).base64EncodedString(options: .lineLength64Characters)
            try site.write("chain.pem", "-----BEGIN CERTIFICATE-----\n\(body)\n-----END CERTIFICATE-----\n")
            let broken = try await Self.check(site)
            #expect(broken.status == 3 && !broken.errors.contains("to be validity"), "\(broken.errors)")
            #expect(broken.errors.contains("certificate 1 of the file") && broken.errors.contains("validity"))
            for (text, words) in [
                ("404 page not found\n", "certificates in PEM or DER"),
                ("<!DOCTYPE html>\n<html>", "a web page"), ("<!-- x -->\n <HTML><body>no</body>", "a web page"),
            ] {
                try site.write("chain.pem", text)
                let run = try await Self.check(site)
                #expect(run.status == 3 && run.errors.contains(words), "\(run.errors)")
                #expect(!run.errors.contains("offset") && !run.errors.contains("octet"), "\(run.errors)")
            }
        }
    }

    @Test("A space at the edge of a name in a certificate is visible")
    func trailingSpace() async throws {
        try await SigningSite.with { site in
            try site.leaf("chain.pem", [.dns("\(SigningSite.name) "), .dns("a.example.com, DNS:b.example.com")])
            let run = try await Self.check(site)
            #expect(run.status == 1 && run.output.contains("DNS:\"\(SigningSite.name) \""), "\(run.output)")
            #expect(run.output.contains("\"a.example.com, DNS:b.example.com\""), "\(run.output)")
        }
    }

    @Test(
        "A name with a hyphen at the edge of a label is dialed and matched as browsers do",
        arguments: ["-a.example.com", "a-.example.com", "r4---sn-.example.com"])
    func hyphens(name: String) async throws {
        try await SigningSite.with { site in
            try site.leaf("chain.pem", [.dns(name)])
            let run = try await Self.check(site, host: name)
            #expect(run.status == 0, "\(run.errors)")
            #expect(try await Self.check(site, host: "a.example.com").status == 1)
        }
    }

    @Test("A pin file in UTF-16 or with a byte-order mark is called that, with the command that converts it")
    func encodings() async throws {
        try await SigningSite.with { site in
            let leaf = try site.leaf("leaf.pem")
            let text =
                "{\"schema\":1,\"hosts\":[{\"host\":\"\(SigningSite.name)\",\"pins\":[{\"pin\":\""
                + "\(try Pin.publicKey(of: leaf.der))\"}]}]}"
            let wide: [UInt8] = text.utf8.flatMap { [$0, 0] }
            for (octets, words) in [
                ([0xFF, 0xFE] + wide, "iconv -f UTF-16 -t"), (wide, "iconv -f UTF-16LE -t"),
                ([0xEF, 0xBB, 0xBF] + Array(text.utf8), "byte-order mark"),
            ] as [([UInt8], String)] {
                try Data(octets).write(to: site.folder.appending(path: "bank.pins.json"))
                for verb in [["show", "bank.pins.json"], ["rollover", "--pins", "bank.pins.json"]] {
                    let run = try await site.run(verb)
                    #expect([1, 3].contains(run.status) && run.errors.contains(words), "\(verb) \(run.errors)")
                    #expect(!run.errors.contains("something else"), "\(run.errors)")
                }
            }
        }
    }

    @Test(
        "A document in PEM or as a mail, and one whose signer has a key identifier, are called that",
        .needs(.openSSL))
    func signedMessages() async throws {
        try await TrustServerSite.with { site in
            try site.emptyDocument(at: site.second).write(to: site.file("it.der"))
            try site.certificate.write(to: site.file("acme.crt"))
            try site.write("text.json", "{}")
            let request = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=acme"
            for (making, words, remedy) in [
                ("openssl cms -cmsout -inform DER -in it.der -outform PEM", "found one in PEM", "openssl cms -cmsout"),
                (
                    "openssl cms -cmsout -inform DER -in it.der -outform SMIME", "found one in S/MIME",
                    "openssl cms -cmsout"
                ),
                (
                    "\(request) -keyout k.pem -out signer.pem 2>/dev/null && openssl cms -sign -nodetach -binary -keyid "
                        + "-outform DER -in text.json -signer signer.pem -inkey k.pem", "key identifier",
                    "Sign without -keyid"
                ),
            ] {
                let made = try await CommandRun.shell("\(making) -out it.signed", in: site.folder)
                try #require(made.status == 0, "\(made.errors)")
                let run = try await CommandRun.inProcess(
                    [
                        "check", "--trust-server", "it.signed", "--signer", "acme.crt", "--no-shipped-pins", "--ca",
                        "root.pem",
                    ], in: site.folder)
                #expect(run.status == 1 && run.errors.contains(words), "\(run.errors)")
                #expect(!run.errors.contains("DERError") && !run.errors.contains("found another"), "\(run.errors)")
                #expect(run.errors.contains(remedy), "\(run.errors)")
            }
        }
    }

    @Test("A key that signs is told of its curve's parameters as well", .needs(.openSSL))
    func explicitCurves() async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            let made = try await CommandRun.shell(
                "openssl ecparam -name prime256v1 -genkey -noout -param_enc explicit -out it", in: site.folder)
            try #require(made.status == 0, "\(made.errors)")
            for arguments in [
                ["sign", "leaf.pem", "--key", "it", "--no-shipped-pins", "--ca", "root.pem"],
                ["repository", "init", "site", "--small", "--offline-key", "it", "--online-key", "key.pem"],
            ] {
                let run = try await site.run(arguments)
                #expect(run.status == 3 && run.errors.contains("-param_enc named_curve"), "\(run.errors)")
            }
        }
    }

    @Test(
        "Keys as older tools write them are named, and the command that is told makes them readable",
        .needs(.openSSL),
        arguments: [
            ("openssl ecparam -name prime256v1 -genkey -noout -param_enc explicit -out it", "curve's parameters"),
            (
                "openssl ecparam -name prime256v1 -genkey -noout -param_enc explicit -out k && openssl pkey -in k "
                    + "-ec_param_enc explicit -outform DER -out it", "curve's parameters"
            ),
            (
                "openssl genrsa -out k 2048 2>/dev/null && openssl rsa -in k -RSAPublicKey_out -out it 2>/dev/null",
                "BEGIN RSA PUBLIC KEY"
            ),
            (
                "cat leaf.pem leaf.pem | tr -d '\\n' | sed 's/-----BEGIN CERTIFICATE-----/&\\n/g; "
                    + "s/-----END CERTIFICATE-----/\\n&/g' > it", "another ends"
            ),
        ])
    func conversions(making: String, words: String) async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            let made = try await CommandRun.shell(making, in: site.folder)
            try #require(made.status == 0, "\(made.errors)")
            let run = try await site.run(["pin", "./it"])
            #expect(run.status == 3 && run.errors.contains(words), "\(run.errors)")
            #expect(!run.errors.contains("PKCS #8, SEC 1 or PKCS #1") && !run.errors.contains("holds no certificate"))
            let command = try #require(Remedy.command(in: run.errors))
            let converted = try await CommandRun.shell(
                "\(command) && \"$HOLDFASTCTL\" pin ./\(command.split(separator: " ").last ?? "")", in: site.folder)
            #expect(converted.status == 0 && converted.output.contains("sha256/"), "\(command): \(converted.errors)")
        }
    }
}
