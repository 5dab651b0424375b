import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Hosts and pins of a pin file")
struct PinFileHostTests {
    private static func place(_ data: Data) -> String? { PinFileText.refusal(of: data)?.place }

    private static func hosts(_ texts: String...) -> Data {
        PinFileText.file(texts.map { #"{\#($0),"pins":[\#(PinFileText.pinObject(1))]}"# }.joined(separator: ","))
    }

    @Test("A host is a name, an address, *.name or **.name; includeSubdomains makes a name mean **.name")
    func patterns() throws {
        for (fields, pattern) in [
            (#""host":"WWW.Example.com.""#, "www.example.com"), (#""host":"*.example.com""#, "*.example.com"),
            (#""host":"**.example.com""#, "**.example.com"), (#""host":"bücher.example""#, "xn--bcher-kva.example"),
            (#""host":"example.com","includeSubdomains":true"#, "**.example.com"),
            (#""includeSubdomains":true,"host":"**.example.com""#, "**.example.com"),
            (#""host":"example.com","includeSubdomains":false"#, "example.com"), (#""host":"192.0.2.1""#, "192.0.2.1"),
            (#""host":"2001:db8::1""#, "2001:db8::1"),
        ] {
            #expect(try PinFile(json: Self.hosts(fields)).hosts.map(\.pattern.description) == [pattern])
        }
    }

    @Test(
        "What is no host is refused by its path",
        arguments: [
            (#""host":"""#, "invalidHost hosts[0].host"),
            (#""host":"https://example.com""#, "invalidHost hosts[0].host"),
            (#""host":"example.com:443""#, "invalidHost hosts[0].host"),
            (#""host":"*.com""#, "invalidHost hosts[0].host"),
            (#""host":"a.*.com""#, "invalidHost hosts[0].host"), (#""host":"127.1""#, "invalidHost hosts[0].host"),
            (#""host":"com","includeSubdomains":true"#, "invalidHost hosts[0].includeSubdomains"),
            (#""host":"192.0.2.1","includeSubdomains":true"#, "invalidHost hosts[0].includeSubdomains"),
            (#""host":"*.example.com","includeSubdomains":true"#, "contradiction hosts[0].includeSubdomains"),
        ])
    func noHosts(fields: String, place: String) { #expect(Self.place(Self.hosts(fields)) == place) }

    @Test("The same host twice is an error, however each is written; a name and its subdomains are two")
    func duplicates() {
        #expect(
            Self.place(Self.hosts(#""host":"a.example.com""#, #""host":"A.example.com.""#))
                == "duplicateHost hosts[1].host")
        #expect(
            Self.place(Self.hosts(#""host":"**.b.com""#, #""host":"b.com","includeSubdomains":true"#))
                == "duplicateHost hosts[1].host")
        #expect(
            Self.place(Self.hosts(#""host":"b.com","ports":[1]"#, #""host":"b.com","ports":[2]"#))
                == "duplicateHost hosts[1].host")
        #expect(Self.place(Self.hosts(#""host":"b.com""#, #""host":"b.com","includeSubdomains":true"#)) == nil)
    }

    @Test("Ports are 1 to 65535, each once; no port at all is left out, not written as an empty list")
    func ports() {
        for (ports, place) in [
            ("[443]", nil), ("[1,65535]", nil), ("[]", "invalidValue hosts[0].ports"),
            ("[0]", "invalidValue hosts[0].ports[0]"), ("[1,65536]", "invalidValue hosts[0].ports[1]"),
            ("[443,443]", "invalidValue hosts[0].ports[1]"), ("443", "wrongType hosts[0].ports"),
        ] as [(String, String?)] {
            #expect(Self.place(PinFileText.host(#""ports":\#(ports),"#)) == place)
        }
    }

    @Test("Words are those of the format, to the letter")
    func words() {
        for field in ["mode", "require", "onExpiry"] {
            for word in ["", "Enforce", "ENFORCE", "off", "e\u{301}nforce", String(repeating: "a", count: 65)] {
                #expect(Self.place(PinFileText.host(#""\#(field)":"\#(word)","#)) == "invalidValue hosts[0].\(field)")
            }
        }
        for field in ["role", "state"] {
            let pin = PinFileText.pinObject(1, #","\#(field)":"Leaf""#)
            #expect(Self.place(PinFileText.host("", pins: pin)) == "invalidValue hosts[0].pins[0].\(field)")
        }
    }

    @Test("A pin has one spelling and is of a key")
    func pins() {
        let good = PinFileText.pin(1).description
        let base64 = good.dropFirst(7)
        for (text, isRead) in [
            (good, true), (String(base64), false), ("sha256//\(base64)", false), ("sha1/\(base64)", false), ("", false),
            (Pin.certificate([1]).description, false), ("\(good) ", false), (String(good.dropLast()), false),
            ("SHA256/\(base64)", false), ("sha256/\(String(repeating: "g", count: 300))", false),
        ] {
            let place = Self.place(PinFileText.host("", pins: #"{"pin":"\#(text)"}"#))
            #expect((place == nil) == isRead, "\(text)")
            if !isRead { #expect(place?.hasSuffix("hosts[0].pins[0].pin") == true) }
        }
        let certificate = PinFileText.refusal(
            of: PinFileText.host("", pins: #"{"pin":"\#(Pin.certificate([1]))"}"#))
        #expect(certificate?.code == .invalidPin && certificate?.remedy.contains("key") == true)
    }

    @Test("The same pin twice in one role is an error; in two roles it is two")
    func duplicatePins() {
        let (leaf, issuer) = (PinFileText.pinObject(1), PinFileText.pinObject(1, #","role":"issuer""#))
        #expect(
            Self.place(PinFileText.host("", pins: "\(leaf),\(PinFileText.pinObject(1, #","state":"backup""#))"))
                == "duplicatePin hosts[0].pins[1].pin")
        #expect(Self.place(PinFileText.host("", pins: "\(leaf),\(issuer)")) == nil)
    }

    @Test("Pins that no connection can satisfy are an error")
    func unsatisfiable() {
        #expect(Self.place(PinFileText.host("", pins: "")) == "unsatisfiable hosts[0].pins")
        let candidate = PinFileText.pinObject(1, #","state":"candidate""#)
        #expect(Self.place(PinFileText.host("", pins: candidate)) == "unsatisfiable hosts[0].pins")
        let both = #""require":"leafAndIssuer","#
        let issuer = PinFileText.pinObject(2, #","role":"issuer""#)
        let trial = PinFileText.pinObject(2, #","role":"issuer","state":"candidate""#)
        #expect(Self.place(PinFileText.host(both)) == "unsatisfiable hosts[0].pins")
        #expect(
            Self.place(PinFileText.host(both, pins: "\(PinFileText.pinObject(1)),\(trial)"))
                == "unsatisfiable hosts[0].pins")
        #expect(Self.place(PinFileText.host(both, pins: "\(PinFileText.pinObject(1)),\(issuer)")) == nil)
    }

    @Test("A retired host has no pins and nothing that goes with them")
    func retired() {
        for (fields, place) in [
            (#""retired":true"#, nil), (#""retired":true,"ports":[443],"includeSubdomains":true"#, nil),
            (#""retired":true,"pins":[]"#, "contradiction hosts[0].pins"),
            (#""retired":true,"mode":"report""#, "contradiction hosts[0].mode"),
            (#""retired":true,"require":"any""#, "contradiction hosts[0].require"),
            (#""retired":true,"onExpiry":"systemTrust""#, "contradiction hosts[0].onExpiry"),
            (#""retired":true,"report":{"url":"https://r.example.net/"}"#, "contradiction hosts[0].report"),
        ] as [(String, String?)] {
            #expect(Self.place(PinFileText.file(#"{"host":"a.example.com",\#(fields)}"#)) == place)
        }
    }

    @Test("Reports go to an https URL with a host and without a user")
    func reports() {
        for (url, isRead) in [
            ("https://r.example.net/pins?a=b", true), ("https://r.example.net:8443", true),
            ("http://r.example.net", false),
            ("https://", false), ("https://user:secret@r.example.net/", false), ("https://r.example.net/ä", false),
            ("r.example.net", false), ("https://r.example.net/a b", false), ("https://127.1/", false),
            ("https://r.example.net/" + String(repeating: "a", count: 1_024), false),
        ] {
            let place = Self.place(PinFileText.host(#""report":{"url":"\#(url)"},"#))
            #expect((place == nil) == isRead, "\(url)")
            #expect(place == nil || place?.hasPrefix("invalidValue hosts[0].report") == true, "\(url)")
        }
        let secret = PinFileText.refusal(of: PinFileText.host(#""report":{"url":"https://u:secret@r.example.net/"},"#))
        #expect(secret?.description.contains("secret") == false)
    }

    @Test("Debug anchors are certificates in Base64 of DER")
    func debugAnchors() throws {
        let anchor = try TestAuthority.root(clock: Judge.clock).root
        let base64 = CanonicalBase64.encode(anchor)
        let file = try PinFile(json: PinFileText.file("", more: #""debugAnchors":["\#(base64)"],"#))
        #expect(file.debugAnchors.map(\.der) == [anchor])
        for text in ["", "AAAA", String(base64.dropLast(4)), base64 + "AAAA", base64 + "\\n"] {
            let place = Self.place(PinFileText.file("", more: #""debugAnchors":["\#(text)"],"#))
            #expect(place == "invalidValue debugAnchors[0]")
        }
    }

    @Test("A host has a backup with two distinct keys, one of them with state backup; candidates do not count")
    func backups() throws {
        func host(_ pins: String) throws -> PinFile.Host {
            try PinFile(json: PinFileText.host("", pins: pins)).hosts[0]
        }
        let (one, backup) = (PinFileText.pinObject(1), PinFileText.pinObject(2, #","state":"backup""#))
        #expect(try host("\(one),\(backup)").hasBackup)
        #expect(try !host(one).hasBackup && !host(backup).hasBackup)
        #expect(try !host("\(one),\(PinFileText.pinObject(2))").hasBackup)
        #expect(try !host("\(backup),\(PinFileText.pinObject(1, #","state":"candidate""#))").hasBackup)
        // The same key in two roles is one key.
        #expect(try !host("\(one),\(PinFileText.pinObject(1, #","role":"issuer","state":"backup""#))").hasBackup)
    }
}
