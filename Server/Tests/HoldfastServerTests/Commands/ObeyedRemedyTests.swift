import Testing

/// Each printed remedy of a refusal is obeyed literally, in a shell, and leads to a good state, or says that a person must
/// decide.
@Suite("Remedies that are obeyed", .timeLimit(.minutes(20)))
struct ObeyedRemedyTests {
    private static let propose = "holdfast-server change propose bank --data data"
    private static let list = "\(propose) --format list --reason because --no-proposer"
    private static let addApp = "holdfast-server app add shop --anchors roots.pem --no-shipped-pins --data data"
    private static let initialize =
        "holdfast-server init --data d2 --secret ./secret-2 --no-recovery-copy --genesis genesis.txt"
    private static let zeros = String(repeating: "0", count: 32)

    @Test("What is wrong about an app, a host or a token is put right as the remedy says")
    func catalog() async throws {
        try await RefusalDesk.run(
            "true",
            [
                Refusal(
                    refused: "holdfast-server status --data nowhere", status: 3,
                    remedy: .says("Name the folder of a server with --data"), then: "holdfast-server status --data data"
                ),
                Refusal(
                    refused: Self.addApp.replacing(" shop", with: " bank"), status: 3,
                    remedy: .says("Take another name"), then: Self.addApp),
                Refusal(
                    refused: "holdfast-server app key shop --data data", status: 3, remedy: .first(),
                    then: "holdfast-server app key bank --data data"),
                Refusal(
                    refused: Self.addApp.replacing("roots.pem", with: "missing.pem"), status: 2,
                    remedy: .says("check the path", does: "cp roots.pem missing.pem")),
                Refusal(
                    refused: Self.addApp.replacing("roots.pem", with: "alice.pem"), status: 2,
                    remedy: .says("Give a whole file in PEM", does: "cp roots.pem alice.pem")),
                Refusal(
                    refused: Self.addApp.replacing(" shop", with: " 's hop'"), status: 2,
                    remedy: .says("2 to 255 letters, digits, hyphens and underscores"), then: Self.addApp),
                Refusal(
                    refused: "\(Self.addApp) --staleness 400", status: 2,
                    remedy: .says("Give a --staleness of at most 366 days"), then: "\(Self.addApp) --staleness 366"),
                Refusal(
                    refused: "holdfast-server host add bank API.example.com --data data", status: 2,
                    remedy: .says("a name in lower case"),
                    then: "holdfast-server host add bank api.example.com --data data"),
                Refusal(
                    refused: "holdfast-server host add bank api.example.com --dial 127.0.0.1:9443 --data data",
                    status: 2,
                    remedy: .says("Leave the port out"),
                    then: "holdfast-server host add bank api.example.com --dial 127.0.0.1 --port 9443 --data data"),
                Refusal(
                    refused: "holdfast-server host add bank api.example.com --renewal often --data data", status: 2,
                    remedy: .says("--renewal announced, same-key or issuer"),
                    then: "holdfast-server host add bank api.example.com --renewal same-key --data data"),
                Refusal(
                    refused: "holdfast-server token add ci --app bank --scope write --data data", status: 2,
                    remedy: .says("Give a --scope: read, propose or administer"),
                    then: "holdfast-server token add ci --app bank --scope propose --data data"),
                Refusal(
                    refused: "holdfast-server token add ci --scope read --data data", status: 2,
                    remedy: .says("Name its --app, or --every-app"),
                    then: "holdfast-server token add ci --scope read --every-app --data data"),
                Refusal(
                    refused: "holdfast-server token add ci --app bank --scope read --days 0 --data data", status: 2,
                    remedy: .says("give that as --days"),
                    then: "holdfast-server token add ci --app bank --scope read --days 30 --data data"),
                Refusal(
                    setup: "holdfast-server token add ci --app bank --scope read --data data",
                    refused: "holdfast-server token add ci --app bank --scope read --data data", status: 3,
                    remedy: .first()),
                Refusal(
                    setup: "holdfast-server token add ci --app bank --scope read --data data",
                    refused: "holdfast-server token revoke cd --data data", status: 3, remedy: .first(),
                    then: "holdfast-server token revoke $(cut -d' ' -f1 remedy.txt) --data data"),
                Refusal(
                    setup: "holdfast-server host add bank www.example.com --data data",
                    refused: "holdfast-server token add g --app bank --gate api.example.com:443 --data data", status: 3,
                    remedy: .first(),
                    then: "holdfast-server token add g --app bank --gate $(head -1 remedy.txt) --data data"),
                Refusal(
                    refused: "holdfast-server app key bank --purpose trust-server --data data", status: 2,
                    remedy: .says("Name the --customer"),
                    then: "holdfast-server app key bank --purpose trust-server --customer acme --data data"),
                Refusal(
                    refused: "holdfast-server app key bank --file roots.pem --data data", status: 2,
                    remedy: .says(
                        "a private key",
                        does: "openssl pkcs8 -topk8 -nocrypt -in backup.key -out k.pem && chmod 600 k.pem"),
                    then: "holdfast-server app key bank --file k.pem --data data"),
                Refusal(
                    refused: "holdfast-server place add bank bucket --url https://p.example.com --data data", status: 2,
                    remedy: .says("Give the --program that uploads to a place"),
                    then:
                        "holdfast-server place add bank bucket --url https://p.example.com --program /bin/true --data data"
                ),
                Refusal(
                    refused: "holdfast-server place add bank folder --url p.example.com --data data", status: 2,
                    remedy: .says("an address such as https://pins.example.com"),
                    then: "holdfast-server place add bank folder --url https://p.example.com --data data"),
                Refusal(
                    setup: "holdfast-server place add bank folder --url https://p.example.com --data data",
                    refused: "holdfast-server place remove bank bucket --data data", status: 3, remedy: .first(),
                    then: "holdfast-server place remove bank folder --data data"),
            ])
    }

