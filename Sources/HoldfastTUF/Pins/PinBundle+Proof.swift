package import Foundation
package import Holdfast

extension PinBundle {
    /// Proves a bundle by what an app has that asks for no host in particular: from a root on, at a time.
    /// - Parameters:
    ///   - data: the octets of the bundle.
    ///   - root: the root that the app came with.
    ///   - clock: what the time is.
    /// - Returns: the pin file, which fulfills what a signed one has to.
    /// - Throws: `StoreError`.
    package static func proved(
        _ data: Data, root: Data, clock: any WallClock
    ) throws(StoreError) -> PinFile {
        // What asks for nothing of its own, and has no address since nothing is downloaded.
        let configuration = PinRepositoryConfiguration(
            source: .bundle(URL(filePath: "/")), root: root, floor: PinFloor(covering: []))
        let bundle: RepositoryBundle
        do throws(TUFError) {
            bundle = try RepositoryBundle([UInt8](data), maximumBytes: configuration.maximumBundleBytes)
        } catch {
            throw StoreError(error)
        }
        return try VerifiedPins(
            proving: bundle, configuration, at: UpdateStart(clock.now), issuedUpTo: .distantFuture, clock: clock,
            log: .shared
        ).file
    }
}
