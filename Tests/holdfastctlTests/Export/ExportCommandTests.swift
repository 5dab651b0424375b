import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastPublishing
@testable import holdfastctl

@Suite("holdfastctl export and import", .timeLimit(.minutes(15)))
struct ExportCommandTests {
    private func write(_ file: PinFile, to folder: URL) throws {
        try file.json.write(to: folder.appending(path: "bank.pins.json"))
    }

    @Test("Export prints the whole file, warns of hosts without a backup, and import reads it back")
    func roundTrip() async throws {
        try await withTemporaryFolder { folder in
            for format in ["trustkit", "ats", "android"] {
                let file = try PinExportTests.plain(for: ExportFormat(rawValue: format))
                try write(file, to: folder)
                let exported = try await CommandRun.inProcess(
                    ["export", "bank.pins.json", "--format", format, "--force", "offline"], in: folder)
                #expect(exported.status == 0)
                #expect(exported.errors.components(separatedBy: "has no backup pin").count == file.hosts.count + 1)
                try Data(exported.output.utf8).write(to: folder.appending(path: format))
                let imported = try await CommandRun.inProcess(
                    ["import", format, "--from", format, "--role", "leaf"], in: folder)
                #expect(imported.status == 0, "\(imported.errors)")
                #expect(try Set(PinFile(json: Data(imported.output.utf8)).hosts) == Set(file.hosts))
                #expect(imported.errors.contains("no backup pin"))
            }
            let file = try PinExportTests.plain()
            try write(file, to: folder)
            let json = try await CommandRun.inProcess(
                ["export", "bank.pins.json", "--format", "json", "--force", "offline"], in: folder)
            #expect(json.output == String(decoding: file.json, as: UTF8.self))
        }
    }

    @Test("What cannot be said is an error that names it, and with --lossy a line on standard error")
    func losses() async throws {
        try await withTemporaryFolder { folder in
            let file = try PinFile(
                notAfter: PinExportTests.endOfDay,
                hosts: [
                    PinFile.Host(
                        HostPattern("api.example.com"), afterExpiry: .standardValidation,
                        pins: [PinExportTests.key(1), PinExportTests.key(2, .leaf, .backup)]),
                    .retired(HostPattern("old.example.com")),
                ])
            try write(file, to: folder)
            let arguments = ["export", "bank.pins.json", "--format", "ats", "--force", "offline"]
            let refused = try await CommandRun.inProcess(arguments, in: folder)
            #expect(refused.status == 1 && refused.output.isEmpty)
            #expect(refused.errors.contains("notAfter: ") && refused.errors.contains("hosts[1].retired: "))
            #expect(refused.errors.contains("note: hosts[0].pins[1].state"))
            let allowed = try await CommandRun.inProcess(arguments + ["--lossy"], in: folder)
            #expect(allowed.status == 0 && allowed.output.contains("NSPinnedDomains"))
            #expect(allowed.errors.contains("lost: notAfter: ") && allowed.errors.contains("lost: hosts[1].retired: "))
            #expect(!allowed.errors.contains("backup pin"))
        }
    }

    @Test("A TLSA record for an IP address is refused, by export and by pin, and --lossy leaves the host out")
    func addressWithoutRecord() async throws {
        let site = try TestSite()
        let (leaf, key) = (try site.issuing.leaf(names: [.address([127, 0, 0, 1])]), try PinExportTests.key(1))
        try await withTemporaryFolder { folder in
            try Data(site.root.certificate.pem.utf8).write(to: folder.appending(path: "root.pem"))
            let named = try PinFile.Host(HostPattern("api.example.com"), ports: [443], pins: [key])
            for address in ["127.0.0.1", "2001:db8::1"] {
                let host = try PinFile.Host(HostPattern(address), ports: [443], pins: [key])
                try write(try PinFile(hosts: [host, named]), to: folder)
                let export = ["export", "bank.pins.json", "--format", "tlsa", "--force", "offline"]
                let refused = try await CommandRun.inProcess(export, in: folder)
                #expect(refused.status == 1 && refused.output.isEmpty, "\(refused.output)")
                #expect(refused.errors.contains("a TLSA record cannot name \(address)"), "\(refused.errors)")
                let lossy = try await CommandRun.inProcess(export + ["--lossy"], in: folder)
                #expect(lossy.status == 0 && lossy.lines.count == 1, "\(lossy.output)\(lossy.errors)")
                #expect(lossy.output.hasPrefix("_443._tcp.api.example.com. "))
            }
            try await withLoopbackTLSServer(serving: leaf) { server in
                let pin = try await CommandRun.inProcess(
                    ["pin", "127.0.0.1:\(server.port)", "--format", "tlsa", "--ca", "root.pem"], in: folder)
                #expect(pin.status == 1 && pin.output.isEmpty, "\(pin.output)\(pin.errors)")
                #expect(pin.errors.contains("cannot name 127.0.0.1"), "\(pin.errors)")
            }
        }
    }

    @Test("Usage errors exit with 2, a file that is no pin file with 1 and its field, one that is not there with 3")
    func errors() async throws {
        try await withTemporaryFolder { folder in
            try Data(#"{"schema":1,"hosts":[{"host":"a.b"}]}"#.utf8).write(to: folder.appending(path: "bad.json"))
            for (arguments, status, text) in [
                (["export"], 2, "--key"), (["export", "bad.json"], 2, "--format"),
                (["export", "bad.json", "--key", "k.pem"], 2, "--key"),
                (["export", "--key", "k.pem", "--lossy"], 2, "pin file"),
                (["export", "bad.json", "--format", "ats"], 1, "hosts[0].pins"),
                (["export", "none.json", "--format", "ats"], 3, "no such file"),
                (["import", "bad.json", "--from", "android"], 1, "network security"),
            ] as [([String], Int32, String)] {
                let run = try await CommandRun.inProcess(arguments, in: folder)
                #expect(run.status == status && run.errors.contains(text), "\(arguments): \(run.errors)")
                #expect(run.output.isEmpty)
            }
        }
    }

    @Test(
        "curl loads the configuration, gets in by the pin of the server and by no other",
        .needs(.curl))
    func curl() async throws {
        let curl = try #require(ForeignPeers.curl, "curl is required and not there")
        let site = try TestSite()
        try await withTemporaryFolder { folder in
            let ca = folder.appending(path: "root.pem")
            try Data(site.root.certificate.pem.utf8).write(to: ca)
            try await withLoopbackTLSServerOfHTTP(site) { port in
                func fetch(pinning pins: [PinFile.KeyPin]) async throws -> CommandRun {
                    let file = try PinFile(hosts: [PinFile.Host(HostPattern(TestSite.name), pins: pins)])
                    let path = folder.appending(path: "curl.config")
                    try Data(PinExport(file, as: .curl).text().utf8).write(to: path)
                    return try await CommandRun.run(
                        curl,
                        [
                            "-q", "--silent", "--show-error", "--noproxy", "*", "--cacert", ca.path, "--connect-to",
                            "\(TestSite.name):443:127.0.0.1:\(port)", "--config", path.path,
                        ])
                }
                let own = try PinFile.KeyPin(Pin(site.keyPins()[0]))
                let accepted = try await fetch(pinning: [PinExportTests.key(1), own])
                #expect(accepted.status == 0 && accepted.output.contains("Hello"), "\(accepted.errors)")
                let refused = try await fetch(pinning: [PinExportTests.key(1)])
                #expect(refused.status == 90 && refused.output.isEmpty)
            }
        }
    }
}
