import Foundation
import Holdfast

/// A time during which some clients hold a document, in whole seconds since 1970.
struct HoldingPeriod: Sendable {
    let holders: PublicationOutlook.Holders
    let begins: Int64
    /// The first second after the period.
    let ends: Int64

    /// The holding periods of a document, in the order of ``PublicationOutlook/Holders``, independent of the outlook's
    /// span.
    /// - Parameters:
    ///   - held: the document.
    ///   - all: all documents of the outlook.
    ///   - stuck: whether its clients keep it, because they refuse the replacement.
    static func all(
        of held: HeldDocument, among all: [HeldDocument], isStuck: Bool, _ inputs: PublicationOutlook.Inputs
    ) -> [HoldingPeriod] {
        let document = held.document
        let published = document.published.wholeSeconds
        let carried = carriedEnd(of: document, inputs.appVersions)
        let replaced = document.replaced?.wholeSeconds
        // A client whose document has ended as a whole does not evaluate before it has the next one.
        var last = Int64.max
        if let replaced, !held.isOnlyCarried, all.contains(where: held.isSucceeded) {
            let own = held.isRenewed ? held.lifetime.map { replaced + Int64(clamping: $0) } : held.end?.wholeSeconds
            last = own ?? .max
        }
        var periods: [HoldingPeriod] = []
        // A build keeps its document as long as it is used, even if others were published since.
        let currentEnd: Int64 =
            switch (replaced, carried) {
            case (_?, let carried?) where document.isNeverServed: isStuck ? carried : min(carried, last)
            case (let replaced?, let carried?): max(replaced, carried)
            case (nil, let carried?) where held.isOnlyCarried: carried
            case (nil, _): .max
            case (let replaced?, nil): replaced
            }
        periods.append(HoldingPeriod(holders: .current, begins: published, ends: currentEnd))
        if let replaced, !document.isNeverServed {
            let stale = inputs.timing.lastUse(ofDocumentReplacedAt: Date(wholeSeconds: replaced)).wholeSeconds
            let (begins, middle) = (max(currentEnd, replaced), isStuck ? .max : stale)
            periods.append(HoldingPeriod(holders: .replaced, begins: begins, ends: min(middle, last)))
            periods.append(HoldingPeriod(holders: .older, begins: max(begins, middle), ends: last))
        }
        if held.hasBeginnings {
            periods.append(HoldingPeriod(holders: .beginning, begins: published, ends: .max))
        }
        return periods.filter { $0.begins < $0.ends }
    }

    /// The first second at which no build with the document is used; nil if no build contains it.
    private static func carriedEnd(
        of document: PublicationOutlook.Document, _ versions: PublicationOutlook.AppVersions
    ) -> Int64? {
        guard !document.appVersions.isEmpty else { return nil }
        guard case .versions(let versions) = versions else { return .max }
        let carrying = versions.filter { version in
            document.appVersions.contains { $0.utf8.elementsEqual(version.name.utf8) }
        }
        return carrying.map { $0.usedUntil?.wholeSeconds ?? .max }.max() ?? .max
    }
}

extension Int64 {
    /// A number of seconds, limited to a safe range; 0 for NaN.
    init(clamping seconds: TimeInterval) {
        guard !seconds.isNaN else { self = 0; return }
        self = seconds >= 1e15 ? 1_000_000_000_000_000 : seconds <= -1e15 ? -1_000_000_000_000_000 : Int64(seconds)
    }
}
