import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

/// Refusals about repositories, whose remedies are obeyed as ``ObeyedRemedyTests`` does.
@Suite("Remedies about repositories that are obeyed", .needs(.openSSL), .timeLimit(.minutes(30)))
struct ObeyedRepositoryRemedyTests {
    typealias Refusal = ObeyedRemedyTests.Refusal

    private static let offline = "--no-shipped-pins --force offline"
    private static let prepare = "holdfastctl repository pins site bank.pins.json --key offline.pem \(offline)"
    private static let publish = "holdfastctl repository publish site --key online.pem \(offline)"
    private static let renew = "holdfastctl repository renew site --key online.pem --no-shipped-pins --offline"
    private static let status = "holdfastctl repository status site --no-shipped-pins --offline"
    private static let begin = """
        holdfastctl repository init site --small --offline-key offline.pem --online-key online.pem --quiet
        """
    /// A published repository, and a copy of it.
    private static let published = """
        for key in offline online other second; do
          holdfastctl keygen -o $key.pem --no-password --quiet >/dev/null
        done
        holdfastctl keygen --tls www.example.com -o backup.key --no-password --quiet
        holdfastctl pin leaf.pem backup.csr --certificates leaf --format json --host www.example.com -o bank.pins.json \
          --quiet
        \(begin)
        \(prepare) --quiet
        \(publish) --quiet
        cp -r site copy
        """

    private static func check(_ repository: String = "site", root: String = "copy/public/metadata/1.root.json")
        -> String
    {
        "holdfastctl check --repository \(repository) --app-root \(root) --chain leaf.pem --host www.example.com "
            + "--ca root.pem --no-shipped-pins"
    }

    // MARK: Files

    private static let damages: [Refusal] = [
        .init(
            setup: "rm site/public/bundle.json", refused: check(), status: 3, says: "Write it again",
            obeyed: renew),
        .init(setup: "rm site/public/bundle.json", refused: status, says: "no bundle.json", obeyed: renew, good: [3]),
        .init(
            setup: "echo '{}' > site/public/bundle.json", refused: status,
            says: "Next: holdfastctl repository renew site --key ONLINE-KEY", obeyed: renew, good: [3]),
        .init(
            setup: "\(renew) --quiet; cp copy/public/bundle.json site/public/", refused: status,
            says: "Next: holdfastctl repository renew site --key ONLINE-KEY", obeyed: renew, good: [3]),
        .init(
            setup: "rm site/public/metadata/1.root.json", refused: check(), says: "Put the file back from a copy",
            obeyed: "cp copy/public/metadata/1.root.json site/public/metadata/"),
        .init(
            setup: ": > site/public/metadata/1.root.json", refused: status, says: "Restore the folder from a copy",
            obeyed: "rm -r site; cp -r copy site", good: [3]),
        .init(
            setup: "rm site/public/metadata/timestamp.json", refused: renew, says: "Put the folder back from a copy",
            obeyed: "rm -r site; cp -r copy site"),
        .init(
            setup: "rm site/public/targets/*", refused: check(), says: "Restore the folder from a copy",
            obeyed: "rm -r site; cp -r copy site"),
        .init(
            setup: "\(prepare) --quiet; : > site/draft/pins.json", refused: status, says: "Prepare the pins again",
            obeyed: prepare, good: [3]),
        .init(
            setup: "\(prepare) --quiet; : > site/draft/targets.json", refused: status,
            says: "Delete the file and prepare the change again", obeyed: "rm site/draft/targets.json; \(prepare)",
            good: [3]),
        .init(
            setup:
                "\(prepare) --quiet; cp site/draft/targets.json old; rm site/draft/*; \(prepare) --quiet; \(publish) --quiet; "
                + "cp old site/draft/targets.json; sed -i 's/\"version\": *2/\"version\":7/' site/draft/targets.json",
            refused: status, says: "Prepare the change again", obeyed: prepare, good: [3]),
    ]

    private static let places: [Refusal] = [
        .init(
            setup: "true", refused: "\(status.replacing(" site ", with: " site/public "))", status: 3,
            says: "Name the folder that contains it", obeyed: "true", then: status, good: [3]),
        .init(
            setup: "mkdir new", refused: "holdfastctl repository status new --offline", status: 3,
            says: "Name the folder of the repository", good: [1]),
        .init(
            setup: "true", refused: check("nowhere"), status: 2, says: "Name the folder of the repository",
            obeyed: "true",
            then: check()),
        .init(
            setup: "true", refused: check(root: "leaf.pem"), status: 3,
            says: "Give the root.json that the app was built with",
            obeyed: "true", then: check(root: "site/public/metadata/1.root.json")),
        .init(
            setup: "true", refused: check(root: "copy/public/metadata/timestamp.json"), status: 3,
            says: "found that of the role timestamp. Give the root.json", obeyed: "true", then: check()),
        .init(
            setup:
                "holdfastctl repository init foreign --small --offline-key other.pem --online-key second.pem --quiet",
            refused: check(root: "foreign/draft/root.json"),
            says: "the first one of this repository is site/public/metadata/1.root.json", obeyed: "true", then: check()),
        .init(
            setup: "true",
            refused: "holdfastctl repository init leaf.pem --small --offline-key offline.pem --online-key online.pem",
            status: 3, says: "Name another folder", obeyed: "true",
            then: "holdfastctl repository init new --small --offline-key offline.pem --online-key online.pem"),
        .init(
            setup: "rm -r site; \(begin)", refused: "\(prepare) --app-root copy/public/metadata/1.root.json",
            says: "Leave --app-root out until the first publication", obeyed: "true", then: prepare),
        .init(
            setup: "rm -r site; \(begin); \(prepare) --quiet", refused: renew, says: "publish first", obeyed: publish),
    ]

