package import Foundation
import Holdfast
import HoldfastTUF

extension PublicationOutlook.Document {
    /// For how long a client may go on with an older document of this kind, if nobody says it: the one place from which
    /// `gate`, `check`, `sign`, `list remove`, `rollover` and the server take their waiting times.
    ///
    /// A device that was switched off asks nobody, so that no document of a store can be waited for in less than the usual
    /// staleness, whatever its `refresh` says. A trust server's document ends by itself, after which its clients refuse
    /// every server until they have another one.
    /// - Parameter time: when it is asked for.
    /// - Returns: nil for a pin file without `refresh`, which apps ship: only their makers know how long they are used.
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
    /// For how long a client may not have asked, if nobody says it: the usual staleness, or the longest that a repository's
    /// pins ask for.
    package static func usualStaleness(of documents: [PublicationOutlook.Document], at time: Date) -> Duration {
        let repositories = documents.filter { if case .repository = $0.kind { true } else { false } }
        return repositories.compactMap { $0.waitingTime(at: time) }.reduce(PublicationTiming.usualStaleness, max)
    }
}
