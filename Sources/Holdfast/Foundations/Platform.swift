#if canImport(Darwin)
package import Foundation
#endif

/// Differences between systems. No other file asks which system it runs on; on Linux, code for Apple's systems is only
/// parsed.
package enum Platform {
    /// The kind of system, in one lower-case word.
    package static var name: String {
        #if os(macOS) || targetEnvironment(macCatalyst)
        "macos"
        #elseif os(iOS)
        "ios"
        #elseif os(tvOS)
        "tvos"
        #elseif os(watchOS)
        "watchos"
        #elseif os(visionOS)
        "visionos"
        #elseif os(Android)
        "android"
        #elseif os(Linux)
        "linux"
        #elseif os(Windows)
        "windows"
        #else
        "other"
        #endif
    }
}

#if canImport(Darwin)
extension Platform {
    /// The folder in which an application may keep files that should last. tvOS does not give an application such a
    /// folder: the system may delete files while the application is not running, and a store then downloads its
    /// documents again.
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
