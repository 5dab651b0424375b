import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

/// Each printed remedy of a refusal is obeyed literally, by a shell, and leads to a good state.
@Suite("Remedies that are obeyed", .needs(.openSSL), .timeLimit(.minutes(30)))
struct ObeyedRemedyTests {
    /// A refusal, and what a person does about it.
    struct Refusal: Sendable, CustomTestStringConvertible {
        /// Lines of a shell that make what is refused.
        var setup: String
        /// The command that refuses it.
        let refused: String
        var status: Int32 = 1
        /// The part of the remedy that says what is done; nil if the remedy is a command.
        var says: String?
        /// The action, in a shell; nil for the command that the remedy prints.
        var obeyed: String?
        /// The command that succeeds then; nil for the refused one.
        var then: String?
        var good: Set<Int32> = [0]

        var testDescription: String { refused }
    }

    /// Runs lines of a shell for which `holdfastctl` is the command.
    private static func shell(_ lines: String, in site: SigningSite) async throws -> CommandRun {
        try await CommandRun.shell("holdfastctl() { \"$HOLDFASTCTL\" \"$@\"; }\n\(lines)", in: site.folder)
    }

    /// A remedy as a person fills it in.
    private static func filled(_ command: String) -> String {
        command.replacing("HOST", with: SigningSite.name).replacing("OFFLINE-KEY", with: "offline.pem")
            .replacing("ONLINE-KEY", with: "online.pem").replacing("FILE.pins.json", with: "bank.pins.json")
            .replacing(" FILE ", with: " bank.pins.json ")
            .replacing(" ROOT", with: " copy/public/metadata/1.root.json")
            // A test has no terminal at which a password could be asked for.
            .replacing("holdfastctl keygen", with: "holdfastctl keygen --no-password")
            // Nor a host that could be asked.
            + (command.contains("holdfastctl pins remove") ? " --force offline" : "")
    }

    static func obey(_ refusal: Refusal, in site: SigningSite) async throws {
        let setup = try await shell("set -e\n\(refusal.setup)", in: site)
        try #require(setup.status == 0, "setup of \(refusal.refused): \(setup.output)\(setup.errors)")
        let run = try await shell(refusal.refused, in: site)
        let said = run.output + run.errors
        #expect(run.status == refusal.status, "\(refusal.refused): \(run.status) \(said)")
        if let words = refusal.says { #expect(said.contains(words), "\(refusal.refused): \(said)") }
        let command = try #require(refusal.obeyed ?? Remedy.command(in: said).map(filled), "no remedy: \(said)")
        let obeyed = try await shell(command, in: site)
        #expect(obeyed.status == 0, "\(command): \(obeyed.output)\(obeyed.errors)")
        let again = try await shell(refusal.then ?? refusal.refused, in: site)
        #expect(
            refusal.good.contains(again.status),
            "\(command), then \(refusal.then ?? refusal.refused): \(again.status) \(again.output)\(again.errors)")
    }

    // MARK: Files of other kinds

    private static let pinFile =
        "holdfastctl pin leaf.pem backup.csr --certificates leaf --format json --host www.example.com -o bank.pins.json"
        + " --quiet"
    private static let alone = pinFile.replacing(" backup.csr", with: "")
    private static let backup = "holdfastctl keygen --tls www.example.com -o backup.key --no-password --quiet"

