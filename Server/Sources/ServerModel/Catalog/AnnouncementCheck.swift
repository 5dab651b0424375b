import Foundation
import Holdfast
import HoldfastPublishing
package import ServerFoundation

/// Checks announcements, from which pins are made, with ``HostCertificateCheck`` and ``HostKeyCheck`` against the
/// anchors of the app.
package struct AnnouncementCheck: Sendable {
    private let check: HostCertificateCheck
    private let time: Date

    /// - Parameters:
    ///   - anchors: DER of the certificates that the app's clients trust.
    ///   - now: the database's time, in seconds since 1970.
    package init(trusting anchors: [[UInt8]], at now: Int64) {
        let anchors = anchors.compactMap { try? X509Certificate(der: $0) }
        check = HostCertificateCheck(validator: PathValidator(anchors: TrustAnchors(anchors)))
        time = Date(timeIntervalSince1970: Double(now))
    }

    /// Requires that a chain begins with the host's own certificate, and that clients of the app accept it.
    /// - Throws: ``ServerError`` `invalidValue` with the condition that it does not meet.
    package func check(_ chain: CertificateChain, for host: CatalogHost) throws(ServerError) {
        do throws(HostCheckError) {
            _ = try check.verify(PresentedChain(chain.certificates), for: host.name, at: time)
        } catch {
            throw Self.refusal(error, of: "chain", remedy: error.code == .untrusted ? Self.untrusted : error.remedy)
        }
    }

    /// Requires a key that clients accept.
    /// - Throws: ``ServerError`` `invalidValue`.
    package static func check(key: [UInt8]) throws(ServerError) {
        do throws(HostCheckError) {
            try HostKeyCheck.check(key: key, named: "key")
        } catch {
            throw refusal(error, of: "key", remedy: error.remedy)
        }
    }

    /// The key of a certificate request that is signed with it, and that names the host if it names any.
    /// - Throws: ``ServerError`` `invalidValue`.
    package static func key(ofRequest request: [UInt8], for host: CatalogHost) throws(ServerError) -> [UInt8] {
        do throws(HostCheckError) {
            return try HostKeyCheck.check(request: request, for: try? DialedHost(host.name), named: "request")
        } catch {
            throw refusal(error, of: "request", remedy: error.remedy)
        }
    }

    private static let untrusted =
        "Send its issuers after it. If the app's clients trust another authority, add that to the app's anchors first."

    private static func refusal(_ error: HostCheckError, of field: String, remedy: String) -> ServerError {
        ServerError(
            .invalidValue, of: field, expected: error.expected, found: "\(error.found) (\(error.code.rawValue))",
            remedy: remedy)
    }
}
