public import Foundation
public import Holdfast

/// Makes `bundle.json`: a whole pin repository in one file, for servers that deliver it and apps that ship it.
public enum PinBundle {
    /// Downloads a repository as a client does, and writes the verified files into a bundle (docs/formats.md).
    ///
    /// If the repository does not verify, or its metadata has expired, no bundle is made. The contents of the pin file
    /// are not checked, because each app has its own floor.
    /// - Parameters:
    ///   - source: provides the files of the repository.
    ///   - root: the root metadata of the oldest build that is still supported. The bundle contains the roots after it.
    ///   - target: the name of the pin file in the repository.
    ///   - settings: the limits for what the repository may demand.
    ///   - clock: provides the time.
    /// - Returns: the bytes of the bundle, JSON in UTF-8. The same repository always gives the same bytes.
    /// - Throws: ``TUFError``.
    public static func data(
        of source: any RepositorySource, root: Data, target: String = "pins.json",
        settings: TUFSettings = TUFSettings(), clock: any WallClock = SystemWallClock()
    ) async throws(TUFError) -> Data {
        let first = try RootStep(settings: settings, meter: WorkMeter(settings)).initial([UInt8](root))
        let memory = MetadataMemory()
        let client = TUFClient(store: memory, source: source, trustedRoot: root, settings: settings, clock: clock)
        let update = try await client.refresh()
        let pins = try await update.data(of: update.targets.own(target))
        var bundle = RepositoryBundle(memory, afterRoot: first.common.version, settings)
        bundle.pins = pins
        return bundle.json
    }
}
