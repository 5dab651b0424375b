import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl trust-server publish --first-run", .timeLimit(.minutes(15)))
struct FirstRunTests {
    private static let firstRun = ["--first-run", "--kind", "p-256"]
    private static let key = ["data/acme.key"]
    private static let certificate = ["output/acme.crt", "output/acme.pem"]
    private static let document = ["output/acme.json.signed"]

    /// A site with a list of one host, before anything is made or after a first round.
    private func with(
        isPublished: Bool, _ body: (TrustServerSite) async throws -> Void
    ) async throws {
        try await TrustServerSite.with { site in
            try await withLoopbackTLSServer(serving: site.leaf) { server in
                try site.write("data/acme.domains", "127.0.0.1:\(server.port)\n")
                if isPublished {
                    #expect(try await site.publish().status == 0)
                } else {
                    for file in Self.key + Self.certificate {
                        try FileManager.default.removeItem(at: site.file(file))
                    }
                }
                try await body(site)
            }
        }
    }

    private func content(_ site: TrustServerSite, _ file: String) -> Data? { try? Data(contentsOf: site.file(file)) }

    @Test(
        "A key is made only if key, certificate and document are missing and it is asked for; remedies work",
        arguments: [false, true], [false, true])
    func combinations(hasKey: Bool, hasCertificate: Bool) async throws {
        for (hasDocument, isFirst) in [(false, false), (false, true), (true, false), (true, true)] {
            for restores in [false, true] {
                try await with(isPublished: true) { site in
                    var (there, lost) = ([String](), [String: Data]())
                    for (isThere, files) in [
                        (hasKey, Self.key), (hasCertificate, Self.certificate), (hasDocument, Self.document),
                    ] {
                        for file in files {
                            if isThere { there.append(file) } else { lost[file] = content(site, file) }
                        }
                    }
                    for file in lost.keys { try FileManager.default.removeItem(at: site.file(file)) }
                    let run = try await site.publish(isFirst ? Self.firstRun : [])
                    let isUsable = hasKey && hasCertificate
                    let isNew = there.isEmpty && isFirst
                    #expect(run.status == (isUsable && !isFirst || isNew ? 0 : 3), "\(run.output)\(run.errors)")
                    if isNew {
                        // Another key, and its certificate is printed.
                        #expect(run.lines.first == content(site, "output/acme.crt")?.base64EncodedString()[...])
                        #expect(content(site, "data/acme.key") != lost["data/acme.key"])
                        return
                    }
                    for file in lost.keys where run.status != 0 { #expect(content(site, file) == nil, "\(file)") }
                    guard run.status == 3 else { return }
                    if isUsable {
                        #expect(run.errors.contains("there already: leave out --first-run"), "\(run.errors)")
                        #expect(try await site.publish().status == 0)
                        return
                    }
                    if restores {
                        for (file, data) in lost where run.errors.contains(file) {
                            try data.write(to: site.file(file))
                        }
                        #expect(try await site.publish().status == 0, "\(run.errors)")
                        return
                    }
                    #expect(run.errors.contains("publish with --first-run"), "\(run.errors)")
                    let removed = run.errors.split(separator: ", remove ").dropFirst().first ?? ""
                    for file in there {
                        #expect(removed.contains(file), "\(file): \(run.errors)")
                        try FileManager.default.removeItem(at: site.file(file))
                    }
                    let again = try await site.publish(Self.firstRun)
                    #expect(again.status == 0, "\(run.errors)\(again.errors)")
                }
            }
        }
    }

    @Test("The key is for its owner alone, and the certificate is printed, also with --quiet and in JSON")
    func files() async throws {
        for options in [[], ["--quiet"], ["--json"]] {
            try await with(isPublished: false) { site in
                let run = try await site.publish(Self.firstRun + options)
                #expect(run.status == 0, "\(run.errors)")
                #expect(try site.mode("data/acme.key") == 0o600)
                let der = try #require(content(site, "output/acme.crt"))
                let pem = try CertificateFile.certificates(
                    in: #require(content(site, "output/acme.pem")), named: "acme.pem")
                #expect(pem.map { Data($0.der) } == [der] && pem.first?.subject.commonName == "acme")
                let line = try #require(run.lines.first)
                let text = der.base64EncodedString()
                #expect(options == ["--json"] ? line.contains(text) : line == text, "\(run.output)")
                #expect(line.contains("madeKey") == (options == ["--json"]))
                #expect(run.errors.isEmpty == !options.isEmpty, "\(run.errors)")
            }
        }
    }

    @Test("A first run that fails before it has a key and a certificate leaves neither behind")
    func failing() async throws {
        try await with(isPublished: false) { site in
            func fails(_ words: String) async throws {
                let run = try await site.publish(Self.firstRun)
                #expect(run.status == 3 && run.errors.contains(words), "\(run.errors)")
                #expect(content(site, "data/acme.key") == nil && content(site, "output/acme.crt") == nil)
            }
            let list = try #require(content(site, "data/acme.domains"))
            try FileManager.default.removeItem(at: site.file("data/acme.domains"))
            try await fails("acme.domains")
            try list.write(to: site.file("data/acme.domains"))
            // A link that leads nowhere is seen only when the certificate is written.
            let link = site.file("output/acme.pem").path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "nowhere/acme.pem")
            try await fails("acme.pem")
            try FileManager.default.removeItem(atPath: link)
            #expect(try await site.publish(Self.firstRun).status == 0)
        }
    }

    @Test(
        "It goes with nothing that names a key or publishes no round",
        arguments: [["--key", "k"], ["--certificate", "c"], ["--resign-only"]])
    func usage(option: [String]) async throws {
        try await withTemporaryFolder { folder in
            let run = try await CommandRun.inProcess(
                ["trust-server", "publish", "--customer", "a", "--domains", "d", "--folder", "o", "--first-run"]
                    + option, in: folder)
            #expect(run.status == 2 && run.errors.contains("leave out --key, --certificate and --resign-only"))
        }
    }
}
