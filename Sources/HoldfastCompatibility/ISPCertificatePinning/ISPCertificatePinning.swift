public import Foundation
public import Holdfast
import Logging

#if canImport(Security)
public import Security
#endif

/// Several pinned certificates per domain, stored in a file, with the interface of ISPCertificatePinning (The SSL
/// Conservatory).
///
/// The certificates are stored once, and every verification reads them: if a domain has none, or the file is missing or
/// damaged, the result is false. Verification is that of `PinnedPolicy` with certificate pins: standard validation for
/// the domain, and a pinned certificate in a valid path, including the anchor. New code should use `PinnedPolicy`
/// itself. Several processes may use it at once: the file is always complete, and the last writer wins.
public enum ISPCertificatePinning {
    /// The default file of the certificates: `SSLPins.plist` in the application's library on Apple's platforms, on
    /// macOS in the folder for the bundle's identifier inside the application support folder; elsewhere in `holdfast`
    /// under `XDG_DATA_HOME` or `~/.local/share`.
    public static var defaultFile: URL {
        #if canImport(Darwin)
        Platform.folderForPropertyLists.appending(path: "SSLPins.plist")
        #else
        DataFolder.holdfast().appending(path: "SSLPins.plist")
        #endif
    }

    /// Stores the certificates of every domain, replacing all that were stored.
    ///
    /// It blocks while it writes and synchronizes a file; on any error nothing changes, and the log has the reason.
    /// - Parameters:
    ///   - certificates: for each domain the DER of the certificates to pin.
    ///   - file: the file for the certificates.
    /// - Returns: whether they are stored; false for nil, for a domain that is not a host name, for data that is not a
    ///   certificate, for a Merkle Tree Certificate, and when the file cannot be written.
    @discardableResult
    public static func setupSSLPins(
        usingDictionnary certificates: [String: [Data]]?, file: URL = defaultFile
    ) -> Bool {
        guard let certificates else { return false }
        do {
            var canonical: [String: [Data]] = [:]
            for (domain, pinned) in certificates {
                canonical[try DialedHost(publishedHostName: domain).name, default: []] += pinned
                for certificate in try CertificateSource.data(pinned).read() { _ = try certificate.pin(.certificate) }
            }
            try PinnedCertificateFile(url: file).replace(with: canonical)
            return true
        } catch {
            PolicyLog.shared.logger.error(
                "the pinned certificates were not stored",
                metadata: ["file": "\(file.path)", "error": "\(ForeignErrorText.whole(error))"])
            return false
        }
    }

    /// Whether a trust validates for a domain and contains one of the certificates stored for exactly that domain.
    ///
    /// It blocks while it reads the file and, on Apple's systems, while the system evaluates the trust.
    /// - Parameters:
    ///   - trust: the trust of the handshake; one that is known to be for a host other than the domain is rejected.
    ///   - domain: the dialed domain.
    ///   - file: the file with the certificates.
    ///   - clock: the time of the validation.
    /// - Returns: false for nil, for a domain without certificates, and when the file is missing or damaged.
    public static func verifyPinnedCertificate(
        forTrust trust: SecTrust?, andDomain domain: String?, file: URL = defaultFile,
        clock: any WallClock = SystemWallClock()
    ) -> Bool {
        guard let trust, let domain else { return false }
        return decision(for: domain, file: file, at: clock.now) { host in
            #if canImport(Security)
            ServerTrust(trust, host: host)
            #else
            trust
            #endif
        }?.isTrusted ?? false
    }

    /// The decision; nil if no certificates are stored for it, with the reason in the log.
    static func decision(
        for domain: String, file: URL, at time: Date, about trust: (DialedHost) -> ServerTrust
    ) -> TrustDecision? {
        do {
            guard FileManager.default.fileExists(atPath: file.path) else { return nil }
            let host = try DialedHost(publishedHostName: domain)
            let certificates = try PinnedCertificateFile(url: file).read()[host.name] ?? []
            guard !certificates.isEmpty else { return nil }
            return try PinnedPolicy(host: HostPattern(host), pinning: .certificate, of: .data(certificates))
                .decision(about: trust(host), at: time)
        } catch {
            PolicyLog.shared.logger.error(
                "the pinned certificates cannot be used",
                metadata: [
                    "file": "\(file.path)", "domain": "\(domain.quotedAddress)",
                    "error": "\(ForeignErrorText.whole(error))",
                ])
            return nil
        }
    }
}
