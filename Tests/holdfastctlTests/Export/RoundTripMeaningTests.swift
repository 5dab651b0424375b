import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastPublishing
@testable import holdfastctl

/// Exports and imports are compared over what they require of servers, and not over their texts.
@Suite("Round trips of other systems' pins", .timeLimit(.minutes(30)))
struct RoundTripMeaningTests {
    private static let names = [
        "example.com", "a.example.com", "b.a.example.com", "c.b.a.example.com", "example.org", "x.example.org",
    ]
    private static let end = PinExportTests.endOfDay
    private static let leaves: ClosedRange<UInt8> = 1...3
    private static let issuers: ClosedRange<UInt8> = 5...6

    /// Every host with every path, before and after the end.
    private static func connections() throws -> [ForeignPinning.Connection] {
        var all: [ForeignPinning.Connection] = []
        for host in names {
            for port in [443, 8443] {
                for leaf in leaves {
                    for issuer in issuers {
                        for time in [end.addingTimeInterval(-100 * 86_400), end.addingTimeInterval(100 * 86_400)] {
                            all.append(
                                .init(
                                    host: host, port: port, leaf: try PinExportTests.pin(leaf),
                                    issuer: try PinExportTests.pin(issuer), time: time))
                        }
                    }
                }
            }
        }
        return all
    }

