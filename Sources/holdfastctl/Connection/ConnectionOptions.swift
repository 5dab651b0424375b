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
        transform: { text in CheckedArgument { try ServerAddress.hostWithOptionalPort(text) } })
    var connectToArgument: CheckedArgument<DialledHost>?

    @Option(
        name: .customLong("starttls"),
        help: ArgumentHelp(
            "Begin in plaintext and go over to TLS as this protocol does. The port is its own if none is stated.",
            valueName: "protocol"))
    var startTLS: StartTLSProtocol?

    @Option(
        name: .customLong("proxy"),
        help: ArgumentHelp(
            "Connect through this HTTP proxy (CONNECT); HOST is judged all the same. Also http://USER:PASSWORD@HOST:PORT. "
                + "Without it HTTPS_PROXY and NO_PROXY of the environment count, but not for --starttls.",
            valueName: "host:port"),
        transform: { text in CheckedArgument { try ProxyServer(text) } })
    var proxyArgument: CheckedArgument<ProxyServer>?

    @Option(
        name: .customLong("client-cert"),
        help: ArgumentHelp(
            "Present this certificate (PEM, issuers after it) to a server that asks for one.", valueName: "file"),
        completion: .file(extensions: ["pem", "crt", "cer"]))
    var clientCertificate: String?

    @Option(
        name: .customLong("client-key"),
        help: ArgumentHelp(
            "The private key of --client-cert (PEM), if it is not in the same file.", valueName: "file"),
        completion: .file(extensions: ["pem", "key"]))
    var clientKey: String?

    @Option(help: ArgumentHelp("Give up after this many seconds.", valueName: "seconds"))
    var timeout = 10

    var connectTo: DialledHost? { connectToArgument?.value }

    var proxy: ProxyServer? { proxyArgument?.value }

    /// Who passes on connections to hosts. Proxies of an environment pass on what they know, and STARTTLS they do not.
    func proxiesOfHosts() throws(CommandFailure) -> ProxySettings {
        if startTLS != nil { ProxySettings(always: proxy) } else { try proxiesOfDownloads() }
    }

    /// Who passes on downloads: what the environment says, where no option says it.
    func proxiesOfDownloads() throws(CommandFailure) -> ProxySettings {
        if let proxy { ProxySettings(always: proxy) } else { try .ofEnvironment() }
    }

    func validate() throws {
        try connectToArgument?.validate("--connect-to")
        try proxyArgument?.validate("--proxy")
        guard (1...3_600).contains(timeout) else {
            throw ValidationError("The timeout must be between 1 and 3600 seconds, not \(timeout).")
        }
        guard clientKey == nil || clientCertificate != nil else {
            throw ValidationError("--client-key goes with --client-cert.")
        }
    }

    /// Whether nothing but the defaults is there.
    var isEmpty: Bool { ca == nil && !concernsConnections }

    /// Whether any option but that of the anchors is there.
    var concernsConnections: Bool {
        !(connectTo == nil && timeout == 10 && clientCertificate == nil && clientKey == nil
            && startTLS == nil && proxy == nil)
    }

    /// The host with the port to dial.
    func dialled(_ host: DialledHost) throws -> DialledHost {
        try ServerAddress.host(host, defaultPort: startTLS?.defaultPort ?? ServerAddress.defaultPort)
    }

    /// What the client presents, if it is asked.
    func clientIdentity() throws(CommandFailure) -> ClientIdentity? {
        guard let clientCertificate else { return nil }
        return try ClientIdentity(certificateFile: clientCertificate, keyFile: clientKey ?? clientCertificate)
    }

    /// What is trusted to begin with.
    func anchors() async throws(CommandFailure) -> TrustAnchors { try await Self.anchors(ca: ca) }

    /// - Parameter ca: a file with what is trusted; nil for the system's.
    static func anchors(ca: String?) async throws(CommandFailure) -> TrustAnchors {
        guard let ca else {
            do throws(TrustAnchorError) {
                return try await TrustAnchors.system()
            } catch {
                throw CommandFailure(.noAnchors, "\(error)")
            }
        }
        return TrustAnchors(try InputFile.certificates(of: ca))
    }
}
