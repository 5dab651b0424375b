import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast
@testable import HoldfastCompatibility

@Suite("ISPCertificatePinning", .timeLimit(.minutes(15)))
struct ISPCertificatePinningTests {
    private let log = RecordingLog()

    private func withFile<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        try await PolicyLog.$shared.withValue(log.policyLog) {
            try await withTemporaryFolder { try await body($0.appending(path: "deeper/SSLPins.plist")) }
        }
    }

    @Test("A certificate of exactly that domain anywhere in a valid chain, the anchor included, is a yes")
    func positions() async throws {
        let fixture = try PolicyFixture()
        try await withFile { file in
            for certificate in [fixture.leaf, fixture.issuing.certificate, fixture.root.certificate] {
                let stranger = try TestAuthority.root(clock: fixture.clock).der
                let pins = ["WWW.Example.com": [Data(stranger), Data(certificate.der)], "a.example": [Data(stranger)]]
                #expect(ISPCertificatePinning.setupSSLPins(usingDictionnary: pins, file: file))
                func verify(_ domain: String?, _ trust: ServerTrust?) -> Bool {
                    ISPCertificatePinning.verifyPinnedCertificate(
                        forTrust: trust, andDomain: domain, file: file, clock: fixture.clock)
                }
                let trust = try fixture.trust()
                #expect(verify(PolicyFixture.host, trust))
                #expect(verify(PolicyFixture.host, try fixture.trust(host: nil)))
                for domain in ["example.com", "a.www.example.com", "a.example", "b.example", "", "a b"] {
                    #expect(!verify(domain, try fixture.trust(host: nil)))
                }
                #expect(!verify(nil, trust))
                #expect(!verify(PolicyFixture.host, nil))
                #expect(!verify("a.example", trust))
                #expect(!verify(PolicyFixture.host, try fixture.untrusted()))
                let impostor = try fixture.root.intermediate(name: "Another").impersonate(fixture.leaf)
                let isRoot = certificate == fixture.root.certificate
                #expect(verify(PolicyFixture.host, try fixture.trust(impostor.chain)) == isRoot)
            }
        }
    }

    @Test("Certificates of one domain in several spellings are all pinned, whichever of them is presented")
    func spellings() async throws {
        let fixture = try PolicyFixture()
        let below = "a.\(PolicyFixture.host)"
        let other = try fixture.root.leaf(names: [.dns(PolicyFixture.host), .dns(below)])
        try await withFile { file in
            let pins = [
                "WWW.Example.com": [Data(fixture.leaf.der)], "www.example.com.": [Data(other.der)],
                PolicyFixture.host: [Data(try TestAuthority.root(clock: fixture.clock).der)],
            ]
            #expect(ISPCertificatePinning.setupSSLPins(usingDictionnary: pins, file: file))
            for certificate in [fixture.leaf, other] {
                for domain in [PolicyFixture.host, "WWW.EXAMPLE.com"] {
                    #expect(
                        ISPCertificatePinning.verifyPinnedCertificate(
                            forTrust: try fixture.trust(certificate.chain), andDomain: domain, file: file,
                            clock: fixture.clock))
                }
            }
            // Pins are those of exactly one domain, also for a server that the certificate names.
            #expect(
                !ISPCertificatePinning.verifyPinnedCertificate(
                    forTrust: try fixture.trust(other.chain, host: below), andDomain: below, file: file,
                    clock: fixture.clock))
            // The same key in another certificate is not what is pinned.
            let renewed = try fixture.trust(fixture.issuing.renew(fixture.leaf).chain)
            #expect(
                !ISPCertificatePinning.verifyPinnedCertificate(
                    forTrust: renewed, andDomain: PolicyFixture.host, file: file, clock: fixture.clock))
        }
    }

    @Test("The folder of the file is made for its owner alone, and the file replaces what was stored before")
    func owner() async throws {
        let fixture = try PolicyFixture()
        try await withFile { file in
            let pins = [PolicyFixture.host: [Data(fixture.leaf.der)]]
            #expect(ISPCertificatePinning.setupSSLPins(usingDictionnary: pins, file: file))
            for (path, mode) in [(file.deletingLastPathComponent().path, 0o700), (file.path, 0o600)] {
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
            }
            #expect(try Data(contentsOf: file).starts(with: Data("bplist00".utf8)))
            let others = ["a.example": [Data(fixture.root.der)]]
            #expect(ISPCertificatePinning.setupSSLPins(usingDictionnary: others, file: file))
            #expect(try PinnedCertificateFile(url: file).read() == others)
        }
    }

    @Test("A Merkle Tree Certificate, which servers present in several forms, is not stored")
    func merkleTreeCertificate() async throws {
        let fixture = try PolicyFixture()
        let proved = try fixture.root.leaf(names: [.dns(PolicyFixture.host)]) {
            $0.signature = .foreign([1, 3, 6, 1, 5, 5, 7, 6, 67])
        }
        try await withFile { file in
            let pins = [PolicyFixture.host: [Data(fixture.leaf.der), Data(proved.der)]]
            #expect(!ISPCertificatePinning.setupSSLPins(usingDictionnary: pins, file: file))
            #expect(!FileManager.default.fileExists(atPath: file.path))
        }
        #expect(log.lines.contains { $0.contains("Merkle Tree Certificate") }, "\(log.lines)")
    }

    @Test("No file, a damaged file and no pins for the domain are a no")
    func damaged() async throws {
        let fixture = try PolicyFixture()
        try await withFile { file in
            func verify() throws -> Bool {
                ISPCertificatePinning.verifyPinnedCertificate(
                    forTrust: try fixture.trust(), andDomain: PolicyFixture.host, file: file, clock: fixture.clock)
            }
            #expect(try !verify())
            let pins = [PolicyFixture.host: [Data(fixture.leaf.der)]]
            #expect(ISPCertificatePinning.setupSSLPins(usingDictionnary: pins, file: file))
            #expect(try verify())
            let good = try Data(contentsOf: file)
            for damaged in [
                Data(), good.dropLast(40), Data("text".utf8), Data(count: PinnedCertificateFile.maximumBytes + 1),
            ] {
                try damaged.write(to: file)
                #expect(try !verify())
            }
            #expect(log.lines.count == 4)
            #expect(log.lines.allSatisfy { $0.hasPrefix("error the pinned certificates cannot be used") })
            #expect(log.lines.allSatisfy { $0.contains(PolicyFixture.host) && $0.contains(file.path) }, "\(log.lines)")
            try good.write(to: file)
            #expect(try verify())
            #expect(ISPCertificatePinning.setupSSLPins(usingDictionnary: [PolicyFixture.host: []], file: file))
            #expect(try !verify())
            #expect(ISPCertificatePinning.setupSSLPins(usingDictionnary: [:], file: file))
            #expect(try !verify())
        }
    }

    @Test("A pipe in the place of the file is a no, and not a wait for its writer", .timeLimit(.minutes(1)))
    func pipe() async throws {
        let fixture = try PolicyFixture()
        try await withFile { file in
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            #expect(unsafe mkfifo(file.path, 0o600) == 0)
            #expect(
                !ISPCertificatePinning.verifyPinnedCertificate(
                    forTrust: try fixture.trust(), andDomain: PolicyFixture.host, file: file, clock: fixture.clock))
            #expect(log.lines.count == 1)
        }
    }

    @Test("What cannot be stored as a whole is not stored, and what was there stays")
    func allOrNothing() async throws {
        let fixture = try PolicyFixture()
        try await withFile { file in
            let pins = [PolicyFixture.host: [Data(fixture.leaf.der)]]
            #expect(ISPCertificatePinning.setupSSLPins(usingDictionnary: pins, file: file))
            let before = try Data(contentsOf: file)
            #expect(!ISPCertificatePinning.setupSSLPins(usingDictionnary: nil, file: file))
            let broken = ["a.example": [Data(fixture.root.der), Data([1])]]
            #expect(!ISPCertificatePinning.setupSSLPins(usingDictionnary: broken, file: file))
            #expect(!ISPCertificatePinning.setupSSLPins(usingDictionnary: ["a b": []], file: file))
            #expect(try Data(contentsOf: file) == before)
            let folder = file.deletingLastPathComponent()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [file.lastPathComponent])
            #expect(!ISPCertificatePinning.setupSSLPins(usingDictionnary: pins, file: folder))
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [file.lastPathComponent])
            #expect(log.lines.count == 3)
            #expect(log.lines.allSatisfy { $0.hasPrefix("error the pinned certificates were not stored") })
        }
    }

    @Test("Whoever reads while others write finds a whole file")
    func atomic() async throws {
        let fixture = try PolicyFixture()
        let trust = try fixture.trust()
        try await withFile { file in
            let pins = [PolicyFixture.host: [Data(fixture.leaf.der)]]
            #expect(ISPCertificatePinning.setupSSLPins(usingDictionnary: pins, file: file))
            await withTaskGroup(of: Void.self) { group in
                for writer in 0..<2 {
                    group.addTask {
                        for round in 0..<20 {
                            var more = pins
                            more["host\(writer)-\(round).example"] = [Data(fixture.root.der)]
                            #expect(ISPCertificatePinning.setupSSLPins(usingDictionnary: more, file: file))
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<60 {
                        #expect(
                            ISPCertificatePinning.verifyPinnedCertificate(
                                forTrust: trust, andDomain: PolicyFixture.host, file: file, clock: fixture.clock))
                    }
                }
            }
        }
    }

    #if !canImport(Darwin)
    @Test("The file is in the folder that the user's programs keep Holdfast's data in")
    func place() {
        let home = URL(fileURLWithPath: "/home/somebody")
        func path(_ environment: [String: String]) -> String {
            DataFolder.holdfast(environment: environment, home: home).path
        }
        #expect(path([:]) == "/home/somebody/.local/share/holdfast")
        #expect(path(["XDG_DATA_HOME": "/data"]) == "/data/holdfast")
        #expect(path(["XDG_DATA_HOME": "data"]) == "/home/somebody/.local/share/holdfast")
        #expect(ISPCertificatePinning.defaultFile.path == FileDataStore.defaultFolder.path + "/SSLPins.plist")
    }
    #endif
}