    @Test("Statements of approvers, backups and secrets that are refused are made as the remedy says")
    func files() async throws {
        let genesis = "holdfast-server genesis --approver alice=alice.pub"
        let restore = "holdfast-server restore b1 --key dave.pem --secret $SECRET"
        let backup = "holdfast-server backup --to b1 --recipient dave.pub --data data"
        try await RefusalDesk.run(
            "true",
            [
                Refusal(
                    refused: "\(genesis) --number 2 --output g2", status: 2, remedy: .says("expected 1 to 1"),
                    then: "\(genesis) --number 1 --output g2"),
                Refusal(
                    refused: "\(genesis) --approver alice=bob.pub --number 2 --output g2", status: 2,
                    remedy: .says("each name once"),
                    then: "\(genesis) --approver bob=bob.pub --number 2 --output g2"),
                Refusal(
                    refused: "\(genesis) --approver bob=alice.pub --number 2 --output g2", status: 2,
                    remedy: .says("one key is one person"),
                    then: "\(genesis) --approver bob=bob.pub --number 2 --output g2"),
                Refusal(
                    refused: "\(genesis) --number 1 --output genesis.txt", status: 2,
                    remedy: .says("nothing is overwritten", does: "mv genesis.txt old.txt")),
                Refusal(
                    refused: "\(genesis) --recovery r=root.pub --number 1 --output g2", status: 2,
                    remedy: .says("Name no recovery key, or two and more"),
                    then: "\(genesis) --recovery r=root.pub --recovery p=pins.pub --number 1 --output g2"),
                Refusal(
                    refused: "holdfast-server backup --to data/b1 --recipient dave.pub --data data", status: 2,
                    remedy: .says("Write it to another disk or machine"), then: backup),
                Refusal(
                    setup: backup, refused: backup, status: 3, remedy: .says("Name a file that does not exist yet"),
                    then: backup.replacing("b1", with: "b2")),
                Refusal(
                    setup: backup, refused: "holdfast-server restore b1 --key bob.pem --secret $SECRET --check",
                    remedy: .says("Give the key that the backup was made for"), then: "\(restore) --check"),
                Refusal(
                    setup: backup, refused: "\(restore) --data r1", status: 2,
                    remedy: .says("Say where clients find documents (--public-url), or --no-public-url"),
                    then: "\(restore) --data r1 --no-public-url"),
                Refusal(
                    setup: backup, refused: "\(restore) --no-public-url", status: 2,
                    remedy: .says("Say where the server goes (--data)"), then: "\(restore) --data r1 --no-public-url"),
                Refusal(
                    setup: backup, refused: "\(restore) --data data --no-public-url", status: 3,
                    remedy: .says(
                        "Move its configuration.json, head and server.db files elsewhere",
                        does: "mkdir old && mv data/configuration.json data/head* data/server.db* old/")),
                Refusal(
                    refused: "\(Self.initialize) --signature alice.sig --signature bob.sig",
                    remedy: .last(["STATEMENT": "genesis.txt", "KEY": "carol.pem", "SIGNATURE": "third.sig --yes"]),
                    then: "\(Self.initialize) --signature alice.sig --signature bob.sig --signature third.sig"),
                Refusal(
                    refused: "holdfast-server status --data data --database postgresql://u@127.0.0.1:1/n", status: 2,
                    remedy: .says("Leave it out"), then: "holdfast-server status --data data"),
                Refusal(
                    refused: "holdfast-server renew --data data", status: 3,
                    remedy: .says(
                        "Stop the other server",
                        does: "kill $SERVER; while kill -0 $SERVER 2>/dev/null; do true; done"), serves: true),
                Refusal(
                    setup: "\(backup)\nhead -c 65536 /dev/zero > data/server.db\nrm -f data/server.db-*",
                    refused: "holdfast-server status --data data", status: 3, remedy: .says("Restore the last backup"),
                    then: "\(restore) --data r1 --no-public-url"),
                Refusal(
                    setup:
                        "cp data/server.db old.db\nholdfast-server token add t --every-app --scope read --data data\n"
                        + "cp data/server.db new.db\ncp old.db data/server.db\nrm -f data/server.db-*",
                    refused: "holdfast-server status --data data", status: 3,
                    remedy: .says("Restore the newest database", does: "cp new.db data/server.db")),
                Refusal(
                    setup: "chmod 644 $SECRET", refused: "holdfast-server status --data data", status: 1,
                    remedy: .first()),
                Refusal(
                    setup: "mv $SECRET s2", refused: "holdfast-server app key bank --data data", status: 3,
                    remedy: .says("Put the file back", does: "mv s2 $SECRET")),
                Refusal(
                    refused: "holdfast-server reseal --data data", status: 2,
                    remedy: .says("where the recovery copy of the secret goes, or --no-recovery-copy"),
                    then: "holdfast-server reseal --no-recovery-copy --data data"),
            ])
    }

