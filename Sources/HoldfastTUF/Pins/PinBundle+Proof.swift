package import Foundation
package import Holdfast

extension PinBundle {
    /// Verifies a bundle as an app without required hosts does: from a root, at the clock's time.
    /// - Parameters:
    ///   - data: the bytes of the bundle.
    ///   - root: the root metadata that the app shipped with.
    ///   - clock: provides the time.
    /// - Returns: the pin file. It meets all requirements for a signed pin file.
    /// - Throws: `StoreError`.
    package static func proved(
        _ data: Data, root: Data, clock: any WallClock
    ) throws(StoreError) -> PinFile {
        // The floor requires nothing, and the address does not matter because nothing is downloaded.
        let configuration = PinRepositoryConfiguration(
            source: .bundle(URL(filePath: "/")), root: root, floor: PinFloor(covering: []))
        let bundle: RepositoryBundle
        do throws(TUFError) {
            bundle = try RepositoryBundle([UInt8](data), maximumBytes: configuration.maximumBundleBytes)
        } catch {
            throw StoreError(error)
        }
        return try VerifiedPins(
            proving: bundle, configuration, at: UpdateStart(clock.now), issuedUpTo: .distantFuture
        ).file
    }
}
