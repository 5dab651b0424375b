import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastPublishing

@Suite("Pin files that are changed")
struct PinFileEditTests {
    static let now = Date(wholeSeconds: 1_800_000_000)

    static func pin(_ octet: UInt8) throws -> Pin {
        try Pin(subject: .publicKey, digest: [octet] + Pin.certificate([octet, octet]).digest.dropFirst())
    }

    /// One host with a key in use, a backup and ports, one with subdomains, and one that is retired.
    static func file() throws -> PinFile {
        try PinFile(
            app: "com.example.bank", issuedAt: now, notAfter: now.addingTimeInterval(86_400),
            refresh: PinFile.Refresh(after: 21_600, grace: 3_600),
            hosts: [
                PinFile.Host(
                    HostPattern("api.example.com"), ports: [443, 8_443],
                    pins: [PinFile.KeyPin(pin(1)), PinFile.KeyPin(pin(2), state: .backup)],
                    report: PinFile.Report(url: "https://reports.example.net/pins")),
                PinFile.Host(
                    HostPattern("**.example.org"),
                    pins: [PinFile.KeyPin(pin(3)), PinFile.KeyPin(pin(4), state: .backup)]),
                PinFile.Host.retired(HostPattern("old.example.net")),
            ])
    }

    private static func edit() throws -> PinFileEdit { try PinFileEdit(try file().json, named: "bank.pins.json") }

    private static let api = "api.example.com"

    /// The states of a host's pins after the change is written and read again.
    private static func states(
        _ edit: PinFileEdit, _ host: String = api
    ) throws -> [String] {
        let read = try PinFile(json: try edit.data())
        #expect(read == edit.file)
        let entry = try #require(read.hosts.first { $0.pattern.description == host })
        return entry.pins.map { "\($0.pin.digest.first ?? 0) \($0.role.rawValue) \($0.state.rawValue)" }
    }

    @Test("A backup is for the host that is named, and everything else of the file stays")
    func add() throws {
        var edit = try Self.edit()
        let end = Self.now.addingTimeInterval(600)
        try edit.add(Self.pin(9), state: .backup, until: end, to: HostPattern(Self.api))
        #expect(try Self.states(edit) == ["1 leaf active", "2 leaf backup", "9 leaf backup"])
        let hosts = edit.file.hosts
        #expect(hosts[0].pins[2].end == end && hosts[0].ports == [443, 8_443] && hosts[0].report != nil)
        let others = try Self.file().hosts.dropFirst()
        #expect(Array(hosts.dropFirst()) == Array(others))
        #expect(edit.file.refresh == edit.original.refresh && edit.file.app == edit.original.app)
        #expect(edit.changes.count == 1 && edit.shortages.isEmpty)
    }

    @Test("A pin counts until its end, and not beyond it where the end is no whole second")
    func ends() throws {
        let end = Self.now.addingTimeInterval(600)
        for (until, last) in [(end, end - 1), (end + 0.5, end)] {
            var edit = try Self.edit()
            try edit.add(Self.pin(9), until: until, to: HostPattern(Self.api))
            #expect(edit.file.hosts[0].pins[2].notAfter == last)
            var settings = PinFileEdit.FileSettings()
            settings.end = until
            settings.refreshAfter = .seconds(7_200)
            try edit.set(settings)
            #expect(edit.file.notAfter == last && edit.file.refresh?.after == 7_200)
        }
    }