    @Test(
        "Files of other kinds are converted by the command that is told",
        arguments: [
            Refusal(
                setup: "\(backup)\n\(pinFile)\niconv -f UTF-8 -t UTF-16 bank.pins.json > w.json",
                refused: "holdfastctl show w.json", status: 3, then: "holdfastctl show utf8.txt"),
            Refusal(
                setup: "\(backup)\n\(pinFile)\niconv -f UTF-8 -t UTF-16LE bank.pins.json > w.json",
                refused: "holdfastctl show w.json", status: 3, then: "holdfastctl show utf8.txt"),
            Refusal(
                setup: "\(backup)\n\(pinFile)\n{ printf '\\357\\273\\277'; cat bank.pins.json; } > w.json",
                refused: "holdfastctl rollover --pins w.json", status: 3,
                then: "holdfastctl show without-mark.json"),
            Refusal(
                setup: "cat leaf.pem root.pem | tr -d '\\n' | sed 's/-----BEGIN CERTIFICATE-----/&\\n/g; "
                    + "s/-----END CERTIFICATE-----/\\n&/g' > g.pem",
                refused: "holdfastctl check --chain g.pem --host www.example.com --ca root.pem", status: 3,
                then: "holdfastctl check --chain fixed.pem --host www.example.com --ca root.pem"),
            Refusal(
                setup: "openssl genrsa -out k.pem 2048 2>/dev/null\n"
                    + "openssl rsa -in k.pem -RSAPublicKey_out -out p.pem 2>/dev/null",
                refused: "holdfastctl pin ./p.pem", status: 3, then: "holdfastctl pin ./public.pem"),
            Refusal(
                setup: "openssl ecparam -name prime256v1 -genkey -noout -param_enc explicit -out e.pem",
                refused: "holdfastctl pin ./e.pem", status: 3, then: "holdfastctl pin ./named.pem"),
            Refusal(
                setup: "openssl x509 -in leaf.pem -trustout -out t.pem", refused: "holdfastctl pin ./t.pem", status: 3,
                then: "holdfastctl pin ./certificate.pem"),
            Refusal(
                setup: "openssl crl2pkcs7 -nocrl -certfile leaf.pem -out p7.pem",
                refused: "holdfastctl check --chain p7.pem --host www.example.com --ca root.pem", status: 3,
                then: "holdfastctl check --chain certificates.pem --host www.example.com --ca root.pem"),
        ])
    func files(refusal: Refusal) async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            try await Self.obey(refusal, in: site)
        }
    }

    // MARK: Keys and certificates of a host

    private static let sign = "holdfastctl sign --key key.pem --ca root.pem --no-shipped-pins --force offline"

    @Test(
        "What is not a host's own, or what no client accepts, is replaced as the remedy says",
        arguments: [
            Refusal(
                setup: "openssl genrsa -out w.key 1024 2>/dev/null\n\(backup)\n\(pinFile)\n"
                    + "openssl req -new -key w.key -subj /CN=w -out w.csr",
                refused: "holdfastctl pins add bank.pins.json www.example.com w.csr --state backup",
                then: "holdfastctl pins add bank.pins.json www.example.com next.csr --state backup"),
            Refusal(
                setup: "openssl ecparam -name secp256k1 -genkey -noout -out w.key\n\(backup)\n\(pinFile)",
                refused: "holdfastctl pins add bank.pins.json www.example.com w.key --state backup", status: 3,
                then: "holdfastctl pins add bank.pins.json www.example.com next.csr --state backup"),
            Refusal(
                setup: "\(backup)\nmv backup.csr first.csr\nmv backup.key first.key\n"
                    + pinFile.replacing("backup.csr", with: "first.csr"),
                refused: "holdfastctl pins add bank.pins.json www.example.com "
                    + "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= --state backup",
                then: "holdfastctl pins add bank.pins.json www.example.com backup.csr --state backup"),
            Refusal(
                setup: "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out next.key\n"
                    + "openssl req -new -key next.key -subj /CN=x -outform DER -out n.der\n"
                    + "{ head -c -1 n.der; printf '\\001'; } > broken.der\n\(backup)\n\(pinFile)",
                refused: "holdfastctl pins add bank.pins.json www.example.com broken.der --state backup",
                then: "holdfastctl pins add bank.pins.json www.example.com next.csr --state backup"),
            Refusal(
                setup: "cat issuing.pem leaf.pem > reversed.pem",
                refused: "\(sign) reversed.pem --list l.json",
                says: "Put the host's own certificate first in the file, and its issuers after it",
                obeyed: "cat leaf.pem issuing.pem > reversed.pem"),
            Refusal(
                setup: "cp issuing.pem chain.pem", refused: "\(sign) chain.pem --list l.json",
                says: "host's own certificate first", obeyed: "cp leaf.pem chain.pem"),
            Refusal(
                setup: "true", refused: "\(sign.replacing("root.pem", with: "other.pem")) leaf.pem --list l.json",
                says: "give its root as an anchor", obeyed: "cp root.pem other.pem"),
            Refusal(
                setup: "holdfastctl pin leaf.pem --certificates leaf > p.txt\n"
                    + "openssl x509 -in leaf.pem -outform DER | openssl dgst -sha256 -binary | base64 > h.txt",
                refused: "holdfastctl check --chain leaf.pem --host www.example.com --ca root.pem --pin "
                    + "sha256/$(cat h.txt)",
                says: "the whole certificate of the server's own certificate",
                obeyed: "holdfastctl check --chain leaf.pem --host www.example.com --ca root.pem --pin "
                    + "sha256/$(cat h.txt) | grep -o 'pin sha256/[^ ]* instead' | cut -d' ' -f2 > meant.txt; true",
                then: "holdfastctl check --chain leaf.pem --host www.example.com --ca root.pem --pin $(cat meant.txt)"),
            Refusal(
                setup: "cat issuing.pem leaf.pem > reversed.pem",
                refused: "holdfastctl check --chain reversed.pem --host www.example.com --ca root.pem",
                says: "Put the certificate of www.example.com first", obeyed: "cat leaf.pem > reversed.pem"),
        ])
    func hosts(refusal: Refusal) async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            try site.write("issuing.pem", site.issuing.certificate.pem)
            try site.write("other.pem", try TestAuthority.root(name: "Other").certificate.pem)
            try await Self.obey(refusal, in: site)
        }
    }

    // MARK: Pin files

    private static let repository = """
        holdfastctl keygen -o offline.pem --no-password --quiet >/dev/null
        holdfastctl keygen -o online.pem --no-password --quiet >/dev/null
        holdfastctl repository init site --small --offline-key offline.pem --online-key online.pem >/dev/null
        """

    private static let prepare =
        "holdfastctl repository pins site bank.pins.json --key offline.pem --no-shipped-pins --force offline"

    @Test(
        "Edits of a pin file that are refused are made as the remedy says",
        arguments: [
            Refusal(
                setup: "\(backup)\n\(pinFile)",
                refused: "holdfastctl pins set bank.pins.json www.example.com --report-to https://www.example.com/r",
                status: 2, says: "Report to a host that is not pinned", obeyed: "true",
                then: "holdfastctl pins set bank.pins.json www.example.com --report-to https://reports.example.net/r "
                    + "--force offline"),
            Refusal(
                setup: "\(backup)\n\(pinFile)",
                refused: "holdfastctl pins add bank.pins.json www.example.com backup.csr --state backup",
                says: "remove the pin first",
                obeyed: "holdfastctl pins remove bank.pins.json www.example.com "
                    + "$(holdfastctl pin backup.csr --json | grep -o 'sha256/[^\"]*' | head -1) --force offline"),
            Refusal(
                setup: "\(backup)\n\(alone)",
                refused: "holdfastctl pins remove bank.pins.json www.example.com "
                    + "$(grep -o 'sha256/[^\"]*' bank.pins.json | tr -d '\\\\')",
                says: "Add the pin of another key first",
                obeyed: "grep -o 'sha256/[^\"]*' bank.pins.json | tr -d '\\\\' > old.txt; "
                    + "holdfastctl pins add bank.pins.json www.example.com backup.csr --state backup",
                then: "holdfastctl pins remove bank.pins.json www.example.com $(cat old.txt) --force refused "
                    + "--force offline"),
            Refusal(
                setup: "\(alone)\n\(repository)",
                refused: prepare),
            Refusal(
                setup: "pin=$(holdfastctl pin leaf.pem --certificates leaf | grep -m1 ^sha256)\n"
                    + "printf '{\"schema\":1,\"hosts\":[{\"host\":\"www.example.com\",\"pins\":[{\"pin\":\"%s\"},"
                    + "{\"pin\":\"%s\",\"state\":\"backup\"}]}]}' $pin "
                    + "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= > bank.pins.json\n\(repository)",
                refused: prepare),
            Refusal(
                setup: "\(backup)\n\(pinFile)\n\(repository)\n\(prepare) >/dev/null",
                refused: "holdfastctl repository publish site --key offline.pem --no-shipped-pins --force offline",
                says: "Give", obeyed: "true",
                then: "holdfastctl repository publish site --key online.pem --no-shipped-pins --force offline"),
            Refusal(
                setup: repository,
                refused: "holdfastctl repository publish site --key online.pem --no-shipped-pins --force offline",
                says: "Prepare the pins first.",
                obeyed: "\(backup); \(pinFile); \(prepare)"),
            Refusal(
                setup: "\(backup)\n\(pinFile)",
                refused: "holdfastctl pins set bank.pins.json www.example.com --require leafAndIssuer --force offline",
                status: 1, says: "Add a pin of the other role",
                obeyed: "holdfastctl pins add bank.pins.json www.example.com issuing.pem --role issuer --state active "
                    + "--force offline"),
            Refusal(
                setup: "touch taken.key",
                refused: "holdfastctl keygen --tls www.example.com -o taken.key --no-password", status: 3,
                says: "name another file", obeyed: "true",
                then: "holdfastctl keygen --tls www.example.com -o other.key --no-password"),
            Refusal(
                setup: "\(backup)\n\(pinFile)",
                refused: "holdfastctl pins set bank.pins.json --grace 14d", status: 2, says: "Set both", obeyed: "true",
                then: "holdfastctl pins set bank.pins.json --refresh 6h --grace 14d"),
            Refusal(
                setup: "\(backup)\n\(pinFile)",
                refused: "holdfastctl pins remove bank.pins.json api.example.com --whole-host",
                says: "Name the host as the file does", obeyed: "true",
                then: "holdfastctl pins remove bank.pins.json www.example.com --whole-host --force refused "
                    + "--force offline"),
            Refusal(
                setup: "\(backup)\n\(pinFile)",
                refused: "holdfastctl export bank.pins.json --format alamofire --force offline", status: 2,
                says: "Make the code with pin from the keys or certificates themselves", obeyed: "true",
                then: "holdfastctl pin leaf.pem --certificates leaf --format alamofire --host www.example.com"),
            Refusal(
                setup:
                    "\(backup)\n\(pinFile.replacing("leaf.pem", with: "address.pem").replacing("--host www.example.com", with: "--host 127.0.0.1").replacing("backup.csr", with: "backup.key"))",
                refused: "holdfastctl export bank.pins.json --format tlsa --force offline", says: "with --lossy",
                obeyed: "true",
                then: "holdfastctl export bank.pins.json --format tlsa --force offline --lossy", good: [0, 1]),
        ])
    func pinFiles(refusal: Refusal) async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            try site.write("issuing.pem", site.issuing.certificate.pem)
            try site.leaf("address.pem", [.address([127, 0, 0, 1])])
            try await Self.obey(refusal, in: site)
        }
    }

    // MARK: Documents

    private static let byFingerprint =
        "holdfastctl sign --key key.pem --no-shipped-pins --force offline --list l.json --name www.example.com "
        + "--fingerprint \(SigningSite.hex(7))"

    private static let trustKit = """
        cat > tk.plist <<'END'
        <plist version="1.0"><dict><key>TSKPinnedDomains</key><dict><key>*.example.com</key><dict>
        <key>TSKDisableDefaultReportUri</key><true/><key>TSKPublicKeyHashes</key><array>
        <string>x4QzPSC810K5/cMjb05Qm4k3Bw5zBn4lTdO/nEW/Td4=</string></array></dict>
        <key>example.org</key><dict><key>TSKDisableDefaultReportUri</key><true/><key>TSKPublicKeyHashes</key><array>
        <string>x4QzPSC810K5/cMjb05Qm4k3Bw5zBn4lTdO/nEW/Td4=</string></array></dict></dict></dict></plist>
        END
        """

    @Test(
        "Documents that are given as others, or that do not verify, are accepted as the remedy says",
        arguments: [
            Refusal(
                setup: trustKit, refused: "holdfastctl import tk.plist", says: "with --lossy", obeyed: "true",
                then: "holdfastctl import tk.plist --lossy"),
            Refusal(
                setup: trustKit, refused: "holdfastctl import tk.plist --from android --lossy",
                says: "Leave --from out.", obeyed: "true", then: "holdfastctl import tk.plist --lossy"),
            Refusal(
                setup: trustKit,
                refused: "holdfastctl import tk.plist --lossy --backup "
                    + "sha256/AfMENBVvOS8MnISprtvyPsjKlPooqh8nMB/pvCrpJpw=", status: 2,
                says: "Import without it", obeyed: "true", then: "holdfastctl import tk.plist --lossy"),
            Refusal(
                setup: "\(sign) leaf.pem --list l.json --quiet",
                refused: "holdfastctl check --pins l.json --ca root.pem",
                says: "Give it with --list, and the signer's public key with --public-key.", obeyed: "true",
                then: "holdfastctl check --list l.json --public-key \"$(cat public.txt)\" --no-shipped-pins "
                    + "--chain leaf.pem --host www.example.com --ca root.pem"),
            Refusal(
                setup: "true", refused: "\(byFingerprint) --expires 1900000000000", status: 2, says: "millisecond",
                obeyed: "true", then: "\(byFingerprint) --expires $(($(date +%s) + 864000))"),
            Refusal(
                setup: "\(sign) leaf.pem --list l.json --quiet\n",
                refused: "holdfastctl check --list l.json --public-key \"$(cat public.txt)\" --chain leaf.pem "
                    + "--host www.example.com --ca root.pem", status: 3, says: "--no-shipped-pins", obeyed: "true",
                then: "holdfastctl check --list l.json --public-key \"$(cat public.txt)\" --no-shipped-pins "
                    + "--chain leaf.pem --host www.example.com --ca root.pem"),
        ])
    func documents(refusal: Refusal) async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            try site.write("public.txt", site.publicKey)
            try await Self.obey(refusal, in: site)
        }
    }

    @Test(
        "A trust server's document of another form is read after the command that is told",
        arguments: ["PEM", "SMIME"])
    func messages(form: String) async throws {
        try await TrustServerSite.with { site in
            try site.emptyDocument(at: site.second).write(to: site.file("it.der"))
            try site.certificate.write(to: site.file("acme.crt"))
            let made = try await CommandRun.shell(
                "openssl cms -cmsout -inform DER -in it.der -outform \(form) -out it.signed", in: site.folder)
            try #require(made.status == 0, "\(made.errors)")
            let check = ["--signer", "acme.crt", "--no-shipped-pins", "--ca", "root.pem"]
            let refused = try await CommandRun.inProcess(
                ["check", "--trust-server", "it.signed"] + check, in: site.folder)
            let command = try #require(Remedy.command(in: refused.errors), "\(refused.errors)")
            let obeyed = try await CommandRun.shell(command, in: site.folder)
            #expect(obeyed.status == 0, "\(command): \(obeyed.errors)")
            let again = try await CommandRun.inProcess(
                ["check", "--trust-server", "it.signed.der"] + check, in: site.folder)
            // It is read then, and has nothing to dial.
            #expect(again.status == 3 && again.errors.contains("no host that can be dialed"), "\(again.errors)")
        }
    }

    // MARK: Repositories

    @Test(
        "What status says next of a repository that nobody renewed makes clients accept it again",
        arguments: [20.0, 400])
    func repositories(days: Double) async throws {
        try await SigningSite.with { site in
            let repository = try await PublishedRepository(in: site, daysAgo: days)
            for (name, key) in [("offline.pem", repository.offline), ("online.pem", repository.online)] {
                try site.write(name, try #require(key.pem), mode: 0o600)
            }
            let end = SystemWallClock().now.addingTimeInterval(90 * 86_400)
            let pins = try PinFile(notAfter: end, hosts: try PinFile(json: repository.pins).hosts)
            try site.write("bank.pins.json", String(decoding: pins.json, as: UTF8.self))
            let status = ["repository", "status", "site", "--no-shipped-pins", "--offline"]
            let run = try await site.run(status)
            let commands = run.output.split(separator: "\n").compactMap { line in
                line.hasPrefix("Next: ") ? Self.filled(String(line.dropFirst("Next: ".count))) : nil
            }
            #expect(run.status == 1 && !commands.isEmpty, "\(run.output)")
            for command in commands {
                // No host can be asked here, which is said to each verb in its way.
                let verb = command.split(separator: " ")[2]
                let offline = verb == "renew" ? " --offline" : verb == "rotate" ? "" : " --force offline"
                let shipped = verb == "rotate" ? "" : " --no-shipped-pins"
                let obeyed = try await Self.shell(command + offline + shipped, in: site)
                #expect([0, 3].contains(obeyed.status), "\(command): \(obeyed.output)\(obeyed.errors)")
            }
            let again = try await site.run(status)
            #expect(again.status == 3 && again.output.hasPrefix("Clients accept it"), "\(again.output)\(again.errors)")
        }
    }
}
