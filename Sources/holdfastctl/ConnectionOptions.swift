import ArgumentParser
import Foundation
import Holdfast

/// How a server is reached and what is trusted, for every verb that connects.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Trust the certificates in this file (PEM or DER) instead of the system's.", valueName: "file"),
        completion: .file(extensions: ["pem", "crt", "cer", "der"]))
    var ca: String?

    @Option(
        name: .customLong("connect-to"),
        help: ArgumentHelp(
            "Connect to this host or address, with a port if another one; judge as HOST all the same.",
            valueName: "address"),
        transform: ServerAddress.hostWithOptionalPort)
    var connectTo: DialledHost?

    @Option(help: ArgumentHelp("Give up after so many seconds.", valueName: "seconds"))
    var timeout = 10

    func validate() throws {
        guard (1...3_600).contains(timeout) else {
            throw ValidationError("The timeout must be between 1 and 3600 seconds, not \(timeout).")
        }
    }

    /// Whether nothing but the defaults is there.
    var isEmpty: Bool { ca == nil && connectTo == nil && timeout == 10 }

    /// What is trusted to begin with.
    func anchors() async throws(CommandFailure) -> TrustAnchors {
        guard let ca else {
            do throws(TrustAnchorError) {
                return try await TrustAnchors.system()
            } catch {
                throw CommandFailure(.noAnchors, "\(error)")
            }
        }
        do throws(CertificateFileError) {
            let certificates = try CertificateFile.read(URL(fileURLWithPath: ca))
            guard !certificates.isEmpty else {
                throw CertificateFileError(
                    .notACertificate, file: ca, expected: "at least one certificate", found: "other PEM blocks only")
            }
            return TrustAnchors(certificates)
        } catch {
            throw CommandFailure(.unreadableFile, "\(ca): \(error)")
        }
    }
}
