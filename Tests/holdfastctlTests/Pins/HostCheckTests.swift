import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// Certificates and keys that are meant to be a host's own, at the commands' entrances.
@Suite("Commands check that a certificate is the host's own", .timeLimit(.minutes(15)))
struct HostCheckTests {
    /// Files whose first certificate is an authority's.
    private static func authorityFirst(_ site: SigningSite) throws -> [String] {
        let leaf = try site.leaf("www.pem")
        let pem = { (der: [UInt8]) in
            "-----BEGIN CERTIFICATE-----\n\(Data(der).base64EncodedString())\n-----END CERTIFICATE-----\n"
        }
        try site.write("chain.pem", site.issuing.certificate.pem)
        try site.write("reversed.pem", site.issuing.certificate.pem + pem(leaf.der))
        try site.write("rootfirst.pem", site.root.certificate.pem + site.issuing.certificate.pem + pem(leaf.der))
        return ["chain.pem", "reversed.pem", "rootfirst.pem"]
    }

    @Test("sign signs no authority's certificate, and says which certificate comes first")
    func sign() async throws {
        try await SigningSite.with { site in
            for file in try Self.authorityFirst(site) {
                for name in [[], ["--name", SigningSite.name]] {
                    let run = try await site.sign([file, "--list", "pins.json"] + name)
                    #expect(run.status == 1 && run.errors.contains("notEndEntity"), "\(file): \(run.errors)")
                    #expect(run.errors.contains("host's own certificate first"), "\(run.errors)")
                }
            }
            #expect(throws: (any Error).self) { try site.text("pins.json") }
            #expect(try await site.sign(["www.pem", "--list", "pins.json"]).status == 0)
            // An issuer that a person asks for by name.
            let named = try await site.sign(["chain.pem", "--name", "Test Issuing CA", "--list", "pins.json"])
            #expect(named.status == 0, "\(named.errors)")
        }
    }

    @Test("pin --format and pins add refuse another host's certificate, an expired one, and keys that clients refuse")
    func files() async throws {
        try await SigningSite.with { site in
            try site.leaf("www.pem")
            try site.leaf("other.pem", ["api.example.com"])
            try site.leaf("late.pem") { ($0.notBefore, $0.notAfter) = (.days(-20), .days(-10)) }
            let weak = try site.issuing.leaf(
                names: [.dns(SigningSite.name)], key: .sharedRSA(bits: 1_024, index: 0))
            try site.write("weak.pem", weak.chainPEM)
            let made = try await site.run(
                ["pin", "www.pem", "--format", "json", "--host", SigningSite.name, "-o", "bank.pins.json"])
            #expect(made.status == 0, "\(made.errors)")
            for (file, code) in [("other.pem", "nameMismatch"), ("late.pem", "expired"), ("weak.pem", "weakKey")] {
                let pin = ["pin", "www.pem", file, "--format", "json", "--host", SigningSite.name]
                let run = try await site.run(pin)
                #expect(run.status == 1 && run.errors.contains(code), "\(file): \(run.errors)")
                #expect(try await site.run(pin + ["--insecure"]).status == 0)
                let added = try await site.run(
                    ["pins", "add", "bank.pins.json", SigningSite.name, file, "--force", "offline"])
                #expect(added.status == 1 && added.errors.contains(code), "\(file): \(added.errors)")
            }
            let stranger = try TestAuthority.root(name: "Stranger").leaf(names: [.dns(SigningSite.name)])
            try site.write("stranger.pem", stranger.chainPEM)
            let add = ["pins", "add", "bank.pins.json", SigningSite.name, "stranger.pem", "--force", "offline"]
            #expect(try await site.run(add + ["--ca", "root.pem"]).errors.contains("untrusted"))
            #expect(try await site.run(add).status == 0)
        }
    }

    @Test("Another host's certificate behind the host's own is no certificate that stands in the wrong place")
    func severalHosts() async throws {
        try await SigningSite.with { site in
            let own = try site.leaf("www.pem")
            let other = try site.leaf("other.pem", ["api.example.com"])
            try site.write("two.pem", own.pem + "\n" + other.chainPEM)
            let run = try await site.run(["pin", "two.pem", "--format", "json", "--host", SigningSite.name])
            #expect(run.status == 1 && run.errors.contains("two.pem #2: expected a certificate for"), "\(run.errors)")
            #expect(!run.errors.contains("first"), "\(run.errors)")
        }
    }

    @Test("Placeholders are refused where pins are added, imported, prepared and signed")
    func placeholders() async throws {
        try await SigningSite.with { site in
            let nothing = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
            try site.leaf("www.pem")
            let made = try await site.run(
                ["pin", "www.pem", "--format", "json", "--host", SigningSite.name, "-o", "bank.pins.json"])
            #expect(made.status == 0)
            for text in [nothing, Data(count: 32).base64EncodedString()] {
                let added = try await site.run(
                    ["pins", "add", "bank.pins.json", SigningSite.name, "sha256/\(text)", "--state", "backup"])
                #expect(added.status == 1 && added.errors.contains("placeholder"), "\(added.errors)")
                let xml = """
                    <network-security-config><domain-config><domain>www.example.com</domain><pin-set>
                    <pin digest="SHA-256">x4QzPSC810K5/cMjb05Qm4k3Bw5zBn4lTdO/nEW/Td4=</pin>
                    <pin digest="SHA-256">\(text)</pin></pin-set></domain-config></network-security-config>
                    """
                try site.write("config.xml", xml)
                let imported = ["import", "config.xml", "--from", "android", "--backup", "sha256/\(text)"]
                let refused = try await site.run(imported)
                #expect(refused.status == 1 && refused.errors.contains("placeholder"), "\(refused.errors)")
                let lossy = try await site.run(imported + ["--lossy"])
                #expect(lossy.status == 0 && !lossy.output.contains(text) && lossy.errors.contains("no backup"))
            }
            let signed = try await site.run([
                "sign", "--key", "key.pem", "-n", SigningSite.name, "-f", nothing, "-t", "4070908800", "--force",
                "offline",
            ])
            #expect(signed.status == 1 && signed.errors.contains("placeholder"), "\(signed.errors)")
        }
    }

    @Test("check names what a pin was made from, and which certificate has to come first")
    func check() async throws {
        try await SigningSite.with { site in
            _ = try Self.authorityFirst(site)
            let leaf = try site.leaf("www.pem")
            let pin = try Pin(subject: .publicKey, digest: Pin.certificate(leaf.der).digest)
            let check = ["check", "--host", SigningSite.name, "--ca", "root.pem"]
            let run = try await site.run(check + ["--chain", "www.pem", "--pin", "\(pin)"])
            #expect(run.status == 1 && run.output.contains("the SHA-256 of the whole certificate"), "\(run.output)")
            #expect(!run.output.contains("someone is in the middle"))
            let right = try Pin.publicKey(of: leaf.der)
            let reversed = try await site.run(check + ["--chain", "reversed.pem", "--pin", "\(right)"])
            #expect(reversed.output.contains("it is number 2 of the chain"), "\(reversed.output)")
        }
    }
}
