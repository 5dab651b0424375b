public import Foundation
import Holdfast

extension PinImport {
    /// The systems whose configuration is read.
    public enum Source: String, Sendable, CaseIterable {
        /// TrustKit's `TSKConfiguration` in a property list in XML.
        case trustkit
        /// Apple's `NSPinnedDomains` in a property list in XML.
        case ats
        /// Android's network security configuration.
        case android
        /// Calls of OkHttp's `CertificatePinner.Builder` in Kotlin or Java.
        case okhttp

        /// The name of the system, for messages.
        var reader: String {
            switch self {
            case .trustkit: "TrustKit"
            case .ats: "NSPinnedDomains"
            case .android: "Android"
            case .okhttp: "OkHttp"
            }
        }

        /// Detects the system by the content of a file.
        /// - Parameter data: the file.
        /// - Throws: ``PublishingError`` `invalidDocument` if the file is not a configuration of a known system, or has
        ///   pins of two systems.
        public init(detectedIn data: Data) throws(PublishingError) {
            let content = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
            guard let first = content.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else {
                throw PinImport.failure("is empty")
            }
            if first == UInt8(ascii: "<") {
                let document = try ConfigurationElement.document(data, wanted: "a configuration in XML")
                if document.isNamed("network-security-config") {
                    self = .android
                    return
                }
                guard document.isNamed("plist") else {
                    throw document.failure("is neither a property list nor a network security configuration")
                }
                self = try Self.source(ofPropertyList: data)
            } else if data.starts(with: Array("bplist".utf8)) {
                self = try Self.source(ofPropertyList: data)
            } else if content.range(of: Data("CertificatePinner".utf8)) != nil {
                self = .okhttp
            } else {
                throw PinImport.failure(
                    "is not of a system that is known: a property list in XML with TSKPinnedDomains or "
                        + "NSPinnedDomains, a network security configuration, or code with OkHttp's CertificatePinner",
                    remedy: DocumentKind(data) == .pinFile
                        ? "It is a pin file already: use it as it is." : "Name a configuration of one of these.")
            }
        }

        private static func source(ofPropertyList data: Data) throws(PublishingError) -> Source {
            let list = try PropertyListDictionary(data)
            let isTrustKit = list["TSKConfiguration"] != nil || list["TSKPinnedDomains"] != nil
            var isApple = list["NSPinnedDomains"] != nil
            if let value = list["NSAppTransportSecurity"], value.isNamed("dict") {
                let security = try PropertyListDictionary(value, "NSAppTransportSecurity")
                isApple = isApple || security["NSPinnedDomains"] != nil
            }
            switch (isTrustKit, isApple) {
            case (true, false): return .trustkit
            case (false, true): return .ats
            case (true, true):
                throw PinImport.failure(
                    "has pins of both TrustKit and NSPinnedDomains",
                    remedy: "Name the one to import with --from trustkit or --from ats.")
            case (false, false): throw PinImport.failure("has neither TSKPinnedDomains nor NSPinnedDomains")
            }
        }
    }
}
