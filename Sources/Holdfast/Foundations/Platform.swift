#if canImport(Darwin)
package import Foundation

/// Differences between Apple's systems. Only this file asks which system it runs on; Linux can only parse it.
package enum Platform {
    /// Where an application may keep files that should last. tvOS gives an application no such place: there the system
    /// may delete files while the application is not running, and a store downloads its documents again.
    static var folderForData: URL {
        #if os(tvOS)
        ApplicationFolder.own(in: URL.cachesDirectory)
        #else
        ApplicationFolder.own(in: URL.applicationSupportDirectory)
        #endif
    }

    /// The folder of ISPCertificatePinning's property list: the library's own, unless other applications share it.
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
