import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

/// Refusals of the verbs that ``ObeyedRemedyTests`` does not have.
@Suite("Remedies of further verbs that are obeyed", .needs(.openSSL), .timeLimit(.minutes(30)))
struct ObeyedVerbRemedyTests {
    private static let pinFile =
        "holdfastctl pin leaf.pem --certificates leaf --format json --host www.example.com -o app.pins.json --quiet"
    private static let list =
        "holdfastctl sign leaf.pem --key key.pem --ca root.pem --no-shipped-pins --force offline --list l.json --quiet"
    private static let keys = """
        holdfastctl keygen -o offline.pem --no-password --quiet >/dev/null
        holdfastctl keygen -o online.pem --no-password --quiet >/dev/null
        """

    /// A gate whose files are in order goes on to the host, which does not answer (exit code 3).
    private static func gate(_ arguments: String) -> String {
        "holdfastctl gate www.example.com --ca root.pem --connect-to 127.0.0.1:9 --timeout 2s \(arguments)"
    }

    private static let refusals: [ObeyedRemedyTests.Refusal] = [
        .init(
            setup: list, refused: "holdfastctl verify l.json --public-key key.pem", status: 2,
            says: "which `holdfastctl export --key signer.pem` prints",
            obeyed: "holdfastctl export --key key.pem > signer.pub",
            then: "holdfastctl verify l.json --public-key signer.pub"),
        .init(
            setup: list,
            refused: "holdfastctl list remove l.json www.example.com --key key.pem --public-key key.pem "
                + "--no-shipped-pins --force offline", status: 2,
            says: "which `holdfastctl export --key signer.pem` prints",
            obeyed: "holdfastctl export --key key.pem > signer.pub",
            then: "holdfastctl list show l.json --public-key signer.pub"),
        .init(
            setup: "\(pinFile)\n\(list)", refused: "holdfastctl pins diff app.pins.json l.json",
            says: "Name a pin file.",
            obeyed: "true", then: "holdfastctl pins diff app.pins.json app.pins.json"),
        .init(
            setup: pinFile, refused: "holdfastctl import app.pins.json",
            says: "It is a pin file already: use it as it is.",
            obeyed: "true", then: "holdfastctl show app.pins.json"),
        .init(
            setup: pinFile, refused: gate("--pins app.pins.json --next issuing.pem"),
            says: "Give the file with the host's own certificate first", obeyed: "true",
            then: gate("--pins app.pins.json --next leaf.pem"), good: [3]),
        .init(
            setup: pinFile, refused: gate("--next leaf.pem"), status: 2, says: "Say which pins clients have: ",
            obeyed: "true",
            then: gate("--pins app.pins.json --next leaf.pem"), good: [3]),
        .init(
            setup:
                "\(keys)\nholdfastctl repository init site --small --offline-key offline.pem --online-key online.pem",
            refused: "holdfastctl repository init site --small --offline-key offline.pem --online-key online.pem",
            status: 3, says: "name another folder", obeyed: "true",
            then: "holdfastctl repository init other --small --offline-key offline.pem --online-key online.pem"),
        .init(
            setup: keys,
            refused: "holdfastctl repository init site --small --offline-key online.pem --online-key online.pem",
            says: "keep online keys out of root and targets", obeyed: "true",
            then: "holdfastctl repository init site --small --offline-key offline.pem --online-key online.pem"),
    ]

    @Test("What a verb refuses is done as its remedy says", arguments: refusals)
    func verbs(refusal: ObeyedRemedyTests.Refusal) async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            try site.write("issuing.pem", site.issuing.certificate.pem)
            try await ObeyedRemedyTests.obey(refusal, in: site)
        }
    }
}
