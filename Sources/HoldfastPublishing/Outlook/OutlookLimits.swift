import Foundation
import Holdfast

/// Limits for the work of an outlook, because inputs may come from strangers, and checks of the inputs.
enum OutlookLimits {
    /// The maximum numbers of documents, hosts, chains of a host, and platforms.
    static let (documents, hosts, chains, platforms) = (256, 20_000, 256, 32)
    /// The maximum number of anchors of a platform, several times what any system ships, and of revocation lists.
    static let (anchors, lists) = (2_000, 1_000)
    /// The maximum size of a document, in bytes: that of a bundle.
    static let documentBytes = 16 << 20
    /// The maximum number of combinations of a chain, a document and a platform.
    static let combinations = 1_000_000
    /// The maximum span and staleness: ten years.
    static let longest: Duration = .seconds(3_660 * 86_400)

    static func check(_ inputs: PublicationOutlook.Inputs) throws(PublishingError) {
        try require("documents", inputs.documents.count, atMost: documents)
        try require("hosts", inputs.hosts.count, atMost: hosts)
        try require("platforms", inputs.platforms.count, atMost: platforms)
        for host in inputs.hosts { try require("chains of \(host.name.quoted)", host.shown.count, atMost: chains) }
        for platform in inputs.platforms {
            try require("anchors of \(platform.name.quoted)", platform.anchors.count, atMost: anchors)
            try require("lists of \(platform.name.quoted)", platform.revocationLists.count, atMost: lists)
        }
        for document in inputs.documents {
            try require("bytes of \(document.name.quoted)", document.octets.count, atMost: documentBytes)
            try checkTimes(of: document)
        }
        let all = inputs.hosts.reduce(0) { $0 + $1.shown.count } * inputs.documents.count * inputs.platforms.count
        try require("chains, documents and platforms combined", all, atMost: combinations)
        for (name, time) in [("staleness", inputs.staleness), ("span", inputs.span)]
        where !(.zero...longest).contains(time) {
            throw PublishingError(
                .invalidInput, of: name, expected: "a time of at most ten years", found: "\(time)")
        }
        guard abs(inputs.now.timeIntervalSince1970) < 1e12 else {
            throw PublishingError(.invalidInput, of: "now", expected: "a time", found: "none that can be judged")
        }
        try checkVersions(inputs)
    }

    private static func checkTimes(of document: PublicationOutlook.Document) throws(PublishingError) {
        guard let replaced = document.replaced, replaced < document.published else { return }
        throw PublishingError(
            .invalidInput, of: document.name.quoted, expected: "a time of replacement after that of publication",
            found: "one before it")
    }

    private static func checkVersions(_ inputs: PublicationOutlook.Inputs) throws(PublishingError) {
        switch inputs.appVersions {
        case .unknown: break
        case .noShippedPins:
            guard let document = inputs.documents.first(where: { $0.kind == .shippedPins || !$0.appVersions.isEmpty })
            else { break }
            throw PublishingError(
                .invalidInput, of: document.name.quoted, expected: "no document that builds carry, as was said",
                found: "one", remedy: "Name the builds that carry it.")
        case .versions(let versions):
            let names = Set(versions.map { Array($0.name.utf8) })
            for document in inputs.documents {
                for name in document.appVersions where !names.contains(Array(name.utf8)) {
                    throw PublishingError(
                        .invalidInput, of: document.name.quoted, expected: "builds that are declared",
                        found: name.quoted)
                }
            }
        }
    }

    private static func require(_ what: String, _ count: Int, atMost limit: Int) throws(PublishingError) {
        guard count > limit else { return }
        throw PublishingError(.invalidInput, of: what, expected: "at most \(limit)", found: "\(count)")
    }
}
