import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTUF

/// Displays TUF metadata or a bundle of it, and if a client that trusts a root accepts it.
struct ShownMetadata {
    private let data: Data
    private let name: String
    private let root: Data?
    private let now: Date

    /// - Parameter root: the root metadata that clients trust.
    init(_ data: Data, name: String, root: Data?, now: Date) {
        self.data = data
        self.name = name
        self.root = root
        self.now = now
    }

    func items(_ kind: DocumentKind) throws(PublishingError) -> [ShownItem] {
        if kind == .bundle { return try bundle() }
        return [try metadata(data, name, root: root)]
    }

    private func unreadable(_ error: TUFError, _ name: String, as kind: DocumentKind) -> PublishingError {
        PublishingError(
            .invalidDocument, of: name, expected: kind.description, found: "one that cannot be read: \(error)",
            remedy: "Get it again from where it was made.")
    }

    private func metadata(_ data: Data, _ name: String, root: Data?) throws(PublishingError) -> ShownItem {
        let summary: MetadataSummary
        do throws(TUFError) {
            summary = try MetadataSummary([UInt8](data), trustedRoot: root.map { [UInt8]($0) })
        } catch {
            throw unreadable(error, name, as: .metadata)
        }
        var item = ShownItem(
            "\(summary.type), \(DocumentKind.metadata.description)", signature: signature(of: summary))
        item.add("version", "\(summary.version)")
        item.add("until", DaysLeft.end(summary.expires, from: now))
        for role in summary.roles {
            item.add("role", "\(role.name): \(role.threshold) of \(role.keys) keys")
        }
        let names = Dictionary(summary.keys.map { ($0.idText, Self.name(of: $0)) }) { first, _ in first }
        // For another file, these are the keys of the root that clients trust.
        for key in summary.roles.isEmpty ? [] : summary.keys { item.add("key", Self.text(key)) }
        for target in summary.targets { item.add("target", target) }
        for leaf in summary.values { item.add("field", "\(leaf.path) is \(leaf.text)") }
        for id in summary.signatures {
            item.add("signed by", "key \(id)" + ((names[id] ?? nil).map { " of \($0)" } ?? ""))
        }
        return item
    }

    /// The holder of a key, according to the root; nil for a key without a name.
    private static func name(of key: MetadataSummary.Key) -> String? { TUFPublicKey(id: key.id, key.tree)?.name }

    /// A key as text: its holder, its digest in the form of pins, its roles, and the id that signatures name.
    private static func text(_ key: MetadataSummary.Key) -> String {
        let holder = name(of: key).map { "\($0): " } ?? ""
        let digest =
            key.unsupportedName.map { "\($0), which is not supported" } ?? key.pin?.description
            ?? "no key that verifies anything"
        let roles = key.roles.isEmpty ? "no role" : key.roles.joined(separator: ", ")
        return "\(holder)\(digest), signs \(roles), id \(key.idText)"
    }

    private func signature(of summary: MetadataSummary) -> ShownItem.Signature {
        switch (summary.checkForRoot, summary.checkByItsKeys) {
        case (.valid?, _): .init(state: .verified, text: "by the keys that the trusted root names for \(summary.type)")
        case (.unsupported(let found)?, _), (nil, .unsupported(let found)?):
            .init(state: .unsupported, text: "it has \(found), so whether it was altered is unknown")
        case (.invalid?, _):
            .init(
                state: .invalid,
                text: "fewer of the keys that the trusted root names for \(summary.type) than it requires"
                    + (summary.type == "targets" ? "; the keys of a delegated role are in the metadata above it" : ""))
        case (nil, .invalid?): .init(state: .invalid, text: "fewer of its own keys than it requires")
        case (nil, .valid?):
            .init(
                state: .verified,
                text: "a threshold of its own keys; compare the file with one that you trust, or give --root")
        case (nil, nil): .init(state: .unverified, text: "give the root that clients trust with --root")
        }
    }

    /// The bundle, and then each file in it.
    private func bundle() throws(PublishingError) -> [ShownItem] {
        let bundle: RepositoryBundle
        do throws(TUFError) {
            bundle = try RepositoryBundle([UInt8](data), maximumBytes: CertificateRevocationList.maximumBytes)
        } catch {
            throw unreadable(error, name, as: .bundle)
        }
        var item = ShownItem(DocumentKind.bundle.description, signature: signature(of: bundle))
        if !bundle.roots.isEmpty {
            let last = bundle.firstRoot + Int64(bundle.roots.count) - 1
            item.add("roots", "versions \(bundle.firstRoot) to \(last)")
        }
        var items = [item]
        let files = [("root", bundle.roots.last), ("timestamp", bundle.timestamp), ("snapshot", bundle.snapshot)]
        for (role, file) in files + [("targets", bundle.targets)] {
            if let file { items.append(try metadata(file, "\(name): \(role)", root: nil)) }
        }
        if let pins = bundle.pins {
            items += try ShownDocument(pins, name: "\(name): pins", evidence: .init(), now: now).items()
        }
        return items
    }

    private func signature(of bundle: RepositoryBundle) -> ShownItem.Signature {
        guard let root else { return .init(state: .unverified, text: "give the root that clients trust with --root") }
        do throws(TUFError) {
            let target = try bundle.prove(from: root, at: now)
            return .init(state: .verified, text: "the trusted root proves the pin file \(target)")
        } catch {
            return .init(state: error.code == .unsupportedAlgorithm ? .unsupported : .invalid, text: "\(error)")
        }
    }
}
