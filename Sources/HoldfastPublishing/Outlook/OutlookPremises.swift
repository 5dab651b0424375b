import Foundation
import Holdfast

/// Describes the assumptions of a verdict.
enum OutlookPremises {
    static func sentences(
        _ inputs: PublicationOutlook.Inputs, _ rows: [PublicationOutlook.Row], kept: [String]
    ) -> [String] {
        var sentences = basis(of: inputs)
        sentences.append("judged for \(SpanText.text(inputs.span.components.seconds))")
        let older = rows.filter { $0.holders == .older }
        if !older.isEmpty {
            let out = older.count { $0.verdict != .in }
            sentences.append(
                "clients that have not asked for longer do not count: \(out) of \(count(older.count, "row")) "
                    + "with them are not in to the end")
        }
        return sentences + kept
    }

    /// The inputs, one sentence each: versions, documents, staleness, addresses, anchors, clock.
    /// - Parameter isStalenessKnown: whether it is known for how long clients use an earlier document.
    static func basis(of inputs: PublicationOutlook.Inputs, isStalenessKnown: Bool = true) -> [String] {
        var sentences = [versions(inputs.appVersions)]
        let names = inputs.documents.prefix(8).map { document in
            document.name + (document.replaced.map { ", replaced \($0.formatted(.iso8601))" } ?? "")
        }
        sentences.append(
            "\(count(inputs.documents.count, "document")): \(names.joined(separator: "; "))"
                + (inputs.documents.count > 8 ? "; and more" : ""))
        sentences.append(
            isStalenessKnown
                ? "clients ask at least every \(SpanText.text(inputs.staleness.components.seconds))"
                : "nobody knows for how long clients use an earlier document")
        let chains = inputs.hosts.flatMap(\.shown)
        let unread = chains.count { $0.chain == nil }
        sentences.append(
            "\(count(inputs.hosts.count, "host")) with \(count(chains.count, "chain")) at "
                + "\(count(Set(chains.map(\.place)).count, "address", "addresses"))"
                + (unread == 0 ? "" : ", of which \(unread) could not be read"))
        sentences += inputs.platforms.map { platform in
            "\(platform.name): \(count(platform.anchors.count, "anchor"))"
                + (platform.revocationLists.isEmpty
                    ? "" : ", \(count(platform.revocationLists.count, "revocation list"))")
        }
        sentences.append("clients' clocks are right: it is \(inputs.now.formatted(.iso8601))")
        return sentences
    }

    private static func versions(_ versions: PublicationOutlook.AppVersions) -> String {
        switch versions {
        case .unknown: "app versions unknown"
        case .noShippedPins: "no app version carries pins"
        case .versions(let all) where all.isEmpty: "no app version carries pins"
        case .versions(let all):
            "\(count(all.count, "app version")): \(all.prefix(16).map(\.name).joined(separator: ", "))"
        }
    }

    private static func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
        number == 1 ? "1 \(one)" : "\(number) \(many ?? one + "s")"
    }
}