    private static let hosted = """
        holdfast-server host add bank api.example.com --port $PORT --dial 127.0.0.1 --data data
        holdfast-server next chain bank $HOST --chain shown.pem --from $NOW --data data
        holdfast-server next chain bank $HOST --chain next.pem --from $LATER --data data
        holdfast-server host see bank --data data --allow 127.0.0.0/8
        """
    private static let published = "\(hosted)\npropose --format list\napprove\npublish"

    @Test("A proposal that is refused, or that its gates refuse, is made as the remedy says")
    func proposals() async throws {
        let passes = "\(Self.list) | grep 'gate lint: passed'"
        try await RefusalDesk.run(
            "true",
            [
                Refusal(
                    refused: Self.list, status: 0,
                    remedy: .first(["HOST": "api.example.com --port $PORT --dial 127.0.0.1"]),
                    then: "\(Self.list) | grep 'gate validation: passed'"),
                Refusal(
                    setup: "holdfast-server host add bank api.example.com --data data", refused: Self.list, status: 0,
                    remedy: .first(["FILE": "shown.pem", "TIME": "$NOW"]),
                    then: "holdfast-server next chain bank api.example.com --chain next.pem --from $LATER --data data; "
                        + passes),
                Refusal(
                    setup: Self.hosted,
                    refused: Self.list.replacing("--format list", with: "--format trust-server=acme"), status: 0,
                    remedy: .first(),
                    then: Self.list.replacing("--format list", with: "--format trust-server=acme")
                        + " | grep 'gate validation: passed'"),
                Refusal(
                    refused: Self.list.replacing("--format list", with: "--format trust-server"), status: 2,
                    remedy: .says("--format trust-server=CUSTOMER"),
                    then: Self.list.replacing("--format list", with: "--format trust-server=acme")),
                Refusal(
                    refused: Self.list.replacing("--format list", with: "--format repository"), status: 2,
                    remedy: .first(["APP": "bank", "FILE": "root.pub", "FOLDER": "drafts"]),
                    then: Self.list.replacing("--format list", with: "--format repository")),
                Refusal(
                    refused: "\(Self.propose) --format list --no-proposer", status: 2,
                    remedy: .says("Say why with --reason"), then: Self.list),
                Refusal(
                    refused: "\(Self.propose) --format list --reason because", status: 2,
                    remedy: .says("with --proposer, or --no-proposer"), then: Self.list),
                Refusal(
                    refused: "\(Self.propose) --format list --reason because --proposer zoe", status: 2,
                    remedy: .first(),
                    then: "grep alice remedy.txt && \(Self.propose) --format list --reason because --proposer alice"),
                Refusal(
                    refused: Self.list.replacing("--format list", with: "--format text"), status: 2,
                    remedy: .says("Give a --format: "), then: Self.list),
                Refusal(
                    refused: "\(Self.list) --lifetime 0", status: 2,
                    remedy: .says("Give a --lifetime of 1 to 366 days"), then: "\(Self.list) --lifetime 366"),
                Refusal(
                    refused: "\(Self.list) --force everything", status: 2, remedy: .says("there are "),
                    then: "\(Self.list) --force lint"),
                Refusal(
                    setup: "propose --format list", refused: "holdfast-server change show 1234 --data data", status: 2,
                    remedy: .first(["APP": "bank"]),
                    then: "holdfast-server change show $(cut -c1-32 remedy.txt) --data data"),
                Refusal(
                    setup: "propose --format list", refused: "holdfast-server publish \(Self.zeros) --data data",
                    status: 3, remedy: .first(["APP": "bank"]),
                    then: "holdfast-server change show $(cut -c1-32 remedy.txt) --data data"),
                Refusal(
                    refused: "holdfast-server revert bank --to 1 --reason because --no-proposer --data data", status: 3,
                    remedy: .first(), then: "grep 'generation 0' remedy.txt"),
            ])
    }

