public import Foundation
public import Holdfast
public import HoldfastProbe

/// Whom the server tells about what people should know: at most one webhook and one program.
public struct NoticeSettings: Sendable {
    /// Whom to tell, in the order of their names.
    let targets: [any NoticeTarget]

    /// Nobody is told.
    public static let nobody = NoticeSettings(targets: [])

    init(targets: [any NoticeTarget]) { self.targets = targets }

    /// The names of whom is told: `program`, `webhook`.
    public var names: [String] { targets.map(\.name) }

    /// Reads what was set.
    /// - Parameters:
    ///   - webhook: the address of the webhook; nil for none.
    ///   - secret: the file with its secret, of mode 0600.
    ///   - anchors: a file with the authorities of its certificate, PEM; nil for those of the system.
    ///   - allowed: the blocks of addresses that may be asked although they are not of the public Internet.
    ///   - program: the program; nil for none.
    ///   - clock: the time of each request.
    /// - Throws: ``ServerError`` `invalidValue`, `secretFile` or `file`; it never has the address or the secret.
    public init(
        webhook: String?, secret: URL?, anchors: URL?, allowing allowed: [AddressBlock], program: String?,
        clock: any WallClock = SystemWallClock()
    ) async throws(ServerError) {
        var targets: [any NoticeTarget] = []
        if let program { targets.append(NoticeProgram(program: try Self.executable(program))) }
        if let webhook {
            guard let secret else { throw Self.missing("webhook-secret", beside: "webhook") }
            let client = WebhookClient(
                validator: PathValidator(anchors: try await Self.anchors(anchors)),
                filter: AddressFilter(allowing: allowed), clock: clock)
            targets.append(
                Webhook(
                    address: try WebhookAddress(webhook),
                    secret: try WebhookSecret(SecretFile(secret).bytes()), client: client, clock: clock))
        } else if secret != nil || anchors != nil {
            throw Self.missing("webhook", beside: secret == nil ? "webhook-ca" : "webhook-secret")
        }
        self.targets = targets
    }

    private static func missing(_ name: String, beside other: String) -> ServerError {
        ServerError(
            .invalidValue, of: name, expected: "a value, as \(other) is given", found: "none",
            remedy: "Give both \(name) and \(other), or neither.")
    }

    /// Nothing is looked up on the search path, and nobody else may replace it: whoever could would run as the server.
    private static func executable(_ path: String) throws(ServerError) -> ProgramCommand {
        let program = try? ProgramCommand([path], limit: NoticeProgram.limit)
        guard let program, program.doubt == nil else {
            throw ServerError(
                .invalidValue, of: "on-event",
                expected: "the whole path of a program that this user can run, and others cannot replace",
                found: program?.doubt ?? "something else")
        }
        return program
    }

    private static func anchors(_ file: URL?) async throws(ServerError) -> TrustAnchors {
        do {
            guard let file else { return try await TrustAnchors.system() }
            return try TrustAnchors(der: try PEMFile.certificates(at: file))
        } catch let error as ServerError {
            throw error
        } catch {
            throw ServerError(
                .file, of: file?.path ?? "the anchors of the system", expected: "certificates of authorities in PEM",
                found: "none that can be read",
                remedy: file == nil
                    ? "Install the package ca-certificates, or give --webhook-ca."
                    : "Give a file with the certificates of the authorities that signed the webhook's certificate.")
        }
    }
}
