import Foundation
import Holdfast
import Testing

@testable import HoldfastPublishing
@testable import holdfastctl

/// Where a client of another system would behave differently from what the pin file says, the export names it.
@Suite("What an export cannot say")
struct PinExportLossTests {
    private static func file(
        _ pattern: String, ports: [Int] = [], afterExpiry: PinSet.ExpiryAction = .reject, until end: Date? = nil
    ) throws -> PinFile {
        try PinFile(
            notAfter: end,
            hosts: [
                PinFile.Host(
                    HostPattern(pattern), ports: ports, afterExpiry: afterExpiry,
                    pins: [PinExportTests.key(1), PinExportTests.key(2)])
            ])
    }

    private func losses(_ file: PinFile, _ format: ExportFormat) -> [String] {
        PinExport(file, as: format).losses.map(\.text)
    }

    @Test("Names of any depth are a loss for Apple's format, which pins one more label only")
    func depth() throws {
        let deep = try Self.file("**.example.com")
        let found = losses(deep, .ats)
        #expect(found.count == 1 && found[0].hasPrefix("hosts[0].host: ") && found[0].contains("one more label"))
        #expect(try PinExport(deep, as: .ats).text().contains("<key>NSIncludesSubdomains</key>"))
        for format in [ExportFormat.trustkit, .android, .okhttp] { #expect(losses(deep, format).isEmpty) }
    }

    @Test("A name and its one more label with the same pins are one entry for Apple, and nothing is lost")
    func pairs() throws {
        let pins = [try PinExportTests.key(1), try PinExportTests.key(2)]
        let hosts = try ["example.com", "*.example.com"].map { try PinFile.Host(HostPattern($0), pins: pins) }
        for hosts in [hosts, hosts.reversed()] {
            let export = PinExport(try PinFile(hosts: hosts), as: .ats)
            #expect(export.losses.isEmpty && export.entries.count == 1, "\(export.losses)")
            #expect(try export.text().contains("<key>NSIncludesSubdomains</key>"))
        }
        let other = try PinFile.Host(HostPattern("*.example.com"), pins: [PinExportTests.key(3)])
        #expect(!losses(try PinFile(hosts: [hosts[0], other]), .ats).isEmpty)
    }

    @Test("An address, and a name of one label, are left out of formats that cannot name them")
    func names() throws {
        for pattern in ["192.0.2.1", "2001:db8::1"] {
            let file = try Self.file(pattern, ports: [443])
            for format in [ExportFormat.ats, .trustkit, .tlsa] {
                #expect(losses(file, format).contains { $0.hasPrefix("hosts[0].host: ") }, "\(format) \(pattern)")
                #expect(PinExport(file, as: format).entries.isEmpty)
            }
        }
        #expect(!losses(try Self.file("intranet"), .trustkit).isEmpty)
        #expect(losses(try Self.file("intranet"), .android).isEmpty)
    }

    @Test("A TLSA record is for one port, so that a host for any port is a loss")
    func anyPort() throws {
        #expect(losses(try Self.file("example.com"), .tlsa).contains { $0.hasPrefix("hosts[0].ports: ") })
        #expect(losses(try Self.file("example.com", ports: [443]), .tlsa).isEmpty)
    }

    @Test("A host of which no pin can be written is named as left out")
    func withoutPins() throws {
        let file = try PinFile(hosts: [
            PinFile.Host(HostPattern("example.com"), ports: [443], pins: [PinExportTests.key(1, .issuer)])
        ])
        for format in [ExportFormat.curl, .tlsa] {
            #expect(losses(file, format).contains { $0.contains("the host is left out") }, "\(format)")
        }
    }

    @Test("Days that begin elsewhere, and keys that count alone, are named")
    func notes() throws {
        let end = PinExportTests.endOfDay
        let android = PinExport(
            try Self.file("example.com", afterExpiry: .standardValidation, until: end), as: .android)
        #expect(android.losses.isEmpty && android.notes.contains { $0.text.contains("midnight on the device") })
        let tlsa = PinExport(try Self.file("example.com", ports: [443]), as: .tlsa)
        #expect(tlsa.notes.contains { $0.text.contains("RFC 7671") })
    }

    @Test("TrustKit is told not to leave pins out for anchors that the user added")
    func userAnchors() throws {
        let text = try PinExport(try Self.file("example.com"), as: .trustkit).text()
        #expect(text.contains("<key>TSKIgnorePinningForUserDefinedTrustAnchors</key>\n        <false/>"), "\(text)")
    }
}
