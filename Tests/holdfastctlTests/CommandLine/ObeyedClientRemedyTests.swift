import Foundation
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

/// Refusals of what a server serves, for verbs that see it as clients do; the remedies are obeyed as
/// ``ObeyedRemedyTests`` does.
@Suite("Remedies about what is served that are obeyed", .needs(.openSSL), .timeLimit(.minutes(30)))
struct ObeyedClientRemedyTests {
    typealias Refusal = ObeyedRemedyTests.Refusal

    private static let root = "copy/public/metadata/1.root.json"
    private static let client = "holdfastctl tuf --metadata-dir trusted"
    private static let begin = "\(client) init \(root)"
    private static let refresh = "\(client) --metadata-url URL/metadata refresh"
    private static let download =
        "\(client) --metadata-url URL/metadata --target-dir . --target-base-url URL/targets --target-name pins.json download"
    private static let renew = "holdfastctl repository renew site --key online.pem --no-shipped-pins --offline"
    private static let restore = "rm -r site; cp -r copy site"

    private static let clients: [Refusal] = [
        .init(
            setup: "true", refused: "\(client) init missing.json", says: "Give the file of the root that you trust",
            obeyed: "cp \(root) missing.json"),
        .init(
            setup: "true", refused: "\(client) init leaf.pem", says: "Give the root metadata of the repository",
            obeyed: "true", then: begin),
        .init(
            setup: "true", refused: begin.replacing("1.root", with: "timestamp"),
            says: "Give the root metadata of the repository", obeyed: "true", then: begin),
        .init(
            setup: "true", refused: begin.replacing("trusted", with: "leaf.pem"), says: "Name another folder",
            obeyed: "true", then: begin),
        .init(setup: "true", refused: refresh, says: "Begin with the root that you trust"),
        .init(
            setup: "\(begin); : > trusted/root.json", refused: refresh, says: "Begin again with the root that you trust"
        ),
        .init(
            setup: begin, refused: refresh.replacing("URL", with: "ftp://pins.example.com"),
            says: "Give a URL such as https://tuf.example.com/metadata", obeyed: "true", then: refresh),
        .init(
            setup: begin, refused: refresh.replacing("URL", with: "URL/nothing"), says: "Check the network and the URL",
            obeyed: "true", then: refresh),
        .init(
            setup: begin, refused: download.replacing("pins.json", with: "pin.json"),
            says: "Check the name of the target",
            obeyed: "true", then: download),
        .init(
            setup: "\(begin); rm site/public/targets/*", refused: download, says: "Check the network and the URL",
            obeyed: restore),
        .init(
            setup: "\(begin); \(renew) --quiet; \(refresh); \(restore)", refused: refresh, says: "--above VERSION",
            obeyed: "\(renew) --above 2"),
        .init(
            setup: "\(begin); sed -i 's/\"sig\":\"../\"sig\":\"00/' site/public/metadata/timestamp.json",
            refused: refresh,
            says: "it was altered", obeyed: restore),
    ]

    private static func check(_ url: String = "URL", root: String = root) -> String {
        "holdfastctl check --repository \(url) --app-root \(root) --chain leaf.pem --host www.example.com --ca root.pem "
            + "--no-shipped-pins"
    }

    private static let status = "holdfastctl repository status --url URL --app-root \(root) --no-shipped-pins --offline"

    private static let operators: [Refusal] = [
        .init(
            setup: "true", refused: check("URL/metadata"), says: "Check that the URL is that of the folder public",
            obeyed: "true", then: check()),
        .init(
            setup: "true", refused: check("ftp://pins.example.com"), status: 2,
            says: "ive a URL such as https://pins.example.com", obeyed: "true", then: check()),
        .init(
            setup: "rm -r site/public/bundle.json site/public/targets", refused: check(),
            says: "upload that folder again",
            obeyed: restore),
        .init(
            setup: "rm site/public/bundle.json", refused: status, says: "upload that folder again", obeyed: restore,
            good: [3]),
        .init(
            setup: "holdfastctl keygen -o other.pem --no-password --quiet\nholdfastctl repository init foreign --small "
                + "--offline-key other.pem --online-key online.pem --quiet",
            refused: status.replacing(root, with: "foreign/draft/root.json"),
            says: "give with --app-root a root of this repository", obeyed: "true", then: status, good: [3]),
        .init(
            setup:
                "holdfastctl keygen -o other.pem --no-password --quiet\nholdfastctl keygen -o more.pem --no-password "
                + "--quiet\nholdfastctl repository init foreign --small --offline-key other.pem --online-key more.pem --quiet",
            refused: check(root: "foreign/draft/root.json"), says: "Give with --app-root the root.json", obeyed: "true",
            then: check()),
    ]

    @Test(
        "What a client or an operator is refused at a URL succeeds as its remedy says", arguments: clients + operators)
    func served(refusal: Refusal) async throws {
        try await SigningSite.with { site in
            let repository = try await PublishedRepository(in: site)
            try site.write("online.pem", try #require(repository.online.pem), mode: 0o600)
            try await repository.servedLive { url in
                func at(_ line: String) -> String { line.replacing("URL", with: url) }
                // The remedy of a sentence about a URL has the word as well.
                let filled = Refusal(
                    setup: "cp -r site copy\n\(at(refusal.setup))", refused: at(refusal.refused),
                    status: refusal.status,
                    says: refusal.says, obeyed: refusal.obeyed.map(at), then: refusal.then.map(at), good: refusal.good)
                try await ObeyedRemedyTests.obey(filled, in: site)
            }
        }
    }

    @Test("A trust server's document that is checked with another file than its signer is checked as the remedy says")
    func signer() async throws {
        try await TrustServerSite.with { site in
            try site.emptyDocument(at: site.second).write(to: site.file("it.signed"))
            try site.certificate.write(to: site.file("acme.crt"))
            let check = ["check", "--trust-server", "it.signed", "--no-shipped-pins", "--ca", "root.pem", "--signer"]
            let refused = try await CommandRun.inProcess(check + ["it.signed"], in: site.folder)
            #expect(refused.status == 3 && refused.errors.contains("--signer it.signed: expected"), "\(refused.errors)")
            #expect(refused.errors.contains("Give CUSTOMER.crt of the folder"), "\(refused.errors)")
            let again = try await CommandRun.inProcess(check + ["acme.crt"], in: site.folder)
            // It is read then, and has nothing to dial.
            #expect(again.status == 3 && again.errors.contains("no host that can be dialed"), "\(again.errors)")
        }
    }
}
