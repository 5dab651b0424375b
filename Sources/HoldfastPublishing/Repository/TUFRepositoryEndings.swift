package import Foundation
package import Holdfast
import HoldfastTUF

/// The ends in a published repository, and if clients with its state can still connect.
///
/// Renewing a timestamp every day does not extend the pins: they end when the pin file states, and only the offline
/// keys can sign new ones.
package struct TUFRepositoryEndings: Sendable {
    /// Something that ends.
    package struct Ending: Sendable, Hashable {
        /// A description of it.
        package let name: String
        /// When it ends. For pins, grace is not included, because it is only for accidents.
        package let end: Date

        package init(name: String, end: Date) {
            self.name = name
            self.end = end
        }
    }

    /// The parts that only keyholders can re-sign: root, targets, pins.
    package let offline: [Ending]
    /// The parts that a renewal re-signs: snapshot and timestamp.
    package let online: [Ending]
    /// The hosts whose pins have ended, so that clients refuse every connection to them.
    package let lockedOut: [HostPattern]
    /// If the pin file has ended and clients use it by grace: until when.
    package let graceEnd: Date?
    /// When clients stop using the pin file, grace included.
    package let pinsEnd: Date?

    /// The ends of the published state, and the result for its clients at a time.
    package init(of live: TUFRepositoryState.Live, at time: Date) {
        let files = [live.root, live.targets].compactMap(\.self)
        let pins = try? PinFile(json: live.pins)
        let pinEndings = PinFileEndings(pins, at: time)
        offline = files.map(Self.ending) + pinEndings.all
        online = [live.snapshot, live.timestamp].map(Self.ending)
        (lockedOut, graceEnd) = (pinEndings.lockedOut, pinEndings.graceEnd)
        pinsEnd = pins?.end
    }

    private static func ending(_ file: TUFMetadataFile) -> Ending {
        Ending(name: "\(file.role.rawValue) \(file.version)", end: file.end)
    }
}

/// The ends in a pin file, and if clients that hold it can still connect.
package struct PinFileEndings: Sendable {
    /// The pin file, and each host whose pins end before it.
    package let all: [TUFRepositoryEndings.Ending]
    /// The hosts whose pins have ended, so that clients refuse every connection to them.
    package let lockedOut: [HostPattern]
    /// If the file has ended and clients use it by grace: until when.
    package let graceEnd: Date?

    /// - Parameters:
    ///   - file: the pin file; nil for one that cannot be read.
    ///   - time: the time of the clients.
    package init(_ file: PinFile?, at time: Date) {
        guard let file else {
            (all, lockedOut, graceEnd) = ([], [], nil)
            return
        }
        var all: [TUFRepositoryEndings.Ending] = []
        if let last = file.notAfter { all.append(.init(name: "the pin file", end: last)) }
        for host in file.hosts {
            guard let end = PinFileEntry(host, until: .distantFuture).pins.end, end < file.end ?? .distantFuture
            else { continue }
            all.append(.init(name: "the pins of \(host.pattern)", end: end))
        }
        self.all = all
        guard let outlook = try? UnseenOutlook(file) else {
            // A file that cannot be evaluated must not look good.
            (lockedOut, graceEnd) = (file.hosts.map(\.pattern), nil)
            return
        }
        let fates = file.hosts.filter { !$0.isRetired }.map { ($0.pattern, outlook.fate(of: $0, at: time)) }
        lockedOut = fates.filter { $0.1 == .refused }.map(\.0)
        graceEnd = fates.contains { $0.1 == .grace } ? file.end : nil
    }
}
