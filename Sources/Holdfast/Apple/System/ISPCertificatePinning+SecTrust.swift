#if canImport(Security)
import Logging
public import Security

public import struct Foundation.URL

extension ISPCertificatePinning {
    /// Whether a trust validates for a domain and holds one of the certificates stored for exactly that domain.
    ///
    /// It reads the file and asks the system, blocking.
    /// - Parameters:
    ///   - trust: the trust that a connection handed out.
    ///   - domain: the domain that was dialled.
    ///   - file: where the certificates are kept.
    ///   - clock: says for which time to validate.
    /// - Returns: false for nil, for a domain without certificates, and when the file is missing or damaged.
    public static func verifyPinnedCertificate(
        forTrust trust: SecTrust?, andDomain domain: String?, file: URL = defaultFile,
        clock: any WallClock = SystemWallClock()
    ) -> Bool {
        guard let trust, let domain else { return false }
        return decision(for: SystemTrust(trust), domain: domain, file: file, clock: clock)?.isTrusted ?? false
    }

    /// nil when there is nothing to decide by; the log says why.
    static func decision(
        for trust: SystemTrust, domain: String, file: URL, clock: any WallClock
    ) -> TrustDecision? {
        do {
            let host = try DialledHost(publishedHostName: domain)
            return try policy(for: domain, file: file)?.evaluate(ServerTrust(trust, host: host), at: clock.now)
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
#endif