    @Test("A repository that is damaged, or another folder or root, is put right as told", arguments: damages + places)
    func files(refusal: Refusal) async throws {
        try await Self.obey(refusal)
    }

    // MARK: Keys

    private static let rotate = "holdfastctl repository rotate site --key offline.pem --role"

    private static let keys: [Refusal] = [
        .init(
            setup: "true", refused: "\(prepare.replacing("offline.pem", with: "online.pem"))",
            says: "Give the file of that key with --key", obeyed: "true", then: prepare),
        .init(
            setup: "true", refused: renew.replacing("online.pem", with: "offline.pem"), says: "Give the online key",
            obeyed: "true", then: renew),
        .init(
            setup: "true", refused: "\(renew) --lifetime 1d", says: "Choose a longer lifetime", obeyed: "true",
            then: "\(renew) --lifetime 7d"),
        .init(
            setup: "true", refused: renew.replacing("--key online.pem ", with: ""), status: 2,
            says: "Give the online key with --key", obeyed: "true", then: renew),
        .init(
            setup: "\(rotate) snapshot --add second.pem --threshold 2 --quiet", refused: publish,
            says: "Give each of the keys that must sign it with --key", obeyed: "true",
            then: "\(publish) --key second.pem"),
        .init(
            setup: "\(rotate) root --add second.pem --remove offline.pem --quiet", refused: publish,
            says: "Pass the repository's folder on to the other keyholders, who sign with their keys",
            obeyed: "holdfastctl repository sign site --key second.pem \(offline)"),
        .init(
            setup: "\(rotate) root --add second.pem --remove offline.pem --quiet",
            refused: "holdfastctl repository sign site --key other.pem \(offline)",
            says: "Give the file of that key with --key", obeyed: "true",
            then: "holdfastctl repository sign site --key second.pem \(offline)"),
        .init(
            setup: "true", refused: "holdfastctl repository sign site --key offline.pem \(offline)",
            says: "repository pins or repository rotate prepares a change", obeyed: prepare,
            then: "holdfastctl repository sign site --key offline.pem \(offline)"),
        .init(
            setup: "true", refused: "\(rotate) root --remove offline.pem", says: "Give each role enough keys",
            obeyed: "true", then: "\(rotate) root --remove offline.pem --add second.pem"),
        .init(
            setup: "true", refused: "\(rotate) root --threshold 2", says: "Give each role enough keys",
            obeyed: "true", then: "\(rotate) root --threshold 2 --add second.pem"),
        .init(
            setup: "true", refused: "\(rotate) root --add online.pem", says: "keep online keys out of root and targets",
            obeyed: "true", then: "\(rotate) root --add second.pem"),
        .init(
            setup: "true", refused: "\(rotate) root --remove other.pem", status: 2, says: "which has", obeyed: "true",
            then: "\(rotate) root --remove offline.pem --add second.pem"),
        .init(
            setup: "true",
            refused: prepare.replacing(
                "--key offline.pem", with: "--signer-key offline.pem --signer-command /bin/true"),
            status: 3, says: "Give the public one",
            then: prepare.replacing(
                "--key offline.pem",
                with: "--signer-key public.pem --signer-command 'openssl dgst -sha256 -sign offline.pem'")),
        .init(
            setup: "true", refused: "\(prepare) --replaced old.json@yesterday", status: 2,
            says: "such as old.json@2027-02-19T12:00:00Z", obeyed: "cp site/public/bundle.json old.json;",
            then: "\(prepare) --replaced old.json@2026-02-19T12:00:00Z"),
        .init(
            setup: "true", refused: "\(prepare) --valid 400d", says: "an earlier notAfter or a shorter grace",
            obeyed: "true", then: "\(prepare) --valid 386d"),
        .init(
            setup: "true", refused: "\(prepare.replacing("--no-shipped-pins", with: "--shipped 1=missing.json"))",
            status: 3,
            says: "missing.json cannot be read", obeyed: "cp bank.pins.json missing.json"),
    ]

    @Test("A repository's verb with other keys or options succeeds as its remedy says", arguments: keys)
    func otherKeys(refusal: Refusal) async throws {
        try await Self.obey(refusal)
    }

    // MARK: Time

    /// After so many days, a signature of then, which is checked then.
    private static func late(_ days: Int, _ command: String) -> String {
        "faketime -f +\(days)d \(command.replacing("holdfastctl", with: "\"$HOLDFASTCTL\""))"
    }

    @Test(
        "A repository of which something ended is renewed as the remedy of each verb says",
        .needs(.faketime),
        arguments: [
            Refusal(
                setup: "true", refused: late(20, check()), says: "holdfastctl repository renew FOLDER --key ONLINE-KEY",
                obeyed: late(20, renew)),
            Refusal(
                setup: "true", refused: late(370, renew),
                says: "first: `holdfastctl repository rotate site --role root --key OFFLINE-KEY`, then `",
                obeyed: late(370, "\(rotate) root") + "; " + late(370, prepare) + "; " + late(370, publish)),
        ])
    func ended(refusal: Refusal) async throws {
        try await Self.obey(refusal)
    }

    private static func obey(_ refusal: Refusal) async throws {
        try await SigningSite.with { site in
            try site.leaf("leaf.pem")
            var refusal = refusal
            refusal.setup = "\(published)\n\(refusal.setup)"
            try await ObeyedRemedyTests.obey(refusal, in: site)
        }
    }
}
