import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastProbe
import HoldfastPublishing

/// The connection to a server and the trusted authorities, for every verb that connects.
struct ConnectionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Trust the certificates in this file (PEM or DER) instead of the system's.", valueName: "file"),
        completion: .file(extensions: ["pem", "crt", "cer", "der"]))
    var ca: String?

    @Option(
        name: .customLong("connect-to"),
        help: ArgumentHelp(
            "Connect to this host or address, with a port if it differs; evaluate the server as HOST.",
            valueName: "address"),
        transform: { text in CheckedArgument { try ServerAddress.hostWithOptionalPort(text) } })
    var connectToArgument: CheckedArgument<DialedHost>?

    @Option(
        name: .customLong("address"),
        help: ArgumentHelp(
            "Ask only this address of HOST instead of all that the name has. Repeatable.", valueName: "address"),
        transform: { text in CheckedArgument { try IPAddress(text) } })
    var addressArguments: [CheckedArgument<IPAddress>] = []

    @Flag(name: .customShort("4"), help: "Ask only IPv4 addresses.")
    var onlyIPv4 = false

    @Flag(name: .customShort("6"), help: "Ask only IPv6 addresses.")
    var onlyIPv6 = false

    @Flag(
        name: .customLong("one-key-kind"),
        help: ArgumentHelp(
            "Do not ask for a key of another kind: the servers have only one. For servers that close such a connection "
                + "without an alert."))
    var hasOneKeyKind = false

    @Option(
        name: .customLong("proxy"),
        help: ArgumentHelp(
            "Connect through this HTTP proxy (CONNECT); evaluate the server as HOST. Also http://USER:PASSWORD@HOST:PORT. "
                + "Without it, HTTPS_PROXY and NO_PROXY of the environment are used.",
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

    @Option(
        name: .customLong("timeout"), help: ArgumentHelp("Give up after this time.", valueName: "span"),
        transform: TimeSpan.read)
    var timeoutArgument = TimeSpan(seconds: 10)

    /// The timeout in seconds.
    var timeout: Int { Int(timeoutArgument.seconds) }

    var connectTo: DialedHost? { connectToArgument?.value }

    var proxy: ProxyServer? { proxyArgument?.value }

    private var addresses: [IPAddress] { addressArguments.compactMap(\.value) }

    /// The proxies for connections: the one that an option names, or else those of the environment.
    func proxies() throws(CommandFailure) -> ProxySettings {
        if let proxy { ProxySettings(always: proxy) } else { try Self.proxiesOfEnvironment() }
    }

    /// The proxies that the environment of the command names.
    static func proxiesOfEnvironment() throws(CommandFailure) -> ProxySettings {
        do throws(ProbeConfigurationError) {
            return try ProxySettings(environment: ProcessInfo.processInfo.environment)
        } catch {
            throw CommandFailure(
                .wrongUsage, "HTTPS_PROXY of the environment: expected \(error.expected), found \(error.found)")
        }
    }

    func validate() throws {
        for address in addressArguments { try address.validate("--address") }
        guard addressArguments.isEmpty || connectToArgument == nil else {
            throw ValidationError("Give --address or --connect-to, not both.")
        }
        guard !(onlyIPv4 && onlyIPv6), addressArguments.isEmpty || !(onlyIPv4 || onlyIPv6) else {
            throw ValidationError("Give one of -4, -6 and --address.")
        }
        try connectToArgument?.validate("--connect-to")
        try proxyArgument?.validate("--proxy")
        try timeoutArgument.validate("--timeout", TimeSpan.timeouts)
        guard clientKey == nil || clientCertificate != nil else {
            throw ValidationError("--client-key goes with --client-cert.")
        }
    }

    /// Whether all options have their defaults.
    var isEmpty: Bool { ca == nil && !concernsConnections }

    /// Whether any option other than --ca was given.
    var concernsConnections: Bool {
        !(connectTo == nil && addresses.isEmpty && !onlyIPv4 && !onlyIPv6 && !hasOneKeyKind && timeout == 10
            && clientCertificate == nil && clientKey == nil && proxy == nil)
    }

    /// The host with the port to dial.
    func dialed(_ host: DialedHost) throws -> DialedHost {
        try ServerAddress.host(host)
    }

    /// The maximum time for probing a host with all its addresses and kinds of keys, in multiples of --timeout.
    private static let timeoutsOfHost = 6

    /// A probe with these options. It reads the files that they name.
    /// - Parameter checking: how chains are validated; nil to use only the anchors of the options.
    func probe(_ checking: ChainChecking? = nil) async throws(CommandFailure) -> HostProbe {
        var probe =
            if let checking {
                HostProbe(validator: checking.validator)
            } else {
                HostProbe(trusting: try await anchors())
            }
        let limit = Duration.seconds(timeout)
        probe.deadlines = ProbeDeadlines(
            resolving: limit, connecting: limit, handshake: limit, whole: limit * Self.timeoutsOfHost)
        probe.connectTo = connectTo
        probe.addresses = addresses
        if onlyIPv4 { probe.families = [.ipv4] }
        if onlyIPv6 { probe.families = [.ipv6] }
        probe.asksForOtherKeys = !hasOneKeyKind
        probe.proxies = try proxies()
        if let clientCertificate {
            probe.clientCertificate = try ClientCertificateFiles.read(
                certificateFile: clientCertificate, keyFile: clientKey ?? clientCertificate)
            let own = try InputFile.chain(of: clientCertificate).octets.first
            if let warning = own.flatMap({ ClientUse(der: Array($0)) })?.warning {
                Output.standard.remark("warning: \(clientCertificate): \(warning)")
            }
        }
        return probe
    }

    /// The trusted authorities.
    func anchors() async throws(CommandFailure) -> TrustAnchors { try await Self.anchors(ca: ca) }

    /// - Parameter ca: a file with the trusted certificates; nil for the system's.
    static func anchors(ca: String?) async throws(CommandFailure) -> TrustAnchors {
        guard let ca else {
            do throws(TrustAnchorError) {
                return try await TrustAnchors.system()
            } catch {
                throw CommandFailure(.noAnchors, "\(error)")
            }
        }
        return try InputFile.chain(of: ca).anchors
    }
}
