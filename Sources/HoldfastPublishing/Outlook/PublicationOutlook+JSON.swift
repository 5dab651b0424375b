public import Foundation
import Holdfast
import HoldfastTUF

extension PublicationOutlook {
    /// The version of ``json``, which only increases.
    static let schema: Int64 = 1

    /// The outlook as canonical JSON (docs/formats.md), with digests instead of the documents' bytes. The same inputs
    /// give the same bytes.
    public var json: Data {
        var fields: [(key: [UInt8], value: JSONTree)] = [
            field("schema", .integer(Self.schema)), field("verdict", text(verdict.rawValue)),
            field("premises", .array(premises.map(text))), field("inputs", inputs.tree),
            field("rows", .array(rows.map(\.tree))),
        ]
        if let decisive { fields.append(field("decisive", .integer(Int64(decisive)))) }
        return Data(JSONTree(members: fields).json)
    }
}

private func field(_ key: String, _ value: JSONTree) -> (key: [UInt8], value: JSONTree) { (Array(key.utf8), value) }
private func text(_ text: String) -> JSONTree { JSONTree(text: text) }
private func time(_ date: Date) -> JSONTree {
    JSONTree(text: Date(wholeSeconds: date.wholeSeconds).formatted(.iso8601))
}
private func digest(_ octets: Data) -> JSONTree { text(Hexadecimal.encode(SHA256Digest.of(octets))) }
private func object(_ fields: [(String, JSONTree?)]) -> JSONTree {
    JSONTree(members: fields.compactMap { key, value in value.map { field(key, $0) } })
}

extension PublicationOutlook.Inputs {
    /// The inputs, with digests instead of the documents' bytes.
    fileprivate var tree: JSONTree {
        object([
            ("now", time(now)), ("span", .integer(span.components.seconds)),
            ("staleness", .integer(staleness.components.seconds)), ("documents", .array(documents.map(\.tree))),
            ("hosts", .array(hosts.map(\.tree))), ("platforms", .array(platforms.map(\.tree))),
            ("appVersions", appVersions.tree),
        ])
    }
}

extension PublicationOutlook.AppVersions {
    fileprivate var tree: JSONTree {
        switch self {
        case .unknown: text("unknown")
        case .noShippedPins: text("noShippedPins")
        case .versions(let versions):
            .array(
                versions.map { version in
                    object([
                        ("name", text(version.name)), ("usedUntil", version.usedUntil.map(time)),
                        ("carriesDocument", .boolean(version.carriesDocument)),
                    ])
                })
        }
    }
}

extension PublicationOutlook.Document {
    fileprivate var tree: JSONTree {
        object(
            kind.fields + [
                ("name", text(name)), ("sha256", digest(octets)), ("published", time(published)),
                ("replaced", replaced.map(time)), ("appVersions", .array(appVersions.map(text))),
                ("hosts", hosts.map { .array($0.map(text)) }),
                ("renewalInterval", renewalInterval.map { .integer($0.components.seconds) }),
                ("lastRenewal", lastRenewal.map(time)),
            ])
    }
}

extension PublicationOutlook.Document.Kind {
    fileprivate var fields: [(String, JSONTree?)] {
        switch self {
        case .shippedPins: [("kind", text("shippedPins"))]
        case .staticList(let key): [("kind", text("staticList")), ("publicKey", text(key))]
        case .challengedList(let key, let challenge, let signature):
            [
                ("kind", text("challengedList")), ("publicKey", text(key)), ("challenge", text(challenge)),
                ("signature", text(signature)),
            ]
        case .trustServer(let signer, let customer, let pinning):
            [
                ("kind", text("trustServer")), ("signer", digest(signer)), ("customer", text(customer)),
                ("pinning", .array(pinning.map { text($0.rawValue) })),
            ]
        case .repository(let root, let grace):
            [
                ("kind", text("repository")), ("root", digest(root)),
                ("shippedGrace", .integer(grace.components.seconds)),
            ]
        }
    }
}

extension PublicationOutlook.Host {
    fileprivate var tree: JSONTree {
        object([
            ("name", text(name)), ("port", port.map { .integer(Int64($0)) }),
            (
                "shown",
                .array(
                    shown.map { shown in
                        object([
                            ("place", text(shown.place)), ("keyKind", text(shown.keyKind)),
                            ("chain", shown.chain.map { .array($0.map(digest)) }), ("seen", shown.seen.map(time)),
                            ("begins", shown.start.map(time)), ("ends", shown.end.map(time)),
                            ("problem", shown.problem.map(text)),
                        ])
                    })
            ),
        ])
    }
}

extension PublicationOutlook.Platform {
    fileprivate var tree: JSONTree {
        object([
            ("name", text(name)), ("anchors", .array(anchors.map(digest))), ("profile", text(profile.rawValue)),
            ("revocationLists", .array(revocationLists.map(digest))),
            ("requiresRevocationLists", .boolean(requiresRevocationLists)),
        ])
    }
}

extension PublicationOutlook.Row {
    fileprivate var tree: JSONTree {
        object([
            ("host", hostIndex.map { .integer(Int64($0)) }), ("dialed", host.map(text)), ("place", place.map(text)),
            ("chain", presentation.map { .integer(Int64($0)) }), ("document", document.map { .integer(Int64($0)) }),
            ("client", client.map { text($0.rawValue) }), ("holders", text(holders.rawValue)),
            ("appVersions", .array(appVersions.map(text))), ("platform", platform.map(text)),
            ("verdict", text(verdict.rawValue)), ("until", verdictEnd.map(time)), ("cause", cause?.tree),
            ("spans", .array(spans.map(\.tree))),
        ])
    }
}

extension PublicationOutlook.Span {
    fileprivate var tree: JSONTree {
        object([
            ("begins", time(start)), ("ends", time(end)), ("getsIn", .boolean(getsIn)),
            ("isGrace", .boolean(isGrace)), ("cause", cause?.tree), ("notices", .array(notices.map(text))),
        ])
    }
}

extension PublicationOutlook.Cause {
    fileprivate var tree: JSONTree {
        object([("code", text(code.rawValue)), ("instant", time(instant)), ("words", text(words))])
    }
}
