package import Foundation
import Holdfast
import HoldfastTUF

extension PublicationOutlook.Document {
    /// The default time for which a client may continue to use an older document of this kind. The waiting times of
    /// `gate`, `check`, `sign`, `list remove`, `rollover` and the server all come from here.
    ///
    /// A device that was switched off fetches nothing, so the wait for a document of a store is never shorter than the
    /// usual staleness, no matter what its `refresh` states. A trust server's document ends by itself; after that its
    /// clients refuse every server until they have another one.
    /// - Parameter time: the time of the evaluation.
    /// - Returns: nil for a pin file without `refresh`, which apps ship: only their developers know how long they are
    ///   used.
    package func waitingTime(at time: Date) -> Duration? {
        let usual = PublicationTiming.usualStaleness
        return switch HeldDocument.content(of: self, at: time) {
        case .pinFile(let file): file.refresh.map(Self.longest)
        case .repository(let pins): max(usual, pins.file.refresh.map(Self.longest) ?? usual)
        case .list: usual
        case .trustServer(let pins): .seconds(pins.end.timeIntervalSince(pins.timestamp).rounded(.up))
        case .refused: nil
        }
    }

    private static func longest(_ refresh: PinFile.Refresh) -> Duration {
        .seconds(Double(refresh.after) * (1 + refresh.jitter.value))
    }
}

extension PublicationOutlook.Inputs {
    /// The default for the maximum time since a client last fetched: the usual staleness, or the longest time that the
    /// pins of a repository specify.
    package static func usualStaleness(of documents: [PublicationOutlook.Document], at time: Date) -> Duration {
        let repositories = documents.filter { if case .repository = $0.kind { true } else { false } }
        return repositories.compactMap { $0.waitingTime(at: time) }.reduce(PublicationTiming.usualStaleness, max)
    }
}
