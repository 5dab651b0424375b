import Foundation
import Holdfast
import PinChanges
import ServerFoundation
import ServerModel
import ServerStore

/// The page of a host: its timeline, its chains with each pin, and its observations by vantage.
struct HostPage: Sendable {
    let facts: AppFacts
    let host: AppSnapshot.Host
    let timeline: HostTimeline

    /// Maximum number of chains; each has at most 16 certificates.
    private static let maximumChainCount = 16
    private static let rowHeight: Int64 = 44
    private static let top: Int64 = 28
    /// The period that the chart shows at most; longer ranges are cut at its edges.
    private static let back: Int64 = 120 * 86_400
    private static let ahead: Int64 = 400 * 86_400

    init(_ facts: AppFacts, _ host: AppSnapshot.Host) {
        self.facts = facts
        self.host = host
        timeline = HostTimeline(
            host, publications: facts.publications, timing: facts.app.settings.timing)
    }

    private var pins: ContentHost? { facts.pins(of: host.host) }

    /// The values for the template.
    var content: [String: PageValue] {
        let shown = host.observations.prefix(Int(AppFacts.maximumPlaceCountOfOne))
        let lastWithout = timeline.everybody.map { time in
            time <= facts.now ? "gone" : "gone at \(PageText.timeAndDistance(time, from: facts.now))"
        }
        return [
            "label": .text(host.host.label), "renewal": .text(renewal),
            "dial": .text(host.host.dial ?? "what the name resolves to"), "pins": .text(AppPage.words(pins)),
            "lastWithout": .text(lastWithout ?? PageText.nothing),
            "alarms": .texts(facts.alarms.filter { $0 != Catalog.tooManyKeys }.map { "\($0)" }),
            "hasTooManyKeys": .flag(facts.alarms.contains(Catalog.tooManyKeys)),
            "isEmpty": .flag(timeline.rows.isEmpty),
            "pictures": .list(timeline.rows.isEmpty ? [] : ChartLayout.allCases.map(picture)),
            "lines": .list(timeline.rows.map(line)), "chains": .list(chains),
            "observations": .list(shown.map(observation)),
            "isCut": .flag(host.observations.count > shown.count),
        ]
    }

    private var renewal: String {
        switch host.host.renewal {
        case .announced: "each certificate is announced before it is shown"
        case .sameKey: "the key stays"
        case .issuer: "the issuer stays"
        }
    }

    // MARK: The timeline

    private func line(_ row: HostTimeline.Row) -> PageValue {
        func days(_ range: ClosedRange<Int64>?) -> PageValue {
            let days: PageValue? = range.map {
                ["first": .text(PageText.day($0.lowerBound)), "last": .text(PageText.day($0.upperBound))]
            }
            return .optional(days)
        }
        let everybody = row.everybody.map { $0 <= facts.now ? "yes" : "at \(PageText.time($0))" }
        return [
            "name": .text(PageText.short(row.digest)), "note": .text(row.note), "seen": days(row.seen),
            "coming": days(row.coming), "pinned": days(row.pinned), "everybody": .text(everybody ?? PageText.nothing),
        ]
    }

    private func picture(_ form: ChartLayout) -> PageValue {
        let now = facts.now
        let ranges = timeline.rows.flatMap { [$0.seen, $0.coming, $0.pinned] }.compactMap(\.self)
        let begin = ranges.map(\.lowerBound).min() ?? now
        let end = ranges.map(\.upperBound).max() ?? now
        let scale = ChartScale(
            max(min(begin, now - 86_400), now - Self.back)...min(max(end, now + 86_400), now + Self.ahead), in: form)
        let rowHeight = Self.rowHeight + form.nameHeight
        let bottom = Self.top + Int64(timeline.rows.count) * rowHeight
        return [
            "form": .text(form.rawValue), "width": .number(form.width), "height": .number(bottom + 20),
            "words": .text("What \(host.host.label) shows and has pinned over time; the table below says the same."),
            "ticks": scale.tickValues(bottom: bottom),
            "rows": .list(
                timeline.rows.enumerated().map { bars($1, scale, y: Self.top + Int64($0) * rowHeight) }),
            "today": [
                "x": .number(scale.x(now)), "bottom": .number(bottom), "textY": .number(bottom + 14),
                "anchor": form.anchor(scale.x(now)),
            ],
        ]
    }

