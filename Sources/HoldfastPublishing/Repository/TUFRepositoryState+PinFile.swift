public import Foundation
package import Holdfast
import HoldfastTUF

extension TUFRepositoryState {
    /// Maximum difference between the clocks of those who prepare pins and those who publish them, in seconds.
    private static let clockTolerance: TimeInterval = 86_400

    /// Reads a pin file that every app with the default settings of a floor accepts, apart from the hosts that the
    /// floor covers. Other files would be refused at publication, after people have signed them.
    static func pinFile(_ data: Data) throws(TUFRepositoryError) -> PinFile {
        let file: PinFile
        do throws(PinFileError) {
            file = try PinFile(json: data)
            try file.checkSignedRequirements()
        } catch {
            throw invalid(error)
        }
        do throws(PinFloorError) {
            try PinFloor(covering: []).check(file)
        } catch {
            throw invalid(error)
        }
        return file
    }

    /// Checks that a pin file was not issued in the future. Clients limit how long its pins last by their own clocks,
    /// so the pins would end long before the time in the file.
    static func requireIssued(_ file: PinFile, at time: Date) throws(TUFRepositoryError) {
        let latest = time.addingTimeInterval(clockTolerance)
        guard let issued = file.issuedAt, issued <= latest else {
            throw TUFRepositoryError(
                .invalidPins, expected: "an issuedAt of now, or at most a day ahead",
                found: file.issuedAt?.formatted(.iso8601) ?? "none",
                remedy: "Correct issuedAt, or prepare the pins from a file without it.")
        }
    }

    private static func invalid(_ error: some HoldfastError) -> TUFRepositoryError {
        TUFRepositoryError(.invalidPins, expected: error.expected, found: error.found, remedy: error.remedy)
    }

    /// The errors with which publishing the drafts would fail even with all signatures, so that people know before they
    /// sign.
    /// - Parameters:
    ///   - time: when they are published.
    ///   - lifetimes: the lifetime of the timestamp in that publication.
    ///   - exceptions: the rules that the publication may break.
    public func refusals(
        at time: Date, lifetimes: Lifetimes = Lifetimes(), allowing exceptions: Set<TUFPublication.Exception> = []
    ) -> [TUFRepositoryError] {
        var refusals: [TUFRepositoryError] = []
        func collect(_ check: () throws(TUFRepositoryError) -> Void) {
            do throws(TUFRepositoryError) {
                try check()
            } catch {
                refusals.append(error)
            }
        }
        collect { () throws(TUFRepositoryError) in try checkDrafts() }
        if let draftPins, let file = try? Self.pinFile(draftPins) {
            // Published pins that only get the signatures of new keys cannot be corrected.
            if draftPins != live?.pins {
                collect { () throws(TUFRepositoryError) in try Self.requireIssued(file, at: time) }
            }
            if !exceptions.contains(.expiry) {
                let end = time.addingTimeInterval(lifetimes.timestamp.inSeconds)
                collect { () throws(TUFRepositoryError) in try TUFPublication.requireEnd(of: file, after: end) }
            }
        }
        for file in [draftRoot ?? live?.root, draftTargets ?? live?.targets].compactMap(\.self)
        where file.end <= time {
            refusals.append(
                TUFRepositoryError(
                    .refusedByClients, of: file.role.rawValue, expected: "metadata that has not expired",
                    found:
                        "\(file.role.rawValue) \(file.version), which expired at \(file.end.formatted(.iso8601))",
                    remedy: file.role == .root
                        ? "Prepare a root that lasts longer (repository rotate --role root)."
                        : "Prepare the pins again."))
        }
        return refusals
    }
}

extension TUFRepositoryState.Live {
    /// The published pins, as clients read them; nil if they cannot.
    package var pinFile: PinFile? { try? PinFile(json: pins) }
}