    @Test("What is announced, seen or installed in the wrong way is put right as the remedy says")
    func hosts() async throws {
        let next = "holdfast-server next chain bank $HOST --from $LATER --data data --chain"
        try await RefusalDesk.run(
            Self.hosted,
            [
                Refusal(
                    refused: "holdfast-server host see bank --data data",
                    remedy: .says("is named with --allow"),
                    then: "holdfast-server host see bank --data data --allow 127.0.0.0/8"),
                Refusal(
                    refused: "\(next.replacing("$HOST", with: "api.example.com")) other.pem", status: 2,
                    remedy: .first(), then: "\(next.replacing("$HOST", with: "$(head -1 remedy.txt)")) other.pem"),
                Refusal(
                    refused: "\(next) roots.pem", status: 2,
                    remedy: .says("Give the file with the host's own certificate"),
                    then: "\(next) other.pem"),
                Refusal(
                    refused: "\(next.replacing("$LATER", with: "tomorrow")) other.pem", status: 2,
                    remedy: .says("a time such as 2026-"), then: "\(next) other.pem"),
                Refusal(
                    refused: "holdfast-server next key bank $HOST --key roots.pem --data data", status: 2,
                    remedy: .says("Give a public key or a certificate request"),
                    then: "holdfast-server next key bank $HOST --key backup.csr --data data"),
                Refusal(
                    refused: "holdfast-server next withdraw bank $HOST --digest \(Self.zeros)\(Self.zeros) --data data",
                    status: 3, remedy: .first(),
                    then: "holdfast-server next withdraw bank $HOST --data data --digest "
                        + "$(grep -m1 'next  certificate' remedy.txt | grep -o '[0-9a-f]\\{64\\}')"),
                Refusal(
                    refused: "holdfast-server next withdraw bank $HOST --digest 12 --data data", status: 2,
                    remedy: .says("64 lower-case hexadecimal digits"),
                    then: "holdfast-server next withdraw bank $HOST --data data --digest "
                        + "$(openssl x509 -in next.pem -outform DER | sha256sum | cut -d' ' -f1)"),
                Refusal(
                    refused: "holdfast-server gate bank $HOST --data data", status: 2,
                    remedy: .says("with --certificate, or with --digest"),
                    then: "holdfast-server gate bank $HOST --certificate next.pem --data data", good: [0, 1]),
                Refusal(
                    refused: "holdfast-server gate bank $HOST --certificate next.pem --data data",
                    remedy: .says(
                        "have a change published with it, and ask again",
                        does: "propose --format list; approve; publish")),
                Refusal(
                    refused: "holdfast-server gate bank $HOST --certificate other.pem --data data", status: 3,
                    remedy: .last(["FILE": "other.pem", "TIME": "$LATER"]),
                    then: "propose --format list && approve && publish && "
                        + "holdfast-server gate bank $HOST --certificate other.pem --data data"),
                Refusal(
                    setup: "holdfast-server next chain bank $HOST --chain short.pem --from $LATER --data data\n"
                        + "holdfast-server app settings bank --anchors roots.pem --no-shipped-pins --staleness 30 "
                        + "--canary 0 --data data\npropose --format list\napprove",
                    refused: "publish",
                    remedy: .says(
                        "Shorten the app's staleness or canary",
                        does: "holdfast-server app settings bank --anchors roots.pem --no-shipped-pins --staleness 7 "
                            + "--canary 0 --data data; propose --format list; approve")),
            ])
    }

