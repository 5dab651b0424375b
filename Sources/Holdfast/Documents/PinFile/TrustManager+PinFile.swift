public import struct Foundation.Data
public import struct Foundation.URL

extension TrustManager {
    /// Makes a manager with a policy for each host of a pin file that the app ships.
    ///
    /// A host without a backup pin is named in the log, once.
    /// - Parameters:
    ///   - url: the file.
    ///   - overrides: what a debug build may do.
    ///   - clock: the clock for calls without a time.
    /// - Throws: ``PinFileError`` that names the field and what to do.
    public convenience init(
        pinFile url: URL, overrides: PinFile.Overrides = .none, clock: any WallClock = SystemWallClock()
    ) throws(PinFileError) {
        self.init(try PinFile(contentsOf: url), overrides: overrides, clock: clock)
    }

    /// Makes a manager with a policy for each host of a pin file that the app ships.
    /// - Parameters:
    ///   - json: the octets of the file.
    ///   - overrides: what a debug build may do.
    ///   - clock: the clock for calls without a time.
    /// - Throws: ``PinFileError`` that names the field and what to do.
    public convenience init(
        pinFile json: Data, overrides: PinFile.Overrides = .none, clock: any WallClock = SystemWallClock()
    ) throws(PinFileError) {
        self.init(try PinFile(json: json), overrides: overrides, clock: clock)
    }

    /// Makes a manager with a policy for each host of a pin file.
    /// - Parameters:
    ///   - pinFile: the file.
    ///   - overrides: what a debug build may do.
    ///   - clock: the clock for calls without a time.
    public convenience init(
        _ pinFile: PinFile, overrides: PinFile.Overrides = .none, clock: any WallClock = SystemWallClock()
    ) {
        PolicyLog.shared.hostsWithoutBackup(pinFile.hostsWithoutBackup.map(\.description))
        self.init(policies: pinFile.policies(overrides: overrides), clock: clock)
    }
}
