public import struct Foundation.Data
public import struct Foundation.URL

extension TrustManager {
    /// Makes a manager with a policy for each host of a pin file that the app ships.
    ///
    /// Hosts without a backup pin are logged, once.
    /// - Parameters:
    ///   - url: the file.
    ///   - overrides: the permissions of a debug build.
    ///   - clock: the clock for calls without a time.
    /// - Throws: ``PinFileError`` that names the field and the remedy.
    public convenience init(
        pinFile url: URL, overrides: PinFile.Overrides = .none, clock: any WallClock = SystemWallClock()
    ) throws(PinFileError) {
        self.init(try PinFile(contentsOf: url), overrides: overrides, clock: clock)
    }

    /// Makes a manager with a policy for each host of a pin file that the app ships.
    /// - Parameters:
    ///   - json: the bytes of the file.
    ///   - overrides: the permissions of a debug build.
    ///   - clock: the clock for calls without a time.
    /// - Throws: ``PinFileError`` that names the field and the remedy.
    public convenience init(
        pinFile json: Data, overrides: PinFile.Overrides = .none, clock: any WallClock = SystemWallClock()
    ) throws(PinFileError) {
        self.init(try PinFile(json: json), overrides: overrides, clock: clock)
    }

    /// Makes a manager with a policy for each host of a pin file.
    /// - Parameters:
    ///   - pinFile: the file.
    ///   - overrides: the permissions of a debug build.
    ///   - clock: the clock for calls without a time.
    public convenience init(
        _ pinFile: PinFile, overrides: PinFile.Overrides = .none, clock: any WallClock = SystemWallClock()
    ) {
        PolicyLog.shared.hostsWithoutBackup(pinFile.hostsWithoutBackup.map(\.description))
        self.init(policies: pinFile.policies(overrides: overrides), clock: clock)
    }
}