    @Test("A change that is not published is published as the remedy says, or an approver must decide")
    func changes() async throws {
        let proposed = "propose --format list"
        try await RefusalDesk.run(
            Self.hosted,
            [
                Refusal(
                    setup: proposed, refused: "publish", remedy: .last(["FILE": "alice.pem"]),
                    then: "holdfast-server approve $(cat id) --key bob.pem --yes --data data && publish"),
                Refusal(
                    setup: proposed, refused: "holdfast-server approve $(cat id) --key dave.pem --yes --data data",
                    remedy: .last(),
                    then: "grep alice remedy.txt && holdfast-server approve $(cat id) --key alice.pem --yes --data data"
                ),
                Refusal(
                    setup: proposed,
                    refused: "holdfast-server approve $(cat id) --key alice.pem --hours 0 --yes --data data", status: 2,
                    remedy: .says("give that as --hours"),
                    then: "holdfast-server approve $(cat id) --key alice.pem --hours 24 --yes --data data"),
                Refusal(
                    setup: "holdfast-server next chain bank $HOST --chain other.pem --from $LATER --data data\n"
                        + "holdfast-server next withdraw bank $HOST --data data --digest "
                        + "$(openssl x509 -in shown.pem -outform DER | sha256sum | cut -d' ' -f1)\n\(proposed)\napprove",
                    refused: "publish",
                    remedy: .decides(
                        does: "holdfast-server next chain bank $HOST --chain shown.pem --from $NOW --data data && "
                            + "\(proposed) && approve"), then: "publish"),
                Refusal(
                    setup: "\(proposed)\nholdfast-server reject $(cat id) --key carol.pem --yes --data data",
                    refused: "publish", remedy: .decides(does: "\(proposed); approve"), then: "publish"),
                Refusal(
                    setup: "\(proposed)\napprove\npublish", refused: "publish", remedy: .last(),
                    then: "grep 'generation 1' remedy.txt"),
                Refusal(
                    setup: "\(proposed)\napprove\npublish",
                    refused: "holdfast-server approve $(cat id) --key carol.pem --yes --data data", remedy: .last(),
                    then: "grep published remedy.txt"),
                Refusal(
                    setup: "\(proposed)\ncp id first\n\(proposed)\napprove\npublish\ncp first id\n",
                    refused: "publish", remedy: .last(), then: "again"),
            ])
        try await RefusalDesk.run(
            Self.published,
            [
                Refusal(
                    refused: "holdfast-server revert bank --to 7 --reason because --no-proposer --data data", status: 3,
                    remedy: .first(),
                    then: "grep 'generation 1' remedy.txt && holdfast-server revert bank --to 1 --reason because "
                        + "--no-proposer --data data"),
                Refusal(
                    refused: "holdfast-server app key bank --data data", status: 3, remedy: .decides(),
                    then: "holdfast-server status --data data"),
                Refusal(
                    setup: "propose --format challenge\napprove", refused: "publish", remedy: .last(), then: "again"),
                Refusal(
                    setup: "holdfast-server app settings bank --anchors roots.pem --no-shipped-pins --canary 24 "
                        + "--data data\nholdfast-server next chain bank $HOST --chain other.pem --from $LATER --data data\n"
                        + "propose\napprove\npublish",
                    refused: "publish",
                    remedy: .decides(
                        does: "holdfast-server change propose bank --again $(cat id) --emergency fire --no-proposer "
                            + "--data data"), then: "again"),
                Refusal(
                    setup: "holdfast-server next chain bank $HOST --chain other.pem --from $LATER --data data\n"
                        + "propose\napprove\nmv $SECRET s2",
                    refused: "publish", status: 3, remedy: .says("Put the file", does: "mv s2 $SECRET")),
            ])
    }

