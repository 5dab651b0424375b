import Holdfast
import HostMonitoring
import ServerFoundation
import ServerModel

/// The page of client reports of an app: failures over time, and samples with their chains and pins.
struct ReportsPage: Sendable {
    let app: AppName
    /// The status of the reports; nil if it cannot be read.
    let standing: ReportStanding?
    let history: FailureHistory
    /// The samples, newest first.
    let samples: [ReportSample]
    /// The published pins of each host.
    var published = PublishedHosts([])
    let now: Int64

    /// Maximum number of samples on a page.
    static let maximumSampleCount: Int64 = 16
    private static let rowHeight: Int64 = 58
    private static let barHeight: Int64 = 44
    private static let top: Int64 = 28

    /// The values for the template.
    var content: [String: PageValue] {
        [
            "app": .text("\(app)"), "isEnabled": .flag(standing?.isEnabled ?? false),
            "warnings": .texts(standing?.warnings ?? []),
            "choices": .list(
                FailureHistory.Span.allCases.map { span in
                    [
                        "address": .text("\(PageLink.reports(app))?days=\(span.rawValue)"), "words": .text(span.words),
                        "isHere": .flag(span == history.span),
                    ]
                }),
            "isEmpty": .flag(history.versions.isEmpty),
            "pictures": .list(history.versions.isEmpty ? [] : ChartLayout.allCases.map(picture)),
            "versions": .list(history.versions.map(row)), "samples": .list(samples.map(sample)),
        ]
    }

    // MARK: Failures

    private static func name(_ version: FailureHistory.Version) -> String {
        version.name.utf8.elementsEqual(ClientReport.nothing.utf8) ? "other or unknown" : version.name
    }

    private func row(_ version: FailureHistory.Version) -> PageValue {
        let most = version.failures.enumerated().max { $0.element < $1.element }
        let words = most.flatMap { place, failures in
            failures == 0 ? nil : "\(failures), from \(PageText.time(history.time(ofBar: place)))"
        }
        return [
            "name": .text(Self.name(version)), "failures": .number(version.failed), "all": .number(version.all),
            "part": .text(
                version.all == 0
                    ? PageText.nothing : ReportStanding.percent(Double(version.failed) / Double(version.all))),
            "most": .text(words ?? PageText.nothing),
        ]
    }

    private func picture(_ form: ChartLayout) -> PageValue {
        let end = history.time(ofBar: Int(history.span.count))
        let scale = ChartScale(history.time(ofBar: 0)...end, in: form)
        let rowHeight = Self.rowHeight + form.nameHeight
        let bottom = Self.top + Int64(history.versions.count) * rowHeight
        // One scale for all versions, so that their heights can be compared.
        let greatest = max(1, history.versions.flatMap(\.failures).max() ?? 1)
        return [
            "form": .text(form.rawValue), "width": .number(form.width), "height": .number(bottom + 8),
            "words": .text(
                "Failed connections over the last \(history.span.words), by version of the document; the table below "
                    + "has the sums."),
            "ticks": scale.tickValues(bottom: bottom),
            "rows": .list(
                history.versions.enumerated().map { place, version in
                    bars(version, scale, greatest, y: Self.top + Int64(place) * rowHeight)
                }),
        ]
    }

    private func bars(
        _ version: FailureHistory.Version, _ scale: ChartScale, _ greatest: Int64, y: Int64
    ) -> PageValue {
        let base = y + scale.form.nameHeight + Self.barHeight + 4
        let bars: [PageValue] = version.failures.enumerated().compactMap { place, failures in
            guard failures > 0 else { return nil }
            let (begin, end) = (scale.x(history.time(ofBar: place)), scale.x(history.time(ofBar: place + 1)))
            let height = max(2, Int64(Double(failures) / Double(greatest) * Double(Self.barHeight)))
            return [
                "x": .number(begin + 1), "y": .number(base - height), "width": .number(max(1, end - begin - 2)),
                "height": .number(height),
            ]
        }
        let name = y + (scale.form == .wide ? 22 : 14)
        return [
            "name": .text(Self.name(version)), "note": .text("\(version.failed) of \(version.all) failed"),
            "nameY": .number(name), "noteY": .number(name + 15), "left": .number(scale.left),
            "right": .number(scale.right), "base": .number(base), "bars": .list(bars),
        ]
    }

    // MARK: Samples

    private func sample(_ sample: ReportSample) -> PageValue {
        let report = (try? ReportReader.read(sample.bytes))?.first
        let pins = report?.pins ?? []
        return [
            "host": .text(sample.host), "received": .text(PageText.time(sample.received)),
            "words": .text(
                "A client\(sample.audience == .canary ? " of the canary" : "") \(Self.words(sample.code))"
                    + (report.map { ": document \($0.documentVersion), app \($0.appVersion), \($0.platform.rawValue)." }
                        ?? ", and the rest cannot be read.")),
            "chain": .list((report?.chain?.certificates ?? []).map { certificate($0, pins, of: sample.host) }),
            "pins": .list(
                pins.map { pin in
                    let words = [pin.state, pin.role].compactMap(\.self).joined(separator: " ")
                    return ["pin": .text(pin.text), "words": .text(words)]
                }),
        ]
    }

    private static func words(_ code: ClientReport.Code) -> String {
        switch code {
        case .ok: "got in"
        case .pins: "found none of its pins"
        case .expired: "had only pins that have ended"
        case .chain: "refused the chain before it compared pins"
        case .candidate: "got in, and missed a pin on trial"
        case .other: "failed otherwise"
        }
    }

    private func certificate(_ der: [UInt8], _ pins: [ClientReport.Pin], of host: String) -> PageValue {
        guard let certificate = try? X509Certificate(der: der) else {
            return ["subject": "not readable", "pin": .text(PageText.nothing), "match": "", "rank": ""]
        }
        let key = Digest(of: certificate.subjectPublicKeyInfo)
        // Reports spell pins in several ways, and each contains this text.
        let spelled = Array(Base64.encode(key.bytes).utf8)
        let isPinned = pins.contains { $0.text.utf8.count <= 256 && Array($0.text.utf8).firstRange(of: spelled) != nil }
        return [
            "subject": .text("\(certificate.subject)"), "pin": .text(PageText.pin(key)),
            "match": .text(
                isPinned
                    ? "is among the pins"
                    : isPublished(key, Digest(of: der), for: host)
                        ? "is published now, and the client's pins are older" : "is no pin"),
            "rank": PageRank.usual.value,
        ]
    }

    /// Whether a key or a certificate is published for a host now.
    private func isPublished(_ key: Digest, _ certificate: Digest, for host: String) -> Bool {
        guard let place = AppFacts.Place(label: host.utf8),
            let host = try? CatalogHost(name: place.name, port: place.port), let pins = published.pins(of: host)
        else { return false }
        return pins.digests.contains(key) || pins.digests.contains(certificate)
    }
}