    /// A file of everything that a pin file can say.
    private static func file(_ random: inout SplitMix64) throws -> PinFile {
        func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
        var hosts: [PinFile.Host] = []
        for name in names.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random)) {
            for prefix in ["", "*.", "**."] where chance(2) {
                let pattern = try HostPattern(prefix + name)
                let ports = chance(6) ? [8443] : []
                guard !chance(10) else {
                    hosts.append(try .retired(pattern, ports: ports))
                    continue
                }
                let last = chance(4) ? end : nil
                var pins: [PinFile.KeyPin] = []
                for number in leaves where chance(2) {
                    let state: PinFile.KeyPin.State = chance(5) ? .candidate : chance(3) ? .backup : .active
                    pins.append(try PinExportTests.key(number, .leaf, state, until: last))
                }
                for number in issuers where chance(4) {
                    pins.append(try PinExportTests.key(number, .issuer, until: chance(8) ? nil : last))
                }
                // A pin with both roles is one that may stand anywhere.
                if chance(5) { pins += try [.leaf, .issuer].map { try PinExportTests.key(4, $0, until: last) } }
                let counting = pins.filter { $0.state != .candidate }
                guard !counting.isEmpty else { continue }
                let both = Set(counting.map(\.role)).count == 2 && chance(3)
                hosts.append(
                    try PinFile.Host(
                        pattern, ports: ports, enforcement: chance(8) ? .reportOnly : .enforce,
                        requirement: both ? .oneOfEachRole : .any,
                        afterExpiry: last != nil && !chance(3) ? .standardValidation : .reject, pins: pins))
            }
        }
        return try PinFile(notAfter: chance(8) ? end : nil, hosts: hosts)
    }

    @Test(
        "Where another system requires something else than the pin file, the export names the host",
        arguments: [ExportFormat.trustkit, .ats, .android, .okhttp, .curl, .tlsa])
    func exports(format: ExportFormat) throws {
        var random = SplitMix64(seed: 49)
        let connections = try Self.connections()
        var (different, same) = (0, 0)
        for _ in 0..<400 {
            let file = try Self.file(&random)
            guard !file.hosts.isEmpty else { continue }
            let export = PinExport(file, as: format)
            guard !export.isEmpty else {
                #expect(!export.losses.isEmpty, "nothing is exported without a word")
                continue
            }
            let text = try export.text()
            let foreign = try #require(try ForeignPinning(text, of: format))
            let model = PinFileModel(file: file)
            for connection in connections {
                guard let expected = try model.accepts(connection) else {
                    // The file names the host for another port, or an export that covers the name reports a loss.
                    let isNamed = try model.entry(for: connection.host) != nil || !export.losses.isEmpty
                    #expect(isNamed || foreign.accepts(connection) == nil, "\(connection.host) \(text)")
                    continue
                }
                guard (foreign.accepts(connection) ?? true) != expected else {
                    same += 1
                    continue
                }
                different += 1
                let entry = try #require(try model.entry(for: connection.host))
                let index = try #require(file.hosts.firstIndex(of: entry))
                let isNamed = export.losses.contains { loss in
                    loss.field.hasPrefix("hosts[\(index)]") || loss.text.contains("\(entry.pattern)")
                }
                #expect(
                    isNamed,
                    "\(format): \(connection.host):\(connection.port) \(expected) in silence: \(export.losses) \(text)")
                guard isNamed else { return }
            }
        }
        #expect(different > 0 && same > 1_000)
    }

    @Test(
        "What is exported without a loss requires the same after it is imported again",
        arguments: [ExportFormat.trustkit, .ats, .android, .okhttp])
    func again(format: ExportFormat) throws {
        let source = try #require(PinImport.Source(rawValue: format.rawValue))
        var random = SplitMix64(seed: 50)
        let connections = try Self.connections()
        var compared = 0
        for _ in 0..<1_500 {
            let file = try Self.file(&random)
            let export = PinExport(file, as: format)
            guard !file.hosts.isEmpty, export.losses.isEmpty else { continue }
            let data = Data(try export.text().utf8)
            #expect(try PinImport.Source(detectedIn: data) == source)
            let imported = try PinImport(data, from: source, role: .both)
            #expect(imported.losses.isEmpty, "\(imported.losses)")
            let (before, after) = (PinFileModel(file: file), PinFileModel(file: try imported.file()))
            for connection in connections {
                let (one, other) = (try before.accepts(connection), try after.accepts(connection))
                #expect((one ?? true) == (other ?? true), "\(connection) \(String(decoding: data, as: UTF8.self))")
            }
            compared += 1
        }
        #expect(compared > 10, "\(compared)")
    }

    // MARK: Configurations that others wrote

    /// An entry that people write, whose name may be one that its system never matches.
    private struct Written {
        let name: String
        let isWide: Bool
        let pins: [UInt8]
        let isEnforced: Bool
        let hasEnd: Bool

        init(_ random: inout SplitMix64) {
            func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
            let name = RoundTripMeaningTests.names.randomElement(using: &random) ?? "example.com"
            self.name = chance(8) ? "*.\(name)" : chance(8) ? name.uppercased() : name
            isWide = chance(2)
            pins = (Array(leaves) + Array(issuers)).filter { _ in chance(2) }
            (isEnforced, hasEnd) = (!chance(6), chance(5))
        }

        func rule(isTrustKit: Bool) throws -> ForeignPinning.Rule {
            ForeignPinning.Rule(
                // A star is a character like any other, so that no host has the name.
                name: name.lowercased(), reach: isWide ? .subtree : .exact,
                anywhere: Set(try pins.map { try PinExportTests.pin($0).base64 }),
                end: hasEnd ? RoundTripMeaningTests.end.addingTimeInterval(1) : nil,
                isEnforced: isEnforced || !isTrustKit)
        }

        var day: String { RoundTripMeaningTests.end.addingTimeInterval(1).formatted(.iso8601.year().month().day()) }
    }

    private static func trustKit(_ entries: [Written]) throws -> String {
        let domains = try entries.map { entry in
            let pins = try entry.pins.map { "<string>\(try PinExportTests.pin($0).base64)</string>" }.joined()
            return "<key>\(entry.name)</key><dict><key>TSKIncludeSubdomains</key><\(entry.isWide)/>"
                + "<key>TSKEnforcePinning</key><\(entry.isEnforced)/>"
                + (entry.hasEnd ? "<key>TSKExpirationDate</key><string>\(entry.day)</string>" : "")
                + "<key>TSKPublicKeyHashes</key><array>\(pins)</array>"
                + "<key>TSKDisableDefaultReportUri</key><true/></dict>"
        }
        return "<plist version=\"1.0\"><dict><key>TSKConfiguration</key><dict><key>TSKPinnedDomains</key><dict>"
            + "\(domains.joined())</dict></dict></dict></plist>"
    }

    private static func android(_ entries: [Written]) throws -> String {
        let domains = try entries.map { entry in
            let pins = try entry.pins.map { "<pin digest=\"SHA-256\">\(try PinExportTests.pin($0).base64)</pin>" }
            return "<domain-config><domain includeSubdomains=\"\(entry.isWide)\">\(entry.name)</domain>"
                + "<pin-set\(entry.hasEnd ? " expiration=\"\(entry.day)\"" : "")>\(pins.joined())</pin-set></domain-config>"
        }
        return "<network-security-config>\(domains.joined())</network-security-config>"
    }

    @Test(
        "What TrustKit and Android require is what the imported pin file requires, or the difference is named",
        arguments: [PinImport.Source.trustkit, .android])
    func imports(source: PinImport.Source) throws {
        var random = SplitMix64(seed: 51)
        let connections = try Self.connections()
        var compared = 0
        for _ in 0..<600 {
            var entries: [Written] = []
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let entry = Written(&random)
                // Two keys that are alike are the system's own matter.
                if !entry.pins.isEmpty, !entries.contains(where: { $0.name.lowercased() == entry.name.lowercased() }) {
                    entries.append(entry)
                }
            }
            let isTrustKit = source == .trustkit
            let text = try isTrustKit ? Self.trustKit(entries) : Self.android(entries)
            guard !entries.isEmpty, let imported = try? PinImport(Data(text.utf8), from: source, role: .both),
                let file = try? imported.file()
            else { continue }
            compared += 1
            let foreign = ForeignPinning(rules: try entries.map { try $0.rule(isTrustKit: isTrustKit) })
            let model = PinFileModel(file: file)
            for connection in connections {
                let (required, now) = (foreign.accepts(connection) ?? true, try model.accepts(connection) ?? true)
                #expect(required == now, "\(connection) \(imported.losses) \(text)")
                guard required == now else { return }
            }
            for entry in entries where entry.name.contains("*") {
                #expect(imported.losses.contains { $0.text.contains(entry.name) }, "\(text)")
            }
        }
        #expect(compared > 100, "\(compared)")
    }
}