    private static let body =
        #"{"app":"bank","reason":"because","proposer":"nobody","formats":[{"kind":"list","refresh":3600}]}"#

    /// A call that is refused with a token for everything.
    private static func call(
        _ refused: String, setup: String = "true", _ remedy: Refusal.Remedy, then: String? = nil
    ) -> Refusal {
        let token = "holdfast-server token add t --every-app --scope administer --data data > token"
        return Refusal(setup: "\(token)\n\(setup)", refused: refused, remedy: remedy, then: then, serves: true)
    }

    @Test("A call that is refused over HTTP succeeds as its remedy says", .needs(.program("curl")))
    func calls() async throws {
        let ready =
            "/v1/apps/bank/hosts/api.example.com/next/$(openssl x509 -in next.pem -outform DER | sha256sum | "
            + "cut -d' ' -f1)/ready?port=$PORT"
        let strange = ready.replacing("next.pem", with: "other.pem")
        try await RefusalDesk.run(
            Self.hosted,
            [
                Self.call(
                    "call /v1/apps", setup: "echo holdfast_0 > token", .first(["NAME": "ops"]),
                    then: "cp remedy.txt token; call /v1/apps"),
                Self.call(
                    "send /v1/changes '\(Self.body)'",
                    setup: "holdfast-server token add r --app bank --scope read --data data > token",
                    .first(["NAME": "ci", "APP": "bank"]), then: "cp remedy.txt token; send /v1/changes '\(Self.body)'"),
                Self.call(
                    "call /v1/changes -H 'Content-Type: text/plain' -d '\(Self.body)'",
                    .says("Send JSON in UTF-8, and say so."), then: "send /v1/changes '\(Self.body)'"),
                Self.call(
                    "send /v1/changes '\(Self.body.replacing(#""reason":"because","#, with: ""))'",
                    .says("Add the field that the error names"), then: "send /v1/changes '\(Self.body)'"),
                Self.call(
                    "send /v1/changes '\(Self.body.replacing(#""reason""#, with: #""why":"x","reason""#))'",
                    .says("Leave out the field that the error names"), then: "send /v1/changes '\(Self.body)'"),
                Self.call(
                    "send /v1/changes '\(Self.body.dropLast())'", .says("Send one object of JSON, each field once."),
                    then: "send /v1/changes '\(Self.body)'"),
                Self.call(
                    "call /v1/apps/shop/status", .first(), then: "call /v1/apps/$(cut -d' ' -f1 remedy.txt)/status"),
                Self.call("call /v1/apps -X DELETE", .says("Use one of these."), then: "call /v1/apps -X GET"),
                Self.call(
                    "call /v1/nothing", .says("Read /openapi.yaml.", does: "call /openapi.yaml"), then: "call /v1/apps"),
                Self.call("call /v1/apps?page=2", .says("Correct the address."), then: "call /v1/apps"),
                Self.call("call /v1/apps -X GET -d x", .says("Send no body here."), then: "call /v1/apps"),
                Self.call(
                    "call \"\(strange)\"", .last(["FILE": "other.pem", "TIME": "$LATER"]),
                    then: "propose --format list; approve; publish; call \"\(strange)\""),
                Self.call(
                    "call \"\(ready)\"",
                    .says("Publish a change", does: "propose --format list; approve; publish")),
                Self.call(
                    "call /v1/changes/$(cat id)/publish -X POST", setup: "propose --format list",
                    .last(["FILE": "alice.pem"]),
                    then: "holdfast-server approve $(cat id) --key bob.pem --yes --data data; "
                        + "call /v1/changes/$(cat id)/publish -X POST"),
            ])
    }
}