    private func bars(_ row: HostTimeline.Row, _ scale: ChartScale, y: Int64) -> PageValue {
        let below = y + scale.form.nameHeight
        let all: [(kind: String, range: ClosedRange<Int64>?, down: Int64)] = [
            ("coming", row.coming, 4), ("seen", row.seen, 4), ("pinned", row.pinned, 20),
        ]
        let bars: [PageValue] = all.compactMap { kind, range, down in
            guard let bar = range.flatMap(scale.bar) else { return nil }
            return [
                "kind": .text(kind), "x": .number(bar.x), "y": .number(below + down), "width": .number(bar.width),
                "isPinned": .flag(row.pinned != nil && down == 20), "form": .text(scale.form.rawValue),
            ]
        }
        // No mark is needed if all clients have the pin already.
        let everybody: PageValue? = row.everybody.flatMap { time in
            guard time > facts.now, scale.range.contains(time) else { return nil }
            return ["x": .number(scale.x(time)), "top": .number(below + 17), "bottom": .number(below + 35)]
        }
        return [
            "name": .text(PageText.short(row.digest)), "note": .text(row.note), "nameY": .number(y + 14),
            "noteY": .number(y + 28), "bars": .list(bars), "everybody": .optional(everybody),
        ]
    }

    // MARK: Chains and observations

    private var chains: [PageValue] {
        var all: [(chain: CertificateChain, title: String)] = []
        for seen in host.observations {
            guard let chain = seen.chain, !all.contains(where: { $0.chain == chain }) else { continue }
            all.append((chain, "Seen at \(seen.address) from \(seen.vantage)"))
        }
        for next in host.next.chains where !all.contains(where: { $0.chain == next.chain }) {
            let by = next.origin.map { ", by \($0.actor)" } ?? ""
            all.append((next.chain, "Announced, from \(PageText.time(next.begins))\(by)"))
        }
        return all.prefix(Self.maximumChainCount).map { chain, title in
            [
                "title": .text(title),
                "certificates": .list(chain.certificates.enumerated().map { certificate($1, atDepth: $0) }),
            ]
        }
    }

    private func certificate(_ der: [UInt8], atDepth depth: Int) -> PageValue {
        let certificate = try? X509Certificate(der: der)
        let pinned = PinMatch(der, atDepth: depth, pins).words
        func day(_ date: Date?) -> String {
            date.map { PageText.day(Int64($0.timeIntervalSince1970)) } ?? PageText.nothing
        }
        return [
            "subject": .text(certificate.map { "\($0.subject)" } ?? PageText.nothing),
            "issuer": .text(certificate.map { "\($0.issuer)" } ?? PageText.nothing),
            "valid": .text("\(day(certificate?.notBefore)) to \(day(certificate?.notAfter))"),
            "fingerprint": .text("\(Digest(of: der))"),
            "pin": .text(certificate.map { PageText.pin(Digest(of: $0.subjectPublicKeyInfo)) } ?? PageText.nothing),
            // A chain needs only one pinned certificate, so a certificate without a pin is no fault.
            "pinned": .text(pinned.isEmpty ? "no pin" : pinned.joined(separator: ", ")),
        ]
    }

    private func observation(_ seen: Observation) -> PageValue {
        [
            "place": .text(seen.address), "vantage": .text(seen.vantage),
            "first": .text(PageText.time(seen.firstSeen)),
            "last": .text(PageText.distance(to: seen.lastSeen, from: facts.now)),
            "certificate": .optional(seen.chain.map { PageText.short($0.fingerprint) }),
            "failure": .optional(seen.failure),
        ]
    }
}
