import Holdfast

@testable import HoldfastTUF

// The tests of HoldfastSigning have links to this file and to ForeignPeer.swift.

extension PinRepository {
    /// The error with which a forced update ends; nil where it succeeds.
    func refusal() async -> StoreError? {
        do throws(StoreError) {
            try await update(mode: .forced)
            return nil
        } catch {
            return error
        }
    }

    /// Waits for the update that is under way, if one is.
    func settle() async { _ = await documents.state.withLock { $0.underWay }?.value }
}

extension StoreError {
    var metadataCode: TUFError.Code? { (underlying as? TUFError)?.code }
    var floorCode: PinFloorError.Code? { (underlying as? PinFloorError)?.code }
}
