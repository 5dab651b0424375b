package import Foundation
package import Holdfast

/// The pins of a bundle as a client has them, for tools that check if the client could connect.
package struct PinBundlePins: PinSource {
    private let pins: VerifiedPins
    private let proof: BundleProof

    /// Verifies a bundle as it was verified when it was downloaded or shipped. Expirations of metadata are ignored,
    /// because they end refreshing, not pinning. See ``refusal(at:isRenewed:)``.
    /// - Parameters:
    ///   - data: the bytes of the bundle.
    ///   - root: the root metadata that the app shipped with.
    ///   - latest: the latest accepted issue time.
    ///   - grace: for a shipped bundle, the minimum time for which its pins stay valid after their `notAfter`.
    ///   - isReplaced: whether another bundle has replaced it. It may then lack the timestamp and the snapshot with
    ///     which clients verified it, because a repository does not keep those.
    /// - Throws: `StoreError`.
    package init(
        _ data: Data, root: Data, issuedUpTo latest: Date, grace: Duration = .zero, isReplaced: Bool = false
    ) throws(StoreError) {
        // The floor requires nothing, and the address does not matter because nothing is downloaded.
        let configuration = PinRepositoryConfiguration(
            source: .bundle(URL(filePath: "/")), root: root, floor: PinFloor(covering: []))
        let bundle: RepositoryBundle
        do throws(TUFError) {
            bundle = try RepositoryBundle([UInt8](data), maximumBytes: configuration.maximumBundleBytes)
        } catch {
            throw StoreError(error)
        }
        pins = try VerifiedPins(
            proving: bundle, configuration, at: .beforeAnyExpiration, issuedUpTo: latest, grace: grace,
            isKept: isReplaced && bundle.timestamp == nil)
        proof = BundleProof(
            trustedRoot: root, target: configuration.target, settings: configuration.metadataSettings)
    }

    /// The pin file.
    package var file: PinFile { pins.file }
    /// The first instants at which root, timestamp, snapshot and targets have expired; for a bundle without a
    /// timestamp, only root and targets.
    package var expirations: [Date] { pins.expirations }
    /// The first instant at which the timestamp has expired; nil for a bundle without a timestamp.
    package var timestampEnd: Date? { pins.bundle.timestamp == nil ? nil : expirations.dropFirst().first }
    /// The first instant of the grace period.
    package var graceBegins: Date { pins.graceBegins }
    /// The first instant at which the pins are no longer valid, grace included.
    package var end: Date { pins.end }

    package func answer(to question: PinQuestion) -> PinAnswer { pins.answer(to: question, at: question.time) }

    package var mayAdmitWithoutPins: Bool { true }

    /// Why a client that starts at a time, with only its root, gets no pins from the bundle; nil if it gets them.
    /// - Parameter isRenewed: whether a machine re-signs timestamp and snapshot, so that they do not expire.
    package func refusal(at time: Date, isRenewed: Bool) -> TUFError? {
        do throws(TUFError) {
            _ = try proof.proved(
                pins.bundle, at: UpdateStart(time), renewed: isRenewed ? .beforeAnyExpiration : nil)
            return nil
        } catch {
            return error
        }
    }

    /// Why a client that holds these pins keeps them when it is served others; nil if it takes the others.
    package func refusal(of new: PinBundlePins, at time: Date) -> String? {
        if new.pins.versions.isOlder(than: pins.versions) { return "its metadata is older" }
        do throws(StoreError) {
            try PinRepositoryFormat.checkOutlasts(new.pins, pins, at: time)
            return nil
        } catch {
            return "expected \(error.expected), found \(error.found)"
        }
    }
}
