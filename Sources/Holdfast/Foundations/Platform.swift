#if canImport(Darwin)
package import Foundation

/// What differs between Apple's systems. This is the only file that asks which one it is on; on Linux it can only be
/// parsed.
package enum Platform {
    /// Where an application may keep files that should last. tvOS gives an application no such place: there what is
    /// kept may be deleted while the application does not run, which a store survives by downloading again.
    static var folderForData: URL {
        #if os(tvOS)
        ApplicationFolder.own(in: URL.cachesDirectory)
        #else
        ApplicationFolder.own(in: URL.applicationSupportDirectory)
        #endif
    }

    /// Where ISPCertificatePinning's property list is kept: where that has it, unless other applications have theirs
    /// there too.
    package static var folderForPropertyLists: URL {
        #if os(tvOS)
        URL.cachesDirectory
        #elseif os(macOS) || targetEnvironment(macCatalyst)
        folderForData
        #else
        URL.libraryDirectory
        #endif
    }
}
#endif
