import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// Each remedy of the library that says what to call or to write is obeyed literally and leads to a good state.
@Suite("Remedies of the library that are obeyed", .timeLimit(.minutes(15)))
struct ObeyedRemedyTests {
    private static let digest = [UInt8](1...32)
    private static let base64 = Data(digest).base64EncodedString()
    private static let key = "sha256/\(base64)"
    private static let hex = digest.map { String(format: "%02x", $0) }.joined()

    /// The pin that a remedy says to write.
    private static func written(_ remedy: String) throws -> Pin {
        try Pin(String(try #require(remedy.firstMatch(of: /[Ww]rite ((cert-)?sha256\/[0-9A-Za-z+\/]+=?)/)).1))
    }

    private static func mistyped(_ text: String, _ code: String) -> ObeyedRefusal {
        ObeyedRefusal("PinError.\(code)", says: "rite ") {
            _ = try Pin(text)
        } obeyed: { remedy in
            let pin = try written(remedy)
            #expect(pin.digest == digest)
        }
    }

    static let pins: [ObeyedRefusal] = [
        ObeyedRefusal(
            "PinError.empty", says: "Give a pin.", refused: { _ = try Pin("") }, obeyed: { _ in _ = try Pin(key) }),
        mistyped(base64, "missingPrefix"), mistyped(hex, "missingPrefix"),
        mistyped("SHA256/\(base64)", "unsupportedAlgorithm"),
        mistyped("sha256/\(hex)", "notBase64"), mistyped("sha256/\(base64.dropLast())", "notBase64"),
        mistyped("cert-sha256/\(base64.dropLast())", "notHexadecimal"),
        ObeyedRefusal("PinError.wrongLength", says: "give the whole digest") {
            _ = try Pin("sha256/AAAA")
        } obeyed: { _ in
            _ = try Pin(key)
        },
        ObeyedRefusal("PinError.noPins", says: "Add the pin of a key in use") {
            _ = try PinSet(pins: [])
        } obeyed: { _ in
            _ = try PinSet(pins: [Pin(key)])
        },
        ObeyedRefusal("PinError.noPins", says: "Add a pin of the other role, or require any") {
            _ = try PinSet(rules: [PinRule(Pin(key), at: .leaf)], requirement: .oneOfEachRole)
        } obeyed: { _ in
            let leaf = PinRule(try Pin(key), at: .leaf)
            _ = try PinSet(rules: [leaf, PinRule(.certificate([1]), at: .issuer)], requirement: .oneOfEachRole)
            _ = try PinSet(rules: [leaf], requirement: .any)
        },
        ObeyedRefusal("PinError.duplicatePin", says: "Leave one out") {
            _ = try PinSet(pins: [Pin(key), Pin(key)])
        } obeyed: { _ in
            _ = try PinSet(pins: [Pin(key)])
        },
        ObeyedRefusal("PinError.backupEqualsPin", says: "Make the backup from another key") {
            _ = try PinSet(pins: [Pin(key)], backups: [Pin(key)])
        } obeyed: { _ in
            _ = try PinSet(pins: [Pin(key)], backups: [.certificate([1])])
        },
        ObeyedRefusal("PinError.merkleTreeCertificate", says: "Pin its key: sha256/") {
            _ = try merkleTreeCertificate().pin(.certificate)
        } obeyed: { remedy in
            _ = try Pin(String(try #require(remedy.firstMatch(of: /Pin its key: (\S+)\./)).1))
            _ = try merkleTreeCertificate().pin(.publicKey)
        },
    ]

    static func merkleTreeCertificate() throws -> X509Certificate {
        // id-alg-mtcProof of draft-ietf-plants-merkle-tree-certs.
        let leaf = try TestAuthority.root().leaf(names: ["a.example"]) {
            $0.signature = .foreign(UnsupportedAlgorithmTests.mtcProof)
        }
        return try X509Certificate(der: leaf.der)
    }

    private static func host(_ text: String, _ code: String, says: String, _ mended: DialedHost?) -> ObeyedRefusal {
        ObeyedRefusal("HostError.\(code)", says: says) {
            _ = try DialedHost(text)
        } obeyed: { _ in
            _ = try #require(mended)
        }
    }

    private static func pattern(
        _ code: String, says: String, _ refused: @escaping @Sendable () throws -> Void,
        _ mended: @escaping @Sendable () throws -> Void
    ) -> ObeyedRefusal {
        ObeyedRefusal("HostPatternError.\(code)", says: says, refused: refused, obeyed: { _ in try mended() })
    }

    static let hosts: [ObeyedRefusal] = [
        host("", "empty", says: "Give a host name.", try? DialedHost("www.example.com")),
        host("www..example.com", "emptyLabel", says: "Remove the extra dot.", try? DialedHost("www.example.com")),
        host(
            "www.example.com/path", "forbiddenCharacter", says: "without scheme, port, path",
            try? DialedHost("www.example.com")),
        host(
            "https://www.example.com:8443", "invalidAddress", says: "Give the port beside the name, not in it",
            try? DialedHost("www.example.com", port: 8443)),
        host("www.example.com-", "hyphenAtEdge", says: "Remove the hyphen.", try? DialedHost("www.example.com")),
        host("127.1", "numericName", says: "as four decimal numbers", try? DialedHost("127.0.0.1")),
        host(
            "fe80::1%eth0", "zoneIdentifier", says: "Leave out the % and what follows it.", try? DialedHost("fe80::1")),
        host(
            "xn--9999999999999999.com", "invalidALabel", says: "Give the name in Unicode",
            try? DialedHost("bücher.example")),
        ObeyedRefusal("HostError.invalidPort", says: "Give the port that is dialed.") {
            _ = try DialedHost("www.example.com", port: 0)
        } obeyed: { _ in
            _ = try DialedHost("www.example.com", port: 443)
        },
        pattern("empty", says: "Name a host or a domain.") {
            _ = try HostPattern("*.")
        } _: {
            _ = try HostPattern("*.example.com")
        },
        pattern("misplacedWildcard", says: "Write *. for one label more, **. for the domain") {
            _ = try HostPattern("www.*.example.com")
        } _: {
            _ = (try HostPattern("*.example.com"), try HostPattern("**.example.com"))
        },
        pattern("topLevel", says: "for a private suffix pass allowingTopLevel") {
            _ = try HostPattern("**.corp")
        } _: {
            _ = try HostPattern("**.corp", allowingTopLevel: true)
        },
        pattern("publicSuffix", says: "Name your own domain under the public suffix.") {
            _ = try HostPattern("**.co.uk", publicSuffixes: PublicSuffixList("uk\nco.uk\n"))
        } _: {
            _ = try HostPattern("**.example.co.uk", publicSuffixes: PublicSuffixList("uk\nco.uk\n"))
        },
        pattern("addressWithWildcard", says: "Add a pattern for each address.") {
            _ = try HostPattern("*.192.0.2.1")
        } _: {
            _ = try HostPattern("192.0.2.1")
        },
        pattern("invalidHost", says: "Remove the extra dot.") {
            _ = try HostPattern("*.a..example.com")
        } _: {
            _ = try HostPattern("*.a.example.com")
        },
        pattern("invalidSuffixRule", says: "Give the list of publicsuffix.org unchanged.") {
            _ = try PublicSuffixList("com\na..b\n")
        } _: {
            _ = try PublicSuffixList("com\n*.ck\n!www.ck\n")
        },
    ]

    // MARK: Pin files

    private static func pin(_ number: UInt8, _ fields: String = "") -> String { PinFileText.pinObject(number, fields) }

    private static func entry(_ fields: String, _ pins: String...) -> Data {
        PinFileText.host(fields, pins: (pins.isEmpty ? [pin(1)] : pins).joined(separator: ","))
    }

    private static let plain = entry("")
    private static let one = #"{"host":"www.example.com","pins":[\#(pin(1))]}"#

    static let pinFiles: [ObeyedRefusal] = [
        ObeyedRefusal(
            file: Data("{\"schema\":1,}".utf8), "notJSON", says: "without a comma after the last", edited: plain),
        ObeyedRefusal(
            file: PinFileText.file(one, more: #""schema":1,"#), "duplicateField", says: "Keep one of the two",
            edited: plain),
        ObeyedRefusal(file: Data("{\"schema\":1}".utf8), "missingField", says: "Add the field.", edited: plain),
        ObeyedRefusal(
            file: entry(#""ports":["443"],"#), "wrongType", says: "docs/formats.md", edited: entry(#""ports":[443],"#)),
        ObeyedRefusal(
            file: entry(#""mode":"off","#), "invalidValue", says: "docs/formats.md", edited: entry(#""mode":"report","#)
        ),
        ObeyedRefusal(
            file: entry(#""ports":[],"#), "invalidValue", says: "Leave the field out when every port is meant.",
            edited: plain),
        ObeyedRefusal(
            file: PinFileText.file(one, more: #""notAfter":"2027-02-29T00:00:00Z","#), "invalidTime",
            says: "such as 2027-02-21T12:00:00Z",
            edited: PinFileText.file(one, more: #""notAfter":"2027-02-21T12:00:00Z","#)),
        ObeyedRefusal(
            file: PinFileText.file(#"{"host":"https://a.example","pins":[\#(pin(1))]}"#), "invalidHost",
            says: "the scheme of a URL not at all",
            edited: PinFileText.file(#"{"host":"**.a.example","pins":[\#(pin(1))]}"#)),
        ObeyedRefusal(
            file: entry("", #"{"pin":"cert-sha256/\#(hex)"}"#), "invalidPin", says: "Pin the certificate's key",
            edited: plain),
        ObeyedRefusal(
            file: entry("", #"{"pin":"\#(base64)"}"#), "invalidPin", says: "write \(key);",
            edited: entry("", #"{"pin":"\#(key)"}"#)),
        ObeyedRefusal(
            file: entry("", #"{"pin":"sha256//\#(base64)"}"#), "invalidPin", says: "Write sha256/ and the Base64",
            edited: entry("", #"{"pin":"\#(key)"}"#)),
        ObeyedRefusal(
            file: Data(#"{"schema":2,"hosts":[]}"#.utf8), "unsupportedSchema", says: "write the file in schema 1",
            edited: plain),
        ObeyedRefusal(
            file: PinFileText.file("\(one),\(one)"), "duplicateHost", says: "Put all pins of the host into one entry.",
            edited: entry("", pin(1), pin(2))),
        ObeyedRefusal(file: entry("", pin(1), pin(1)), "duplicatePin", says: "Keep one of the two", edited: plain),
        ObeyedRefusal(
            file: PinFileText.file(#"{"host":"*.example.com","includeSubdomains":true,"pins":[\#(pin(1))]}"#),
            "contradiction",
            says: "Write **.DOMAIN, or the name alone with includeSubdomains.",
            edited: PinFileText.file(#"{"host":"example.com","includeSubdomains":true,"pins":[\#(pin(1))]}"#)),
        ObeyedRefusal(
            file: entry("", pin(1, #","state":"candidate""#)), "unsatisfiable",
            says: "Make a pin active, or add one that is",
            edited: entry(#""mode":"report","#, pin(1, #","state":"active""#))),
        ObeyedRefusal(
            file: entry(#""require":"leafAndIssuer","#), "unsatisfiable",
            says: "Add a pin of the other role, or require any.",
            edited: entry(#""require":"leafAndIssuer","#, pin(1), pin(2, #","role":"issuer""#))),
        ObeyedRefusal("PinFileError.unreadableFile", says: "Check the path") {
            _ = try PinFile(contentsOf: URL(filePath: "/nowhere/bank.pins.json"))
        } obeyed: { _ in
            try await withTemporaryFolder { folder in
                try plain.write(to: folder.appending(path: "bank.pins.json"))
                _ = try PinFile(contentsOf: folder.appending(path: "bank.pins.json"))
            }
        },
    ]

    @Test("Each remedy is obeyed literally", arguments: pins + hosts + pinFiles)
    func obeyed(_ refusal: ObeyedRefusal) async throws { try await refusal.check() }
}