    @Test("The same pin again, a retired host and other ports are refused, and the file is as it was")
    func refusedAdditions() throws {
        var edit = try Self.edit()
        let api = try HostPattern(Self.api)
        #expect(throws: PublishingError.self) { try edit.add(Self.pin(2), to: api) }
        #expect(throws: PublishingError.self) { try edit.add(Self.pin(9), to: HostPattern("old.example.net")) }
        #expect(throws: PublishingError.self) { try edit.add(Self.pin(9), to: api, ports: [443]) }
        #expect(throws: PublishingError.self) { try edit.add(Pin.certificate([1]), to: api) }
        // A candidate alone lets no client in.
        #expect(throws: PublishingError.self) {
            try edit.add(Self.pin(9), state: .candidate, to: HostPattern("new.example.com"))
        }
        #expect(edit.file == edit.original && edit.changes.isEmpty)
        try edit.add(Self.pin(9), to: api, ports: [8_443, 443])
        // The same key in another role is another pin.
        try edit.add(Self.pin(9), as: .issuer, to: api)
        #expect(try Self.states(edit).suffix(2) == ["9 leaf active", "9 issuer active"])
    }

    @Test("A backup is promoted: it becomes active, what was active becomes retiring, and no pin is lost")
    func promote() throws {
        var edit = try Self.edit()
        let api = try HostPattern(Self.api)
        try edit.add(Self.pin(7), as: .issuer, to: api)
        try edit.promote(Self.pin(2), of: api)
        #expect(try Self.states(edit) == ["1 leaf retiring", "2 leaf active", "7 issuer active"])
        #expect(edit.shortages.count == 1 && edit.shortages[0].contains("no backup"))
        for octet: UInt8 in [1, 2, 8] {
            #expect(throws: PublishingError.self, "pin \(octet)") { try edit.promote(Self.pin(octet), of: api) }
        }
        // Retiring keys are taken away without a risk, once the next backup is there.
        try edit.add(Self.pin(8), state: .backup, to: api)
        let done = try edit.data()
        var next = try PinFileEdit(done, named: "bank.pins.json")
        try next.remove(Self.pin(1), from: api)
        #expect(next.shortages.isEmpty && next.changes.count == 1)
    }

    @Test("What an entry lacks without a pin is said, and the last pin of a host is not removed at all")
    func remove() throws {
        let api = try HostPattern(Self.api)
        var edit = try Self.edit()
        try edit.remove(Self.pin(1), from: api)
        #expect(edit.shortages.count == 2 && edit.shortages[0].contains("no active pin"))
        #expect(throws: PublishingError.self) { try edit.remove(Self.pin(2), from: api) }
        #expect(throws: PublishingError.self) { try edit.remove(Self.pin(1), from: api) }

        var backup = try Self.edit()
        try backup.remove(Self.pin(2), as: .leaf, from: api)
        #expect(backup.shortages.count == 1 && backup.shortages[0].contains("no backup"))
        #expect(throws: PublishingError.self) { try backup.remove(Self.pin(1), as: .issuer, from: api) }

        var whole = try Self.edit()
        try whole.remove(api)
        #expect(whole.shortages.isEmpty && whole.file.hosts.count == 2)
        #expect(throws: PublishingError.self) { try whole.remove(api) }
        var retired = try Self.edit()
        try retired.remove(HostPattern("old.example.net"))
        #expect(retired.file.hosts.count == 2)
    }

    @Test("A pin is marked as retiring and still counts; a retired host keeps its ports")
    func retire() throws {
        let api = try HostPattern(Self.api)
        var edit = try Self.edit()
        try edit.retire(Self.pin(1), of: api)
        #expect(try Self.states(edit) == ["1 leaf retiring", "2 leaf backup"])
        #expect(edit.shortages.count == 1 && edit.shortages[0].contains("no active pin"))
        #expect(throws: PublishingError.self) { try edit.retire(Self.pin(1), of: api) }
        #expect(throws: PublishingError.self) { try edit.retire(Self.pin(9), of: api) }

        var whole = try Self.edit()
        try whole.retire(api)
        #expect(whole.file.hosts[0].isRetired && whole.file.hosts[0].ports == [443, 8_443])
        #expect(whole.shortages.isEmpty)
        #expect(throws: PublishingError.self) { try whole.retire(api) }
        #expect(throws: PublishingError.self) { try whole.retire(HostPattern("www.example.org")) }
    }

    @Test("Settings change alone, and a requirement that no connection could meet is refused")
    func set() throws {
        let api = try HostPattern(Self.api)
        var edit = try Self.edit()
        var host = PinFileEdit.HostSettings()
        host.mode = .report
        host.onExpiry = .systemTrust
        host.reportURL = ""
        try edit.set(host, of: api)
        let entry = edit.file.hosts[0]
        #expect(entry.enforcement == .reportOnly && entry.report == nil && entry.ports == [443, 8_443])
        #expect(entry.pins == edit.original.hosts[0].pins && edit.shortages.isEmpty)

        var back = try PinFileEdit(edit.data(), named: "bank.pins.json")
        host = PinFileEdit.HostSettings()
        host.mode = .enforce
        host.onExpiry = .failClosed
        host.ports = [443]
        try back.set(host, of: api)
        #expect(back.changes.count == 3, "\(back.changes)")
        // A requirement that no connection could meet.
        host = PinFileEdit.HostSettings()
        host.require = .leafAndIssuer
        #expect(throws: PublishingError.self) { try back.set(host, of: api) }

        var file = PinFileEdit.FileSettings()
        file.end = Self.now
        #expect(throws: PublishingError.self) { try back.set(file) }
        file.issuedAt = Self.now.addingTimeInterval(-7_200)
        file.grace = .zero
        try back.set(file)
        #expect(back.file.end == Self.now)
        #expect(back.file.refresh?.after == 21_600 && back.file.refresh?.grace == 0)
    }

    @Test("Fields that this version does not know stay at their place, however they are written")
    func unknownFields() throws {
        var text = String(decoding: try Self.file().json, as: UTF8.self)
        text = text.replacing("\"schema\": 1,", with: "\"schema\": 1, \"hosts[0].owner\": \"x\", \"critical\": [],")
        text = text.replacing(
            "\"host\": \"api.example.com\",",
            with: "\"owner\": {\"a\": [1, {\"b\": null}]},\n\"host\": \"api.example.com\",")
        text = text.replacing("\"grace\": 3600", with: "\"grace\": 3600, \"window\": \"}\\n\"")
        text = text.replacing("\"successFraction\"", with: "\"sink\": true, \"successFraction\"")
        let first = "{\"pin\": \"\(try Self.pin(1))\""
        text = text.replacing(first, with: first + ", \"ticket\": \"OPS-7\"")
        let old = "{\"pin\": \"\(try Self.pin(2))\""
        text = text.replacing(old, with: old + ", \"ticket\": \"OPS-8\"")
        var edit = try PinFileEdit(Data(text.utf8), named: "bank.pins.json")
        let before = try PinFile.unknownFields(in: Data(text.utf8))
        #expect(before.count == 6)

        try edit.promote(Self.pin(2), of: HostPattern(Self.api))
        try edit.add(Self.pin(9), state: .backup, to: HostPattern(Self.api))
        let promoted = try edit.data()
        #expect(try Set(PinFile.unknownFields(in: promoted).map(\.path)) == Set(before.map(\.path)))
        let said = String(decoding: promoted, as: UTF8.self)
        for part in [#""ticket": "OPS-7""#, #"[1, {"b": null}]"#, #""window": "}\n""#, #""hosts[0].owner": "x""#] {
            #expect(said.contains(part), "\(part)")
        }
        #expect(said.contains(#""critical": []"#))

        // With its pin a field goes, and with its host.
        try edit.remove(Self.pin(1), from: HostPattern(Self.api))
        let removed = String(decoding: try edit.data(), as: UTF8.self)
        #expect(!removed.contains("OPS-7"))
        try edit.retire(HostPattern(Self.api))
        let retired = try PinFile.unknownFields(in: edit.data())
        #expect(retired.map(\.path).sorted() == ["\"hosts[0].owner\"", "hosts[0].owner", "refresh.window"])
    }

    @Test("A field whose name cannot be written as it was is refused before anything is changed")
    func unwritableField() throws {
        let text = String(decoding: try Self.file().json, as: UTF8.self)
        for name in ["größe", "a\\\"b", "a\\\\b"] {
            let data = Data(text.replacing("\"schema\": 1,", with: "\"schema\": 1, \"\(name)\": 1,").utf8)
            #expect(throws: PublishingError.self, "\(name)") { _ = try PinFileEdit(data, named: "bank.pins.json") }
        }
        let critical = Data(
            text.replacing("\"schema\": 1,", with: "\"schema\": 1, \"x\": 1, \"critical\": [\"x\"],").utf8)
        #expect(throws: PublishingError.self) { _ = try PinFileEdit(critical, named: "bank.pins.json") }
    }

    /// Each step leaves a file that clients read, whatever was done before, and equal edits are equal bytes.
    @Test("Any sequence of changes leaves a file that clients accept, with every unknown field of what is left")
    func sequences() throws {
        var random = SplitMix64(seed: 26)
        let hosts = try ["api.example.com", "**.example.org", "www.example.org", "new.example.com"].map {
            try HostPattern($0)
        }
        let text = String(decoding: try Self.file().json, as: UTF8.self)
            .replacing("\"schema\": 1,", with: "\"schema\": 1, \"note\": 7,")
        let data = Data(text.utf8)
        var done = 0
        for _ in 0..<200 {
            var edit = try PinFileEdit(data, named: "a file")
            for _ in 0..<8 {
                let host = hosts[Int.random(in: 0..<hosts.count, using: &random)]
                let pin = try Self.pin(UInt8.random(in: 1...6, using: &random))
                let before = edit.file
                do throws(PublishingError) {
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0: try edit.add(pin, state: .backup, to: host)
                    case 1: try edit.add(pin, as: .issuer, to: host)
                    case 2: try edit.remove(pin, from: host)
                    case 3: try edit.promote(pin, of: host)
                    case 4: try edit.retire(pin, of: host)
                    default: try edit.remove(host)
                    }
                    done += 1
                } catch {
                    #expect(edit.file == before)
                }
                let written = try edit.data()
                #expect(try PinFile(json: written) == edit.file)
                #expect(try PinFile.unknownFields(in: written).map(\.path) == ["note"])
            }
        }
        #expect(done > 400)
    }
}
